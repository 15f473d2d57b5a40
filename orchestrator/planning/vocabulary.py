"""The words by which requests are routed: for each agent its tools, its phrases and its topics, with their weights.

Words that name a tool or a source outright weigh most, phrases that only one field uses less, words that fields share
least. Both spellings of English are in each pattern.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

#: weights: a tool or source by its name, a phrase of one field, a topic that fields share, a hint
TOOL, PHRASE, TOPIC, HINT = 4.0, 2.0, 1.0, 0.5


@dataclass(frozen=True)
class Field:
    """What one agent is for, and the words that point to it.

    Attributes
    ----------
    does
        What it would do with a request, for a question to a person.
    words
        Patterns with their weights; each counts once.
    """

    does: str
    words: tuple[tuple[float, re.Pattern[str]], ...]


def _field(does: str, *words: tuple[float, str]) -> Field:
    return Field(does, tuple((w, re.compile(rf"(?<![\w-])(?:{p})(?!\w)", re.IGNORECASE)) for w, p in words))


_SHOW = r"(?:plot|draw|show|visuali[sz]e|render|depict|display|map)(?:s|t?ed|t?ing)?"
_PICTURE = r"(?:plots?|pictures?|images?|isosurfaces?|renderings?|shapes?|maps?|views?)"
_ORBITAL = r"(?:(?:frontier|molecular|lowest unoccupied|highest occupied)\s+)*(?:homos?|lumos?|somos?|orbitals?)"
_ENERGY = r"(?:energ(?:y|ies)|levels?|gaps?|diagrams?|values?)"
_IONS = r"(?:cations?|membranes?|head ?groups?|side ?groups?|ionomers?|hems?|aems?|candidates?|\w+iums?)"
_PDFS = r"(?:pdfs?|papers|documents?|articles|librar(?:y|ies)|collection|corpus|publications|bibliograph(?:y|ies))"

FIELDS: dict[str, Field] = {
    "chemistry_agent": _field(
        "identify molecules: formula, masses, names, validity, descriptors, similarity; no simulation",
        (TOOL, r"selfies|inchi(?:[- ]?keys?)?|rdkit|pubchem|tanimoto|pains|brenk|lipinski|qed|tpsa"
               r"|cas(?:\s+registry)?\s+"
               r"(?:numbers?|no\.?|rn|entr(?:y|ies)|registry)"),
        (TOOL, r"(?:molecular|molar|formula|exact|average|monoisotopic|nominal)\s+(?:weights?|mass(?:es)?)"),
        (PHRASE, r"(?:molecular|sum|chemical|empirical|structural)\s+formula[se]?|formulae"),
        (PHRASE, r"(?:is|are)\s+(?:it\s+|this\s+|that\s+)?(?:in)?valid|validity|registry\s+numbers?"
                 r"|functional\s+groups?|similarit(?:y|ies)|similar|fingerprints?|substructures?|pharmacophores?"),
        (PHRASE, r"valid(?:ity|ate)?(?:\s+\w+){0,2}\s+(?:smiles|structure|molecule|string)|(?:smiles"
                 r"|string)\b.{0,30}\bvalid"),
        (PHRASE, r"canonical(?:ly|i[sz]\w*)?|isomeric(?:\s+smiles)?|(?:stereo|chiral)\s?cent(?:re|er)s?|stereo\w*"),
        (PHRASE, r"iupac|systematic\s+names?|trivial\s+names?|common\s+names?|synonyms?|name\s+the\s+(?:compound"
                 r"|molecule)"),
        (PHRASE, r"(?:is|are)\b[^.?!]{0,60}\bbalanced|balanced?\s+(?:the\s+|this\s+)?(?:reaction|equation)"
                 r"|stoichiometr\w+|balance"),
        (PHRASE, r"log\s?p|synthetic\s+accessibility|sa\s+scores?|drug[- ]?likeness|descriptors?|rotatable\s+bonds?"),
        (PHRASE, r"(?:same|identical|different|equivalent)\s+(?:compound|molecule|structure|substance)s?"
                 r"|duplicates?\s+among"),
        (PHRASE, r"parser\s+\w+|pars(?:e|ing)\s+errors?|m/z|chiral\w*|enantiomers?|[LDRS]-?\s+or\s+[LDRS]\b"
                 r"|can(?:no|')t\s+parse|smiles\s+(?:of|for|strings?)|(?:into|to|as|in)\s+(?:a\s+)?smiles"),
        (PHRASE, r"2[- ]?d\s+(?:image|picture|depiction|structure|drawing|diagram)s?|skeletal\s+(?:formula"
                 r"|structure)s?"),
        (HINT, r"draw|depict"),
        (PHRASE, rf"{_SHOW}\s+(?:me\s+)?(?:the\s+|a\s+|this\s+)?(?:molecules?|compounds?|structures?"
                 rf"|structural\s+formulae?)"),
        (PHRASE, r"3[- ]?d\s+(?:structures?|coordinates|models?|conformers?|geometr(?:y|ies))|xyz(?:\s+(?:files?"
                 r"|coordinates|of|for))?|(?:starting|initial|force[- ]field)\s+(?:structures?|geometr\w+)"),
        (PHRASE, r"(?:how\s+many|number\s+of|count\s+(?:the\s+)?)\s*\w*\s*(?:atoms?|hydrogens?|carbons?|nitrogens?"
                 r"|rings?"
                 r"|protons?|oxygens?|electrons|stereo\w+)|atom\s+counts?"),
        (PHRASE, r"formal\s+charges?|(?:net|total|overall)\s+charges?|elemental\s+(?:analysis|composition)"
                 r"|degrees?\s+of"
                 r"\s+unsaturation|multiplicit(?:y|ies)|spin\s+states?"),
        (TOPIC, r"smiles|formula|charge|weigh(?:t|s)?|mass(?:es)?|mw|mol\.?\s*wt\.?|isomers?|enantiomers?|names?"
                r"|named"),
        (TOPIC, r"identify|identity|quaternary|validate|protonated\s+forms?|convert|mistake"),
    ),
    "hem_agent": _field(
        "search cations for a membrane's backbone by a particle swarm, and rank them",
        (TOOL, r"pso|particle\s+swarms?|(?:pbf|pp|px|pai|pf|ppo)_bb\w*|\w{2,4}_bb_\w+|swarms?|num_part"),
        (TOOL, r"(?:optimi[sz]e|design|evolve|invent)\w*\s+(?:a\s+|the\s+|new\s+|better\s+|some\s+)*hems?"),
        (PHRASE, rf"(?:design|evolve|invent|devise|discover|propose|suggest|generate|search|explore|screen|breed"
                 rf"|tailor)"
                 rf"(?:s|ed|ing)?\b[^.;?!]{{0,60}}?{_IONS}"),
        (PHRASE, rf"(?:new|novel|better|alternative)\s+(?:\w+\s+){{0,2}}{_IONS}|new\s+members?|candidates"),
        (TOOL, r"optimi[sz]e\s+(?:[\w-]+\s+){0,2}(?:cations?|head\s?groups?"
               r"|side\s?chains?)\b[^.;]{0,40}\b(?:membranes?|backbones?|exchange)"),
        (TOOL, rf"{_IONS}\s+(?:with|having|of|for|that\s+(?:have|has|give|gives|show"
               rf"|shows))\s+(?:\w+\s+){{0,2}}(?:high|low|good|better"
               rf"|best|improved|max\w*|enhanced|excellent|great|less|more)"),
        (PHRASE, r"backbones?|cation\s+(?:famil(?:y|ies)|types?|class(?:es)?)|inverse\s+design|head\s?groups?"),
        (PHRASE, r"esr|ewu|iec|(?:logs?|status|progress)\b[^.?!]{0,30}\b(?:design|search|optimi[sz]ation)"
                 r"|(?:finished|running)\s+(?:design|search)|(?:score|rank)\s+(?:them|what|the\s+(?:cations"
                 r"|candidates)|\w+iums?)"),
        (TOPIC, r"design(?:s|ed|ing)?|membranes?|ionomers?|aems?|hems?|(?:anion|hydroxide)[- ]exchange"
                r"|poly(?:benzofuran|fluorene"
                r"|phenylene)s?|generations?|particles"),
    ),
    "qm_agent": _field(
        "compute it by quantum chemistry: energies, orbital levels, geometries, frequencies",
        (TOOL, r"orca|x-?tb|gfn-?[0-2]\S*|pyscf|nwchem|psi4|dft|density[- ]functional(?:\s+theory)?|td-?dft"
               r"|ab\s+initio"
               r"|hartree[- ]fock|coupled\s+cluster|dlpno\S*"),
        (TOOL, r"quantum[- ](?:chemi\w+|mechanic\w*)"),
        (TOOL, rf"{_ORBITAL}\s+{_ENERGY}|(?:homo|lumo)(?:\s*(?:and|,|/|&|-|–)\s*(?:homo|lumo))?\s+{_ENERGY}"
               rf"|frontier\s+{_ENERGY}"),
        (PHRASE, r"homos?|lumos?|highest\s+occupied\S*|lowest\s+unoccupied\S*|frontier\s+orbitals?"
                 r"|orbital\s+energ(?:y|ies)"),
        (PHRASE, r"(?:(?:band|homo[-–/ ]?lumo|orbital|energy|optical|fundamental)\s+)?gaps?(?!\s+(?:remain"
                 r"|in\s+(?:what|the\s+(?:lit|know))))"),
        (PHRASE, r"single[- ]?points?|sp\s+energy|scf|electronic\s+(?:structures?|energ\w+|properties)|zpv?es?"
                 r"|zero[- ]point"),
        (PHRASE, r"(?:re)?optimi[sz](?!er)\w*(?!\s+(?:[\w-]+\s+){0,5}(?:membranes?|polymers?|hems?|aems?|conditions"
                 r"|process\w*|stacks?"
                 r"|cells?|conductivit\w+|yields?|schedules?|potency))|opt|relax(?:ed|ation|ing)?|geometr(?:y|ies)"
                 r"|equilibrium\s+structures?|bond\s+lengths?"
                 r"|minimum\s+energy\s+structure"),
        (PHRASE, r"frequenc(?:y|ies)|freqs?|vibration\w*|normal\s+modes?|imaginary\s+\w+|hessian|ir\s+(?:spectr\w+"
                 r"|bands?)"
                 r"|infrared|raman|wavenumbers?"),
        (PHRASE, r"(?:gibbs|free)\s+energ\w+|gibbs|enthalp\w+|entrop\w+|thermochem\w*|thermal\s+corrections?"
                 r"|heats?\s+of\s+\w+"),
        (PHRASE, r"transition\s+states?|ts\s+search|barriers?|activation\s+energ\w+|reaction\s+(?:energ\w+|paths?)"
                 r"|irc|neb"),
        (PHRASE, r"(?:binding|interaction|dissociation|adsorption|complexation|solvation|hydration|ioni[sz]ation"
                 r"|excitation"
                 r"|conformer|conformational|protonation)\s+(?:free\s+)?(?:energ\w+|enthalp\w+)|counterpoise|bsse"),
        (PHRASE, r"bind(?:s|ing)?|how\s+strongly|proton\s+affinit\w+|pka|basicity|acidity|nmr|chemical\s+shifts?"
                 r"|1[0-9]?[CHFNP]\s+shifts?|shieldings?"),
        (PHRASE, r"ioni[sz]ation\s+(?:potentials?|energ\w+)|electron\s+affinit\w+|dipoles?(?:\s+moments?)?"
                 r"|polari[sz]abilit\w+"
                 r"|redox\s+potentials?|electronegativit\w+|hardness|electrophilicit\w+|quadrupoles?"),
        (PHRASE, r"excit(?:ed|ation)\s*\w*|absor(?:b|bs|ption)|wavelengths?|uv[-/ ]?vis\w*|fluorescence"
                 r"|oscillator\s+strengths?"
                 r"|singlet[-–]triplet|spin\s+splittings?"),
        (PHRASE, r"(?:lower|higher|lowest|highest)\s+in\s+energy|tautomers?|rotational\s+(?:barriers?|profiles?)"
                 r"|torsion\w*|strain\s+energ\w+|bond\s+dissociation"),
        (PHRASE, r"which\s+conformers?|how\s+much\s+energy|bond\s+(?:strengths?|energ\w+)|(?:total|ground[- ]state"
                 r"|molecular|absolute|potential)\s+energ\w+|energ(?:y|ies)\s+(?:of|for|at|and)|(?:mulliken|partial"
                 r"|atomic|atom)\s+charges?|charges?\s+on|charge\s+distribution"),
        (TOPIC, r"energ(?:y|ies)|charges|conformers?|functionals?|ev|mulliken(?:\s+charges?)?|loewdin|implicit"),
    ),
    "md_agent": _field(
        "simulate it by molecular dynamics: diffusion, density, structure of the liquid",
        (TOOL, r"gromacs|gmx|lammps|openmm|namd|acpype|packmol|ambertools|md|molecular\s+dynamics|\S*\.(?:gro|xtc"
               r"|trr|tpr|mdp|top|edr)"
               r"|spc/?e|tip[34]p\S*|lincs|mdrun|opls\S*|gaff2?|npt|nvt|nve|nernst[- ]einstein|md\s+simulations?"),
        (PHRASE, r"trajector(?:y|ies)|diffus(?:e|es|ing|es)|(?:self[- ])?diffus(?:ion"
                 r"|ivit\w+)(?:\s+(?:coefficients?|constants?))?|msds?|mean[- ]square\w*"
                 r"(?:\s+displacements?)?"),
        (PHRASE, r"rdfs?|radial\s+distribut\w+|coordination\s+numbers?|residence\s+times?"
                 r"|hydrogen[- ]bond\s+lifetimes?|viscosit\w+"),
        (PHRASE, r"(?:ionic\s+|ion\s+)?conductivit(?:y|ies)|water\s+uptake|swell(?:s|ing)?|glass\s+transition"
                 r"|free\s+volume|structure\s+factors?|molten|melts?"),
        (PHRASE, r"(?:molecular|atomistic|classical(?:ly)?|force[- ]field|all[- ]atom)\s+(?:simulat\w+|dynamics"
                 r"|box\w*|models?)"
                 r"|classically|force[- ]?fields?|coarse[- ]grained|atomistic|all[- ]atom"),
        (PHRASE, r"equilibrat\w+|production\s+runs?|thermostats?|barostats?|anneal\w*|(?:heat|cool)\s+(?:it"
                 r"|the\s+\w+)\s+to|radius\s+of\s+gyration|(?:simulation|hydrated|water|periodic|same)\s+"
                 r"box(?:es)?|box(?:es)?\s+of|ion\s+pairs\s+in\s+water|solvated\s+box\w*|solvate"),
        (PHRASE, r"\d+(?:\.\d+)?\s*(?:ns|ps|fs|[µu]s|nanoseconds?|picoseconds?)|nanoseconds?|dynamics|mobilit(?:y"
                 r"|ies)"),
        (PHRASE, r"lambdas?\s*(?:=|of)?\s*\d+|λ\s*=?\s*\d*|\d+\s+(?:spc/?e\s+)?waters?|chains?,?\s+dp\s*\d*"
                 r"|dp\s+\d+"),
        (TOPIC, r"simulat(?:e|es|ed|ion|ions|ing)|densit(?:y|ies)|polymer\s+(?:film|chains?)|heat\s+to|slow(?:s"
                r"|ed)?\s+down"
                r"|transport|viscous|temperature\s+sweep|ionic\s+liquids?|pairs"),
    ),
    "multiwfn_agent": _field(
        "analyse the wavefunction: charges, composition and pictures of orbitals, densities",
        (TOOL, r"multiwfn|\S*\.(?:wfn|wfx|fchk|molden|gbw|47|cub|cube)|cub(?:e|es)(?:\s+files?)?|wfn|fchk|molden"),
        (TOOL, r"hirshfeld\S*|cm5|adch|resp|chelpg|mbis|esp|elf|nci|rdg|q?taim|aim|nbo|nao|mayer|wiberg|fukui|nics"
               r"|lol|locali[sz]ed\s+orbital\s+locator|adndp|pdos"
               r"|igmh?|becke|homa|l(?:ö|oe|o)wdin"),
        (TOOL, r"wave ?functions?|electrostatic\s+potentials?|natural\s+bond\s+orbitals?"
               r"|electron\s+locali[sz]ation\s*\w*"),
        (TOOL, rf"(?:{_SHOW}|look\s+at)\s+(?:me\s+)?(?:of\s+)?(?:(?:the|its|their|all|both|each)\s+)*{_ORBITAL}"
               rf"(?:\s*(?:,|and|&|/)\s*(?:the\s+)?{_ORBITAL})*(?!\s*(?:[-–/]|and|,)?\s*\w*\s*{_ENERGY})"),
        (TOOL, rf"{_PICTURE}\s+of\s+(?:(?:the|its|their|all|both|each)\s+)*{_ORBITAL}|{_ORBITAL}\s+{_PICTURE}"
               rf"|what\b[^.?]*orbitals?\s+look"),
        (TOOL, rf"(?:where|(?:which|what)\s+(?:atoms?|groups?|part))\b[^.;?!]*(?:{_ORBITAL}|charge|density)\b"
               rf"|(?:{_ORBITAL})\b[^.;?!]{{0,30}}(?:locali[sz]ed|located|distributed"
               rf"|delocali[sz]ed|sits?|spread|concentrated)|distribution\s+of\s+the\s+{_ORBITAL}"),
        (TOOL, rf"{_ORBITAL}\s+compositions?|compositions?\s+of\s+(?:the\s+)?{_ORBITAL}"
               rf"|contributions?\s+(?:\w+\s+)*to\s+(?:the\s+)?"
               rf"{_ORBITAL}|non[- ]?covalent\s+interactions?"),
        (PHRASE, r"electron(?:ic)?\s+densit(?:y|ies)|spin\s+densit(?:y|ies)|density\s+(?:topology|differences?)"
                 r"|laplacian|isosurfaces?"
                 r"|isovalues?|densities\s+of\s+states"),
        (PHRASE, r"(?:population|orbital|topolog\w+|bonding|wavefunction)\s+analys[ie]s|bond\s+(?:orders?"
                 r"|critical\s+points?)"
                 r"|critical\s+points?|energy\s+decompositions?|aromaticit\w+|charge\s+transfer|delocali[sz]ation"
                 r"|per\s+fragment"),
        (PHRASE, r"hot\s?spots?|attack(?:ed)?\s+first|nucleophilic\s+(?:sites?|attack)|electrophilic\s+sites?"
                 r"|reactive\s+sites?|broaden\w*"),
        (PHRASE + TOPIC, r"(?:from|in|of|on|for)\s+(?:the\s+|my\s+|our\s+)?(?:last|latest|previous|finished"
                         r"|converged|completed?|earlier)\s+"
                 r"(?:\w+\s+)?(?:job|run|calculation|wfn|optimi[sz]ation|single\s+point)|(?:I"
                 r"|we)\s+(?:just\s+)?(?:ran|computed|calculated|optimi[sz]ed)|hole\s+and\s+electron|(?:render"
                 r"|visuali[sz]e)\s+(?:it|them|these|those|both)|(?:from|in|of|on)\s+job\s+\w*\d\w*|yesterday"
                 r"|my\s+completed"),
        (TOPIC, r"charges|isosurface|stacked|lone\s+pairs?|analy[sz]e\s+(?:the\s+)?orbitals?|orbitals?"
                r"|atom\s+by\s+atom|render\w*"),
        (HINT, _PICTURE),
    ),
    "rag_agent": _field(
        "search the documents of this installation, and answer with citations",
        (TOOL, r"literature|lit\.?\s+(?:search|review)|bibliograph\w*|cit(?:e|es|ed|ing|ations?)|dois?|prior\s+art"
               r"|rag|bibtex"),
        (TOOL, rf"(?:our|my|the|these|those|uploaded|indexed|ingested|your|collected|local)\s+(?:own\s+|uploaded\s+"
               rf"|indexed\s+|collected\s+)?{_PDFS}"),
        (TOOL, rf"(?:index|ingest|upload|import)\w*\b[^.;?!]{{0,40}}{_PDFS}|{_PDFS}\s+(?:that\s+)?we\s+(?:have"
               rf"|collected|indexed|uploaded)"),
        (TOOL, r"(?:has|have|had|been|was|were|is|as|what)\s+(?:been\s+)?(?:published|reported|described|documented)"
               r"|(?:has|have|did)\s+(?:any|some)(?:one|body)\s+(?:ever\s+|already\s+)?(?:measure|report|publish"
               r"|tri|studi|describ|determin|test|investigat|us|synthesi[sz]|observ)e?d"
               r"|in\s+the\s+(?:published\s+)?(?:studies|papers|literature)"),
        (PHRASE, r"papers|publications?|articles?|pdfs?|manuscripts?|documents?|thes[ei]s|journals?|passages?"
                 r"|excerpts?|monographs?"),
        (PHRASE, r"published|report(?:ed)|reviews?|ref(?:erence)?s|studies|state\s+of\s+the\s+art|authors?"),
        (PHRASE, r"what\s+(?:is|do\s+we|does\s+one|are)\s+(?:known|know)|is\s+known|who\s+(?:first|originally"
                 r"|discovered|proposed|showed)"
                 r"|according\s+to\s+(?:the\s+)?(?:literature|papers?|authors?|studies|reports?|\w+\s+et\s+al)"
                 r"|background\s+reading|further\s+reading|experimental(?:ly)?\s+(?:\w+\s+){0,3}(?:values?|data"
                 r"|results?)|what\s+(?:have|did)\s+people|half-li(?:fe|ves)"),
        (PHRASE, r"read\s+up\s+on|page\s+numbers?|number\s+your\s+citations|survey(?:s|ed)?"
                 r"|summari[sz]e\s+(?:the\s+)?research|consensus"),
        (TOPIC, r"research|paper|findings|evidence|knowledge|sources?|known|scholar\w*"),
    ),
    "web_search_agent": _field(
        "search the web for what is current",
        (TOOL, r"google|bing|tavily|duckduckgo|(?:on|search|from|browse|surf|scan|across)\s+the\s+(?:web|internet"
               r"|net)|online|internet"
               r"|web(?:\s?(?:pages?|sites?|search\w*))?|urls?|news"),
        (TOOL, r"(?:latest|newest|current|which|what)\s+(?:\w+\s+)?(?:version|release)(?:\s+of)?|web\s?sites?"
               r"|home\s?pages?|git\s?hub|wikipedia|(?:web|product|project)\s+pages?|download\s+(?:page|link)s?"
               r"|press\s+releases?|(?:their|the)\s+site|preprints?"),
        (PHRASE, r"(?:latest|newest|most\s+recent(?:ly)?|up[- ]to[- ]date)(?!\s+(?:\w+\s+)?(?:job|run|calculation"
                 r"|result|checkpoint|step|wfn)s?\b)"),
        (PHRASE, r"recent(?:ly)?(?!\s+(?:\w+\s+)?(?:job|run|calculation)s?\b)|today(?:'s)?|right\s+now|nowadays"
                 r"|these\s+days|at\s+the\s+moment"),
        (PHRASE, r"(?:this|last|past|next|recent)\s+(?:few\s+|couple\s+of\s+)?(?:weeks?|months?|years?)(?:'s)?"
                 r"|current\s+(?:\w+\s+)?"
                 r"(?:price|version|release|licen[cs]e|state|status|rules?|regulations?|terms|news|affairs"
                 r"|events?)\w*"),
        (PHRASE, r"announce(?:d|ments?)|releases?|released|superseded|vendors?|suppliers?|manufacturers?|(?:who"
                 r"|which|where)\b[^.?!]{0,30}"
                 r"\b(?:sells?|buy|supplies)|prices?|costs?\s+of|licen[cs]e\s+terms|came?\s+out|links?"),
        (PHRASE, r"(?:when|where)\s+(?:and\s+where\s+)?(?:is|are|will|does)\b[^.?!]{0,40}\b(?:meeting|conference"
                 r"|workshop|symposium|deadline"
                 r"|congress)|conference\s+dates?|conferences?|symposia|trade\s+fairs?|ceo|nobel|winner"
                 r"|what'?s\s+new|regulations?|legislation"),
        (TOPIC, r"current(?:ly)?|rules|market|compan(?:y|ies)|safety\s+data\s+sheets?|(?:look|looked)\s+up|meeting"
                r"|conference|version"),
    ),
}  # fmt: skip

#: what somebody shall do, rather than look up
DOING = re.compile(
    r"(?:^\W*|[,;:.!?]\s*|\b(?:and|then|please|you|we|also|now|just|let|first)\s+)(?:re-?)?(?:calculate|compute"
    r"|simulate|run|optimi[sz]e|relax"
    r"|predict|design|evolve|render|plot|draw|equilibrate|reproduce|perform|estimate|refine)(?!\w)"
    r"|\boptimi[sz]ed\s+\w+\s+pair\b|\bsingle[- ]points?\b",
    re.IGNORECASE,
)
#: what a level of theory may be named for
CHECKING = re.compile(
    r"(?<![\w-])(?:on|confirm|verif\w+|check|optimi[sz]\w+|comput\w+|calculat\w+|validat\w+|test"
    r"|redo|refine\w*|use|at|with|by)(?!\w)",
    re.IGNORECASE,
)
