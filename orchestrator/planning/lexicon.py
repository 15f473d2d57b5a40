"""The words of each field, as requests are worded: with their weights, by agent.

Words that name a tool or a source outright weigh most, phrases that only one field uses less, words that fields share
least. A line is one notion with all the ways to say it, and counts once; a deeper line goes on with the one before.
Both spellings of English are in it. ``vocabulary`` reads it: a space is any space, ``~`` a space, a hyphen or neither,
``<NAME>`` one of its shared parts, and bars between spaces part the ways to say it.
"""

from __future__ import annotations

#: weights: a tool or source by its name, a phrase of one field, a topic that fields share, a hint
TOOL, PHRASE, TOPIC, HINT = 4.0, 2.0, 1.0, 0.5

CHEMISTRY = (
    (
        TOOL,
        r"""
        selfies | inchi(?:~keys?)? | rdkit | pubchem | tanimoto | ecfp\d* | morgan fingerprints? | maccs | smarts
            | pains | brenk | lipinski\S* | rule~of~five | qed | tpsa | polar surface areas? | line notation
            | cas(?: registry)? (?:numbers?|nos?\.?|rn|entr(?:y|ies)|registry) | cas(?:rn)?(?= (?:of|for)\b)
        (?:molecular|molar|formula|exact|accurate|average|mono~isotopic|nominal) (?:weights?|mass(?:es)?)
            | gram(?:me)?s per mole? | how heavy | isotop(?:e|ic) (?:patterns?|distributions?)
    """,
    ),
    (
        PHRASE,
        r"""
        (?:molecular|sum|chemical|empirical|structural|hill|gross) formula[se]? | formulae | elemental formula
            | formula(?! units?)
        mw | mol\.? ?wt\.? | mol weights? | weigh(?:t|s)?(?! (?:fractions?|per ?cent|loss|averaged?))
        (?:correct|proper|right|wrong|bad|good|broken|normali[sz]e|check|fix|repair|clean)\b[^.?!]{0,20} smiles
        elemental (?:analysis|composition) | chn analysis | per ?cent(?:age)?(?: by (?:mass|weight))?(?: of)? carbon
        (?:is|are) (?:it |this |that |these )?(?:in)?valid | validity | legal | well~formed | mal~formed | syntax\w*
            | syntactic\w* | ring closures? | (?:un)?closed rings? | chokes? on | pars(?:e|er|es|ing)\b(?: \w+)?
            | can(?:no|')t parse | valid(?:ity|ate)?(?: \w+){0,2} (?:smiles|structure|molecule|string)
            | (?:smiles|string)\b.{0,30}\b(?:valid|correct|wrong|ok|okay|broken|typo)
            | where\b[^.?!]{0,20} (?:mistake|typo)
            | (?:wrong|mistake|error|typo)s? (?:with|in) (?:this|that|my|the|our) (?:smiles|string|structure)
        functional groups?
            | (?:primary|secondary|tertiary|quaternary) (?:amines?|alcohols?|carbons?|nitrogens?|ammonium)
            | contains? an? (?:\w+ ){0,2}(?:amine|alcohol|ester|ether|amide|acid|aldehyde|ketone|group|ring)
            | functionalit(?:y|ies) | sub~structures? | scaffolds? | pharmacophores? | registry numbers?
        similarit(?:y|ies) | similar | alike | resembl\w+ | fingerprints?
        canonical(?:ly|i[sz]\w*)? | isomeric(?: smiles)? | (?:stereo|chiral) ?cent(?:re|er)s? | stereo\w* | chiral\w*
            | enantiomers? | diastereo\w+ | [LDRS]-? or [LDRS]\b
        (?:primary|secondary|tertiary) or \w+ | one (?:and the same )?(?:compound|molecule|substance|or two molecules)
            | (?:correctly|properly|rightly) written | written (?:correctly|properly|right)
            | charge and (?:spin|multiplicity) | names (?:of|for)\b
        (?:same|identical|different|equivalent) (?:compound|molecule|structure|substance|thing|species|cation)s?
            | (?:is|are)\b[^.?!:;]{0,50}\bthe same(?=\s*[:?]|$) | duplicates? among | de-?duplicate
        iupac | (?:systematic|trivial|common|chemical|proper) names? | synonyms? | nomenclature
            | name the (?:compound|molecule|cation) | what(?: is| are|'s)\b[^.?!]{0,40}\bcalled
            | registry entr(?:y|ies)
        (?:is|are)\b[^.?!]{0,60}\bbalanced | balanced? (?:the |this )?(?:reaction|equation) | stoichiometr\w+
            | balance(?:d)? | atom mapping | conserves? (?:atoms|mass|charge)
        log~p | lipophilic\w* | hydrophobicity | partition coefficients? | synthetic accessibility | sa scores?
            | drug~lik\w+ | descriptors? | rotatable bonds? | (?:h|hydrogen)~bond (?:donors?|acceptors?)
            | structural alerts? | (?:easy|hard|difficult) to (?:make|synthesi[sz]e) | fsp3
        m/z | esi~ms? | maldi | mass~spec\w* | how many (?:m?mol|moles?) | smiles (?:of|for|strings?|code|notation)
            | (?:its|their|the) (?:canonical )?smiles | cas \d+-\d\d-\d | spell out
            | (?:into|to|as|in) (?:an? )?(?:canonical |valid )?smiles
        2~d\b(?! (?:nmr|map|materials?|lattice)) | 2~d (?:image|picture|depiction|structure|drawing|diagram)s?
            | skeletal \w+ | structur(?:e|al) (?:drawing|diagram|picture|image|formula)s? | line drawings?
            | lewis structures? | sketch\w* | png | svg
        <SHOW> (?:me )?(?:the |a |this |its )?(?:molecules?|compounds?|structures?|structural formulae?)
        3~d (?:structures?|coordinates|models?|conformers?|geometr(?:y|ies)) | xyz(?: (?:files?|coordinates|of|for))?
            | (?:starting|initial|force~field) (?:structures?|geometr\w+) | sdf | mol~files?
        (?:how|hw) many \w* ?<ATOM>(?![-\s]bond) | (?:number of|count)(?: the)? \w* ?<ATOM> | <ATOM> counts?
            | heavy atoms? | (?:how|hw) many [CHNOPSF]\b | on paper | ring counts?
        formal charges? | (?:net|total|overall) charges? | degrees? of unsaturation | multiplicit(?:y|ies)
            | spin states? | oxidation (?:states?|numbers?)
    """,
    ),
    (
        TOPIC,
        r"""
        smiles | charge | mass(?:es)? | isomers? | names? | named
        identify | identity | quaternary | tertiary | validate | protonated forms? | convert | mistake
            | molecular graph
    """,
    ),
    (
        HINT,
        r"""
        draw | depict
    """,
    ),
)

HEM = (
    (
        TOOL,
        r"""
        pso | particle~swarms? | swarms? | num_part | inverse design | pareto\w*
        (?:optimi[sz]e|design|evolve|invent)\w* (?:a |the |new |better |some )*hems?
        hem (?:design|search|optimi[sz]ation|run)
            | (?:cation|head~group|side~(?:group|chain)) (?:design|search|optimi[sz]ation)s?
            | design (?:search|run|campaign|job)s?
        optimi[sz]e (?:[\w-]+ ){0,2}(?:cations?|head~groups?|side~chains?)\b[^.;]{0,40}\b(?:membranes?|backbones?
            |exchange|\w+_bb_\w+)
        <ION> (?:with|having|of|for|that (?:have|has|gives?|shows?)) (?:\w+ ){0,2}<GOOD>
    """,
    ),
    (
        PHRASE,
        r"""
        tetraalkylammonium | substituents?
        (?:\w+ium|ammonium) (?:search|design)
            | (?:stop|continue|cancel|resume|restart|abort) (?:the|my|our) (?:\w+ )?search
            | (?:best|top) (?:\w+ )?candidates? | \d+ (?:best|top) candidates?
        <DEVISE>\b[^.;?!]{0,60}?<ION>
        (?:new|novel|better|alternative|improved|other) (?:\w+ ){0,2}<ION> | new members?
            | (?:best|ideal|optimal|promising|suitable|strongest) (?:\w+ ){0,2}(?:cations?|head~groups?|\w+iums?)
            | (?:something|anything) (?:better|more (?:stable|robust|conductive)|else)
            | (?:which|what)(?: \w+){0,2} <ION> (?:they |we |I |one )?(?:should|shall|would|could|can|might
            |to) (?:\w+ ){0,4}(?:use|tether|graft|attach|put|suit|hang|choose|try)
        candidates? | winners? of the (?:\w+ )?(?:design|search) | top (?:three|four|five|ten|\d+)
        backbones? | polymer chains? (?:on offer|available)
        (?:cation|ammonium|head~group) (?:famil(?:y|ies)|types?|class(?:es)?|cores?)
            | famil(?:y|ies) of (?:cations?|head~groups?) | head~groups?
        (?:the|your|that) optimi[sz]er | objectives? | multi~objective
        (?:maximi[sz]|minimi[sz]|improv|increas|rais)(?:e|es|ing)\b[^.;?!]{0,30}(?:conductivity|swelling|uptake
            |stability|iec)
        esr | ewu | iec | (?:logs?|status|progress)\b[^.?!]{0,30}\b(?:design|search|optimi[sz]ation)
            | (?:finished|running) (?:design|search)
            | (?:score|rank) (?:them|what|the (?:cations|candidates)|\w+iums?)
    """,
    ),
    (
        TOPIC,
        r"""
        \w{2,4}_bb(?:_\w+)?
        imidazolium | piperidinium | pyrrolidinium | morpholinium | spiro~(?:ammonium|cyclic|cations?)
        design(?:s|ed|ing)? | tether(?:ed)? | graft(?:ed)?
        membranes?(?! modell?ing) | ionomers? | aems? | hems? | (?:anion|hydroxide)~exchange
            | poly(?:benzofuran|fluorene|phenylene)s?
        generations? | particles | iterations?
    """,
    ),
)

QM = (
    (
        TOOL,
        r"""
        (?:orca|x-?tb|dft|pyscf|nwchem|psi4|gaussian(?= ?(?:09|16))|turbomole|molpro)(?! (?:jobs?|runs?|outputs?
            |calculations? (?:of|from|is|has)|orbitals|charges)) | gfn-?[0-2]\S* | density~functional(?: theory)?
            | td-?dft | ab initio | first~principles | semi-?empirical(?:ly)? | hartree~fock | coupled~cluster
            | dlpno\S*
        quantum (?:chemi\w+|mechanic\w*) | quantum~chemi\w+
        <ORBITAL> <ENERGY> | (?:homo|lumo)(?:\s*(?:and|,|/|&|-|–)\s*(?:homo|lumo))? <ENERGY> | frontier <ENERGY>
            | energ(?:y|ies) of (?:the |its |their )?(?:homos?|lumos?|(?:frontier |molecular )?orbitals?)
    """,
    ),
    (
        PHRASE,
        r"""
        homos? | lumos? | highest occupied\S* | lowest unoccupied\S* | frontier orbitals? | orbital energ(?:y|ies)
        (?:(?:band|homo[-–/ ]?lumo|orbital|energy|optical|fundamental) )?gaps?(?! (?:remain|(?:in|of) (?:what
            |(?:the |our |my )?(?:lit|know|published|current|research|understanding|data|studies|field|work))))
        single~points? | sp (?:energy|at|with|@) | scf | electronic (?:structures?|energ\w+|properties) | zpv?es?
            | zero~point
        (?:re)?optimi[sz](?!er)\w*(?! (?:[\w-]+ ){0,5}(?:membranes?|polymers?|hems?|aems?|conditions|process\w*
            |stacks?|cells?|conductivit\w+|yields?|schedules?|potency)) | opt(?! (?:for|in|out))
            | relax(?:ed|ation|ing)? | geometr(?:y|ies) | equilibrium structures? | bond (?:lengths?|angles?)
            | dihedrals? | minim(?:um|a)(?: energy structure)?(?= at\b| on\b| structure|\?) | true minim(?:um|a)
        frequenc(?:y|ies) | freqs? | vibration\w* | (?:normal|negative|soft|vibrational|imaginary) modes?
            | imaginary \w+ | hessian | ir (?:spectr\w+|bands?) | infrared | raman | wavenumbers? | stretch(?:es)?
            | saddle points? | stationary points?
        (?:gibbs|free) energ\w+ | gibbs | enthalp\w+ | entrop\w+ | thermochem\w* | thermal corrections?
            | heats? of \w+ | heat capacit(?:y|ies)
        transition~states? | ts search | barriers? | activation energ\w+ | reaction (?:energ\w+|paths?) | irc | neb
            | energy profiles? | rotati(?:ng|on) (?:about|around) | exothermic | endothermic | exergonic | endergonic
            | uphill | downhill
        (?:binding|interaction|dissociation|adsorption|complexation|solvation|hydration|ioni[sz]ation|excitation
            |conformer|conformational|protonation|reorgani[sz]ation) (?:free )?(?:energ\w+|enthalp\w+) | counterpoise
            | bsse | (?:free )?energ(?:y|ies) of (?:solvation|hydration|binding)
        bind(?:s|ing)? | how (?:strong(?:ly)?|tightly) | strength of | [dδ][ehg](?=\b) | prefers? to (?:hold|bind)
            | stick(?:s)? to | hold(?:s)? on to
        proton affinit\w+ | pkas? | basicity | acidity | how (?:acidic|basic) | strong(?:er|est)? (?:acid|base)
            | deprotonat\w+ | (?:pull|take|remove|abstract|strip)\w* (?:an?|the) proton
        nmr | chemical shifts? | 1[0-9]?[CHFNP] shifts? | shieldings? | coupling constants?
        ioni[sz]ation (?:potentials?|energ\w+) | electron affinit\w+ | polari[sz]abilit\w+ | redox potentials?
            | (?:oxidation|reduction|electrode) potentials? | electronegativit\w+ | hardness | electrophilicit\w+
            | (?:picks? up|accepts?|loses?|gains?|takes? up) an? (?:\w+ )?(?:electron|proton) | easily reduced
        dipoles?(?: moments?)? | quadrupoles? | how polar | debye
        excit(?:ed|ation) ?\w* | absor(?:b|bs|ption) | wavelengths? | uv[-/ ]?vis\w* | fluorescence | colou?r of
            | oscillator strengths? | singlet[-– ]triplet | (?:spin |triplet )?splittings? | phosphorescence
        energetic(?:ally|s) | (?:easy|easily|hard|difficult) (?:is|to) (?:\w+ ){0,3}(?:reduced?|oxidi[sz]ed?)
        (?:lower|higher|lowest|highest) in energy
            | (?:relative|total|ground~state|molecular|absolute|potential|self-consistent) energ\w+
            | energy differences? | difference in energy | isomeri[sz]ation energ\w+ | how much energy
        tautomers? | rotational (?:barriers?|profiles?) | torsion\w* | strain energ\w+ | rotamers? | which conformers?
            | (?:global|local) minim(?:um|a) | what energy | bond (?:dissociation|strengths?|energ\w+)
        energ(?:y|ies) (?:of|for|at|and) | (?:mulliken|partial|atomic|atom) charges? | charges? on
            | charge distribution
    """,
    ),
    (
        TOPIC,
        r"""
        energ(?:y|ies) | kcal(?:/mol)? | kj/mol | hartrees? | ev | millihartree
        charges | mulliken(?: charges?)? | loewdin
        conformers? | functionals? | basis sets? | implicit | vertical | adiabatic | gas phase | chair | boat
        (?:orca|x-?tb|dft) (?:jobs?|runs?|calculations?|charges) | electronic\w*
    """,
    ),
)

MD = (
    (
        TOOL,
        r"""
        gromacs | gmx | lammps | openmm | namd | charmm\w* | acpype | packmol | ambertools | md | molecular~dynamics
            | \S*\.(?:gro|xtc|trr|tpr|mdp|top|edr|itp|cpt|dcd) | spc/?e | tip[345]p\S* | lincs | mdrun | opls\S*
            | gaff2? | npt | nvt | nve | trajector(?:y|ies) | nernst~einstein | md simulations? | v-rescale
            | nos[eé]~hoover | parrinello~rahman
    """,
    ),
    (
        PHRASE,
        r"""
        diffus(?:e|es|ing) | (?:self~)?diffus(?:ion|ivit\w+)(?: (?:coefficients?|constants?))? | msds?
            | mean~square(?:d)?(?: displacements?)?
            | how (?:fast|far|quickly) (?:do(?:es)? )?(?:\w+ ){1,3}(?:move|travel|diffuse|migrate|get|drift)s?
            | (?:wander|wobble|float|jiggle|drift)s?
        simulate(?= \w)
            | (?:run|do|perform|start|set up|by|from|with) (?:a |an |the |\w+ ){0,2}simulations?(?! (?:programm?e?s?
            |package|software)) | simulations? (?:of|at|with|box) | box \w+
        (?:moves?|diffuses?|travels?|migrates?) (?:\w+ )?(?:faster|slower|quick\w*)
            | exchange (?:around|rates?|times?)
        rdfs? | g\(r\) | rms[df]s? | radial distribut\w+ | pair (?:correlation|distribution) functions?
            | coordination (?:numbers?|shells?) | (?:solvation|hydration|first) shells? | hydration numbers?
            | residence times? | how long (?:do|does|will) (?:\w+ ){1,3}(?:stay|remain)s?
        hydrogen~bond(?:s|ing)? (?:lifetimes?|dynamics|networks?) | hydrogen~bonds | viscosit\w+ | how viscous
            | surface tension
        (?:ionic |ion )?conductivit(?:y|ies) | water uptake | swell(?:s|ing)? | glass transition | free volume
            | (?:ion(?:ic)?|hydroxide|oh-?|proton|water) transport | transport of | hop(?:s|ping)?
            | structure factors? | molten | melts?(?! in) | water (?:channels?|clusters?)
        (?:molecular|atomistic|classical(?:ly)?|force~field|all~atom) (?:simulat\w+|dynamics|box\w*|models?|runs?)
            | classically | force~fields? | coarse~grained | atomistic | all~atom
        (?:re)?equilibrat\w+ | production (?:runs?|phase) | of production | thermostats? | barostats? | anneal\w*
            | (?:heat|cool) (?:it|the \w+) to | radius of gyration | end~to~end distance
        (?:simulation|hydrated|water|periodic|same|solvated|cubic) box(?:es)? | box(?:es)? of | (?:in|into) a box
            | the box | ion pairs in water | solvate | (?:build|pack) (?:and \w+ )?\d+
        \d+(?:\.\d+)?~(?:ns|ps|fs|[µu]s|nanoseconds?|picoseconds?) | nanoseconds? | picoseconds? | dynamics
            | mobilit(?:y|ies)
        lambdas?\s*(?:=|of)?\s*\d+ | λ\s*=?\s*\d* | \d+ (?:spc/?e )?waters? | chains?,? dp ?\d* | dp \d+ | \d+ chains
            | repeat units | waters? per (?:cation|ion)
    """,
    ),
    (
        TOPIC,
        r"""
        simulat(?:e|es|ed|ion|ions|ing)
        densit(?:y|ies) | polymer (?:film|chains?|matrix) | heat to | slow(?:s|ed)? down | transport | viscous
        temperature (?:sweep|dependence)s? | arrhenius | ionic liquids? | pairs | time~steps? | ensemble | \d+ bar
    """,
    ),
)

MULTIWFN = (
    (
        TOOL,
        r"""
        multiwfn | \S*\.(?:wfn|wfx|fchk|molden|gbw|47|cub|cube) | cub(?:e|es)(?: files?)? | wfn | fchk | molden | gbw
        hirshfeld\S* | cm5 | adch | resp(?!\.) | chelpg | mbis | esp(?!\.) | elf | nci | rdg
            | reduced density gradient | q?taim | aim (?:analysis|charges?|basins?) | (?:by|with|using|via) aim | nbo
            | nao | npa | mayer | wiberg | fukui | nics | lol (?:maps?|plots?|isosurfaces?)
            | locali[sz]ed orbital locator | adndp | pdos | igmh? | eda | becke | homa | l(?:ö|oe|o)wdin
            | dual descriptor
        wave~functions? | electrostatic potentials? | natural (?:bond orbitals?|population|charges?)
            | electron locali[sz]ation\s*\w* | atoms in molecules
        (?:<SHOW>|look at|see) (?:me )?(?:of )?(?:(?:the|its|their|all|both|each) )*<ORBITAL>(?:\s*(?:,|and|&
            |/)\s*(?:the )?<ORBITAL>)*(?!\s*(?:[-–/]|and|,)?\s*\w*\s*<ENERGY>)
        <PICTURE> (?:of|for|from|with) (?:(?:the|its|their|all|both|each|his|frontier) )*<ORBITAL>(?! <ENERGY>)
            | <ORBITAL> <PICTURE> | what\b[^.?]*orbitals? look | (?:shape|form|look)s? of (?:the |its )?<ORBITAL>
            | what\b[^.?!]*\b(?:homo|lumo|orbital|density)s?\b[^.?!]* looks? like
        (?:where|(?:which|what) (?:atoms?|groups?|part|fragments?))\b[^.;?!]*(?:<ORBITAL>|charge|density)\b
            | <ORBITAL>\b[^.;?!]{0,30}(?:locali[sz]ed|located|distributed|delocali[sz]ed|sits?|spread|concentrated
            |lives?) | distribution of the <ORBITAL>
            | (?:per ?cent|percentage|%|share|fraction|how much) of (?:the |its )?<ORBITAL>
            | (?:percentage|share|fraction)\b[^.?!]{0,20} in (?:the |its )?<ORBITAL>
        <ORBITAL> (?:de)?(?:compositions?|contributions?) | (?:de)?compositions? of (?:the )?<ORBITAL>
            | contributions? (?:\w+ )*to (?:the )?<ORBITAL> | non~covalent interactions?
    """,
    ),
    (
        PHRASE,
        r"""
        electron(?:ic)? densit(?:y|ies) | spin densit(?:y|ies) | density (?:topology|differences?) | laplacian
            | densities of states | density of states | dos plots?
        isosurfaces? | isovalues? | iso~values? | contour (?:maps?|plots?)
        (?:population|orbital|topolog\w+|bonding|wave~function|charge) analys[ie]s | bond (?:orders?|critical points?)
            | critical points? | hole and electron | (?:render|visuali[sz]e) (?:it|them|these|those|both)
            | (?:colou?r|map|paint|show)\b[^.?!]{0,40} surface
            | (?:potential|density|charge) (?:on|at|over) (?:the |its )?(?:surface|vdw|van der waals)
            | energy decompositions?
            | (?:split|decompose|partition|break down|divide|separate)\b[^.;?!]{0,50} (?:into|by)\b
            | exchange,? (?:and |repulsion|induction|dispersion)\w* | aromatic(?:ity)? | charge transfer
            | delocali[sz]ation | (?:pi|π)~stacking | how (?:covalent|ionic) | per fragment | bond paths?
        hot~spots? | attack(?:ed)? first | nucleophilic (?:sites?|attack) | electrophilic sites? | reactive sites?
            | (?:which|what) (?:sites?|atoms?|positions?)\b[^.?!]*\b(?:attack\w*|go(?:es)? for|reacts?) | broaden\w*
    """,
    ),
    (
        TOPIC,
        r"""
        (?:from|in|of|on|for|out of) (?:the |my |our )?<DONE> (?:\w+ )?<JOB>
            | (?:I|we) (?:just )?(?:ran|computed|calculated|optimi[sz]ed)
            | (?:from|in|of|on|out of) (?:job|run) \w*\d\w* | yesterday | my completed
        charges | stacked | lone pairs? | analy[sz]e (?:the )?orbitals? | atom by atom
        orbitals? | render\w*
    """,
    ),
    (
        HINT,
        r"""
        <PICTURE>
    """,
    ),
)

RAG = (
    (
        TOOL,
        r"""
        literature | lit\.? (?:search|review) | bibliograph\w* | cit(?:e|es|ed|ing|ations?) | dois? | prior art | rag
            | bibtex | zotero | endnote | mendeley
        <OURS> (?:own |uploaded |indexed |collected |internal |document )*<DOCUMENT>
        (?:index|ingest|upload|import|add)\w*\b[^.;?!]{0,40}<DOCUMENT>
            | <DOCUMENT> (?:that |which )?(?:we|I) (?:have|hold|own|collected|indexed|uploaded|keep)
        (?:has|have|had|been|was|were|is|as|what) (?:been |ever )?(?:published|reported|described|documented)
            | (?:is|are|was|were) (?:\w+ )?(?:discussed|proposed|suggested|debated|recommended|mentioned)
            | (?:do|does|did)\b[^.?!]{0,40} (?:explain|argue|conclude|recommend|claim|describe|discuss)
            | (?:has|have)\b[^.?!]{0,40} ever (?:been )?\w+
        (?:has|have|had|was|were)\b(?! (?:I|we|you|it|the (?:swarm|search|run
            |job))\b)[^.;?!]{0,60}?\b(?:been |ever |already )?(?:measured|computed|calculated|simulated|compared
            |studied|investigated|tested|determined|proposed|shown
            |published)(?: before| so far| already| previously)?(?=[^.;!]*\?|\W*$| before\b| by whom\b)
            | what \w+(?: \w+)? (?:did|do) (?:the )?(?:group|team|authors?|people|others) | where did \w+ publish
            | (?:has|have|did) (?:any|some)(?:one|body)\b[^.;?!]{0,40}? (?:measure|report|publish|tri|studi|describ
            |determin|test|investigat|us|synthesi[sz]|observ|prov|show|compar|look)e?[dn]?
            | in the (?:published )?(?:studies|papers|literature)
            | (?:published|reported|measured|experimental) (?:values?|data|numbers|results|conductivit\w+
            |half-li(?:fe|ves)|stabilit\w+|work)
            | (?:published|reported) (?:[\w-]+ ){0,3}(?:studies|work|papers|simulations?|calculations?|values?|data
            |results?)
            | (?:studies|papers?|authors?|articles?|groups?|reviews?|literature) (?:find|say|report|give|show|suggest
            |conclude|agree|use)s? | (?:earlier|previous|prior|published) (?:published )?(?:work|studies|papers)
    """,
    ),
    (
        PHRASE,
        r"""
        who\b[^.?!]{0,10} (?:determined|computed|calculated|measured|made|observed|synthesi[sz]ed)
            | (?:have|do) we (?:got|have) (?:on|about)
        who (?:says|said|claims|claimed|argues|argued|showed|shows) | what (?:do|did|have) others
            | others (?:have )?(?:found|report|reported|measured|say|said|do|did|use|used|computed|calculated)
            | evidence (?:that|for|of|in|against) | any evidence | sources
        papers | publications? | articles? | pdfs? | manuscripts? | documents? | thes[ei]s | journals? | passages?
            | excerpts? | monographs? | abstracts | proceedings | book chapters? | supporting information
        published | (?:did|does|do|who|where|has|have)\b[^.?!]{0,30} publish | report(?:ed) | reviews?
            | ref(?:erence)?s?(?! (?:state|electrode|compound|\w+ed)) | studies | state of the art | authors?
        (?:which|what|whose) (?:authors?|groups?|papers?|studies|articles?|documents?)
            | (?:find|compile|list|give|collect|gather|get|need|want)\b[^.;?!]{0,30}\b(?:bibliograph\w+
            |ref(?:erence)?s|papers|sources)
        what(?: is|'s| do we| does one| are)\b[^.?!]{0,30} (?:known|know)\b | is known
            | (?:state of |current )knowledge | well known | who (?:first|originally|discovered|proposed|showed)
            | according to (?:the )?(?:literature|papers?|authors?|studies|reports?|\w+ et al) | et al
            | background reading | further reading | what (?:have|did|do) (?:people|others|researchers|groups)
            | experimental(?:ly)? (?:\w+ ){0,3}(?:values?|data|results?) | half-li(?:fe|ves) | measured so far
        read up on | page numbers? | number your citations | survey(?:s|ed)? | summari[sz]e the research | consensus
            | contradict\w* | disagree\w* | controvers\w+ | backed up by | experimental evidence
    """,
    ),
    (
        TOPIC,
        r"""
        research | paper | findings | evidence | knowledge | source | known
            | (?:synthesis|preparation|recipe|protocol|procedure)s? (?:of|for) | scholar\w* | citable | page | quote
    """,
    ),
)

WEB = (
    (
        TOOL,
        r"""
        google | bing | tavily | duckduckgo | (?:on|search|from|browse|surf|scan|across|over) the (?:web|internet|net)
            | online | internet | web(?:~(?:pages?|sites?|search\w*|shops?))? | urls? | news | wikipedia | git~hub
            | blogs?(?: posts?)? | videos? | youtube | linkedin | twitter | forums?
        (?:latest|newest|current|which|what) (?:\w+ )?(?:version|release)(?: of)? | home~pages?
            | (?:web|product|project) pages? | (?:where|how)\b[^.?!]{0,25}\bdownload | download (?:page|link)s?
            | price lists? | install(?:ing|ation)? | press releases? | (?:their|the) site | preprints? | arxiv
            | chemrxiv | changelogs? | release notes | data~sheets?
        (?:any(?:thing)?|something|what'?s|what is) (?:new|recent|happening|going on)(?! (?:cations?|head|candidates?
            |\w+ium)) | what'?s new | (?:any|recent|latest) (?:announcements?|developments?|updates?)
    """,
    ),
    (
        PHRASE,
        r"""
        (?:latest|newest|most recent(?:ly)?|up~to~date)(?! (?:\w+ )?(?:<JOB>|checkpoints?|steps?)\b)
        recent(?:ly)?(?! (?:\w+ )?(?:jobs?|runs?|calculations?)\b) | lately
            | (?:this|last|past|next|recent) (?:few |couple of )?(?:weeks?|months?|years?)(?:'s)? | so far this year
            | as of (?:today|now)
        current (?:\w+ )?(?:price|version|release|licen[cs]e|state|status|rules?|regulations?|terms|news|affairs
            |events?)\w* | today's (?!run|job)\w+
        (?:new|newer|next|upcoming|fresh) (?:stable )?(?:releases?|versions?|editions?|updates?)
            | updates? (?:on|about)
        announce(?:d|ments?|s)? | releases? | released | superseded | came? out | coming out | launched
            | links?(?= to\b|\?|\.|$) | (?:is|are) (?:there|it)\b[^.?!]{0,30}\b(?:download|tutorial|licen[cs]e)
        vendors?(?! (?:list|call|say|name|state)s?) | suppliers? | manufacturers?
            | (?:who|which|where)\b[^.?!]{0,40}\b(?:sell(?:s|ing)?|buy|suppl(?:y|ies)|offers|stocks?|makes)
            | who\b[^.?!]{0,40}\boffers? | prices?
            | (?:what|how much) (?:does|do|would|will)\b[^.?!]{0,40}\bcost(?! energ\w+) | costs? (?:of|per)
            | how much (?:is|are) (?:a|an|the|one)\b | licen[cs]e(?:s| terms)? | lead times? | in stock | purchase
            | commercially | for sale | (?:more |less |how )?expensive | cheap(?:er|est)? | free (?:for|of charge)
            | academic licen[cs]es?
        (?:when|where) (?:and where )?(?:is|are|will|does)\b[^.?!]{0,40}\b(?:meeting|conference|workshop|symposium
            |deadline|congress) | conferences?(?: dates?)? | symposi(?:um|a) | trade fairs? | deadlines?
            | summer school
        opening hours | hotline | phone numbers? | (?:e-?mail|postal) address(?:es)? | contact details
            | who (?:leads|heads|runs|directs|owns|founded) | compan(?:y|ies)
        ceo | nobel | prize | regulations? | legislation | directives? | reach(?= (?:regist|restrict|list))|  patents?
            | funding calls? | calls? for proposals | (?:calls?|tenders?) (?:for|close) | vacanc(?:y|ies) | jobs in
            | (?:phd|post~doc|open) (?:positions?|jobs?) | banned | (?:is|are) there (?:a|any) (?:newer|new)
            | (?:has|have|was|is)\b[^.?!]{0,30}\breleased | safety data
    """,
    ),
    (
        TOPIC,
        r"""
        current(?:ly)? | today | right now | nowadays | these days | at the moment
        rules | market | start-?ups | fair | pfas | at present | (?:look|looked) up | meeting | conference | version
            | winner | exhibition
    """,
    ),
)
