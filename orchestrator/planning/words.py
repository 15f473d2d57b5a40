"""The vocabulary of requests: which words stand for which property, verb or wish, in British and American spelling."""

from __future__ import annotations

import re


def _words(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])(?:{pattern})(?!\w)", re.IGNORECASE)


_ELECTRONIC = r"electronic (?:structures?|properties)"
#: elements that organic molecules and their salts are of
_ELEMENT = (
    r"(?:hydrogen|deuterium|carbon|nitrogen|oxygen|fluorine|phosphorus|sul(?:f|ph)ur|chlorine|bromine|iodine|boron|silicon"
    r"|selenium|lithium|sodium|potassium|magnesium|calcium|zinc|iron|copper|nickel|tin)"
)
_ORBITAL = r"(?:homo|lumo|orbitals?|frontier|gap)"

#: property -> the words for it; what qm_agent gives
ELECTRONIC = {
    "homo": _words(
        rf"homos?|highest occupied(?: molecular orbitals?)?|frontier orbitals?|orbital energ(?:y|ies)|{_ELECTRONIC}"
    ),
    # Also after a hyphen: "HOMO-LUMO gap".
    "lumo": re.compile(
        r"(?<!\w)(?:lumos?|lowest unoccupied(?: molecular orbitals?)?|frontier orbitals?|orbital energ(?:y|ies)"
        rf"|{_ELECTRONIC})(?!\w)",
        re.IGNORECASE,
    ),
    "gap": _words(r"(?:homo\s*[-–/]\s*lumo\s+|band\s*|orbital\s+|energy\s+)?gaps?|" + _ELECTRONIC),
    "energy": _words(
        r"(?:total|electronic|scf|ground[- ]state|single[- ]point|absolute|dft|xtb|molecular)\s+energ(?:y|ies)"
        r"|energ(?:y|ies)(?!\s+(?:gaps?|levels?|differences?))"
    ),
    "dipole": _words(r"dipoles?(?:\s+moments?)?|polarity|" + _ELECTRONIC),
    "charges": _words(r"(?:mulliken|partial|atomic|atom)\s+charges?|mulliken(?:\s+population\w*)?|charges on|"
                      r"population analysis|charge distribution"),
    "frequencies": _words(
        r"(?:vibrational\s+|harmonic\s+|normal[- ]mode\s+)?frequenc(?:y|ies)|vibrations?|vibrational(?:\s+modes?)?"
        r"|normal modes?|imaginary (?:modes?|frequenc(?:y|ies))|hessian|wavenumbers?"
    ),
    "zero_point": _words(r"zero[- ]point(?:\s+(?:vibrational\s+)?energ(?:y|ies))?|zpv?es?|thermochem\w*"),
    "enthalpy": _words(r"enthalp(?:y|ies)|thermochem\w*"),
    "entropy": _words(r"entrop(?:y|ies)|thermochem\w*"),
    "gibbs": _words(
        r"(?:gibbs\s+)?free\s+(?:energ(?:y|ies)|enthalp(?:y|ies))|gibbs(?:\s+energ(?:y|ies))?|thermochem\w*"
    ),
    "geometry": _words(r"(?:re)?optimi[sz](?:e|es|ed|ing|ation|ations)|geometr(?:y|ies)|relax(?:ed|ation)?|"
                       r"equilibrium structures?"),
}  # fmt: skip

#: property -> the words for it; what chemistry_agent gives without any simulation
IDENTITY = {
    "formula": _words(r"(?:molecular |chemical |sum |empirical )?formulas?|formulae"),
    "mass": _words(r"(?:molecular|molar|formula)\s+(?:weights?|mass(?:es)?)|mass(?:es)?|mol(?:ecular)?\.?\s*wt\.?|mw"),
    "charge": _words(r"(?:formal|net|total|overall)\s+charges?|what(?:'s| is) the charge|charge of"),
    "multiplicity": _words(r"(?:spin\s+)?multiplicit(?:y|ies)|spin states?"),
    "atoms": _words(r"(?:number of|how many|count(?: the)?)\s+atoms?|atom counts?"),
    "smiles": _words(r"(?:canonical(?:i[sz]e[ds]?)?|isomeric)(?:\s+(?:the\s+)?smiles)?|smiles"),
    "structure": _words(
        r"3[- ]?d(?:\s+(?:structures?|geometr(?:y|ies)|coordinates|models?|conformers?))?"
        r"|xyz(?:\s+(?:files?|coordinates))?"
        r"|(?:starting|initial|force[- ]field)\s+(?:structures?|geometr(?:y|ies))|cartesian coordinates"
    ),
    "identity": _words(
        r"is (?:this|it) (?:a )?valid|validate|valid smiles|identify|identity|quaternary ammonium|functional groups?"
    ),
}

#: what needs frequencies
THERMAL = frozenset({"frequencies", "zero_point", "enthalpy", "entropy", "gibbs"})

#: energies with heat in them are no total energies
THERMAL_ENERGY = _words(
    r"(?:gibbs\s+)?free\s+energ(?:y|ies)|gibbs\s+energ(?:y|ies)|zero[- ]point\s+(?:vibrational\s+)?energ(?:y|ies)"
)
#: energies of orbitals are no total energies
ORBITAL_ENERGY = re.compile(
    rf"{_ORBITAL}(?:\s*(?:,|and|&|/|-|–|or)\s*(?:the\s+)?{_ORBITAL})*\s+energ(?:y|ies)", re.IGNORECASE
)
#: a 3D structure from a force field is no optimised geometry
FORCE_FIELD_STRUCTURE = IDENTITY["structure"]

OPTIMISE = _words(r"(?:re)?optimi[sz](?:e|es|ed|ing|ation|ations)|relax(?:ed|ation)?|minimi[sz](?:e|ed|ation)")
NO_OPTIMISATION = _words(
    r"(?:without|skip(?:ping)?(?: the)?|not?|don't)\s+(?:any\s+|geometry\s+|further\s+)*optimi[sz]\w*|unoptimi[sz]ed"
)
COMPARE = _words(
    r"compar(?:e|es|ed|ing|ison)s?|versus|vs\.?|differences?|rank(?:ing)?|which(?:\s+\w+)?\s+(?:one\s+)?(?:has|have|is)"
    r"|which\b[^.?!]{0,300}\b(?:higher|highest|lower|lowest|larger|largest|smaller|smallest|bigger|biggest)"
    r"|contrast"
)
DFT_WORD = _words(r"dft|density[- ]functional(?:\s+theory)?")

#: the verbs of the complexity rules, by their plain form
VERBS = {
    "calculate": _words(r"calculat(?:e|es|ed|ing)"),
    "compute": _words(r"comput(?:e|es|ed|ing)"),
    "analyze": _words(r"analy[sz](?:e|es|ed|ing)"),
    "compare": _words(r"compar(?:e|es|ed|ing)"),
    "optimize": _words(r"optimi[sz](?:e|es|ed|ing)"),
    "simulate": _words(r"simulat(?:e|es|ed|ing)"),
    "find": _words(r"find(?:s|ing)?|found"),
    "determine": _words(r"determin(?:e|es|ed|ing)"),
    "evaluate": _words(r"evaluat(?:e|es|ed|ing)"),
    "predict": _words(r"predict(?:s|ed|ing)?"),
}
#: what a method can belong to besides those verbs
OTHER_VERBS = _words(r"report|give|get|show|tell|what|single[- ]points?|energ(?:y|ies)|homos?|lumos?")

#: what chemistry_agent does besides identifying -> the words for it
OPERATIONS = {
    "validity": _words(
        r"(?:in)?valid(?:ity|ate|ates)?|(?:smiles|string)\s+wrong|wrong\s+with\s+(?:this|the|my)\s+smiles"
    ),
    "masses": _words(r"(?:exact|monoisotopic|average)\s+(?:molecular\s+)?mass(?:es)?"),
    "atoms": _words(
        r"(?:numbers? of|how many|count(?:ing|s)?)\s+(?:all\s+|of\s+)?(?:the(?:ir)?\s+|its\s+)?"
        rf"(?:atoms?|(?:{_ELEMENT}|heavy|halogen|[a-z]{{1,2}})\s+atoms?|(?:{_ELEMENT})s?(?![\s-]*bond))"
        rf"|(?:{_ELEMENT}\s+)?atom counts?|{_ELEMENT}\s+counts?|elemental composition|atoms by element"
    ),
    "groups": _words(r"functional groups?"),
    "similarity": _words(r"similarit(?:y|ies)|fingerprints?|tanimoto"),
    "selfies": _words(r"selfies"),
    "inchi": _words(r"inchi(?:[- ]?keys?)?"),
    "descriptors": _words(
        r"log\s?p|tpsa|qed|sa scores?|synthetic accessibility|drug[- ]?like(?:ness)?|lipinski|rotatable bonds?"
        r"|descriptors?|h(?:ydrogen)?[- ]?bond (?:donors?|acceptors?)"
    ),
    "filters": _words(r"pains|brenk|structural alerts?"),
    "iupac": _words(r"iupac(?:\s+names?)?|systematic names?"),
    "cas": _words(r"cas(?:[- ]?(?:registry\s+)?(?:rn|no\.?|numbers?|codes?|ids?))?s?|registry numbers?"),
    "picture": _words(r"draw|depict|render|2[- ]?d (?:image|picture|depiction|structure|drawing|diagram)s?"),
}
#: asked for now and then, computed by nothing that exists yet -> how a message calls it
NOT_COMPUTED = {
    "infrared and Raman intensities": _words(
        r"(?:ir|infrared)\s+(?:spectr(?:um|a)|intensit(?:y|ies)|absorption)|raman|infrared"
    ),
    "NMR shifts": _words(r"nmr|chemical shifts?|shieldings?"),
    "acidity and proton affinity": _words(r"pka|proton affinit(?:y|ies)|basicity|acidity|protonation"),
    "binding and interaction energies": _words(
        r"(?:binding|interaction|dissociation|adsorption)\s+(?:free\s+)?(?:energ(?:y|ies)|enthalp(?:y|ies))|binding"
    ),
    "solvation energies": _words(
        r"(?:solvation|hydration)\s+(?:free\s+)?energ(?:y|ies)|energ(?:y|ies)\s+of\s+(?:solvation|hydration)"
    ),
    "transition states and barriers": _words(
        r"transition states?|barriers?|(?:activation|reaction)\s+(?:free\s+)?(?:energ(?:y|ies)|enthalp(?:y|ies))"
        r"|reaction paths?|irc|neb"
        r"|alkaline stability|degradation|half-li(?:fe|ves)"
    ),
    "excited states and spectra": _words(
        r"excited states?|excitation(?:s| energ(?:y|ies))?|td-?dft|uv[-/ ]?vis\w*|absorption spectr(?:um|a)"
        r"|spectr(?:um|a)|fluorescence"
    ),
    "ionisation energies, electron affinities and reactivity indices": _words(
        r"ioni[sz]ation (?:potentials?|energ(?:y|ies))|electron affinit(?:y|ies)|electronegativity"
        r"|(?:chemical )?hardness"
        r"|electrophilicity|fukui|redox potentials?|oxidation potentials?|polari[sz]abilit(?:y|ies)"
    ),
    "singlet-triplet gaps": _words(r"(?:singlet[- ]triplet|spin)\s+(?:gaps?|splittings?)|s-t\s+gaps?"),
    "heats of formation, vaporisation or combustion": _words(
        r"(?:enthalp(?:y|ies)|heats?|(?:gibbs\s+)?(?:free\s+)?energ(?:y|ies))\s+of\s+(?:formation|vapou?ri[sz]ation"
        r"|combustion|sublimation|fusion)"
    ),
    "heat capacities": _words(r"heat capacit(?:y|ies)|c[pv]"),
    "rotational constants and moments of inertia": _words(r"rotational constants?|moments? of inertia"),
    "higher multipole moments": _words(r"quadrupoles?(?:\s+moments?)?|octupoles?(?:\s+moments?)?"),
    "single bond lengths and angles": _words(
        r"bond (?:lengths?|angles?|distances?)|(?:dihedral|torsion(?:al)?|bond)\s+angles?"
    ),
    "scans of distances and angles": _words(
        r"(?:dihedral|torsion(?:al)?|relaxed|rigid|potential energy(?: surface)?|pes)\s+scans?|scans?"
    ),
    "stability": _words(r"stable|stability|stabilities|stabler|durab\w+"),
    "conformer searches": _words(r"conformer search\w*|conformational (?:search|analysis|landscape)"),
    "solubility": _words(r"solubilit(?:y|ies)"),
}  # fmt: skip
