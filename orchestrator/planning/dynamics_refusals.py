"""What people ask of a simulation that nothing here gives: refused by its name, before anything is queued."""

from __future__ import annotations

import re

from orchestrator.planning.unread import Unread, wished
from orchestrator.planning.words import ELECTRONIC
from tasks.errors import InputError


def _words(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])(?:{pattern})(?!\w)", re.IGNORECASE)


#: results that no agent reads from a trajectory
_NOT_COMPUTED = {
    "conductivity": re.compile(r"conductivit(?:y|ies)", re.IGNORECASE),
    "radial distribution functions": _words(r"rdfs?|radial distributions?(?: functions?)?|coordination numbers?"),
    "water uptake and swelling": re.compile(r"water uptake|swelling", re.IGNORECASE),
    "polymers": re.compile(r"\b(?:polymers?|chains?|membranes?|degree of polymeri[sz]ation|DP)\b"),
    "hydrogen bonds": _words(r"hydrogen[- ]bonds?(?:ing)?|h-?bonds?"),
    "viscosity": _words(r"viscosit(?:y|ies)"),
    "the dielectric constant": _words(r"dielectric(?: \w+)?|permittivit(?:y|ies)"),
    "residence times": _words(r"residence times?|(?:bond |pair )?lifetimes?"),
    "surface tension": _words(r"surface tensions?"),
    "heat capacities": _words(r"heat capacit(?:y|ies)"),
    "free energies": _words(r"umbrella sampling|metadynamics|pmfs?|potentials? of mean force|free[- ]energ(?:y|ies)"),
    "structure factors": _words(r"structure factors?"),
    "velocity correlations": _words(r"vacf|velocity (?:auto)?correlations?"),
    "melting and glass transition": _words(r"glass transitions?|melting (?:points?|temperatures?)|tg"),
    "the radius of gyration": _words(r"rad(?:ius|ii) of gyration"),
    "the enthalpy of vaporisation": _words(r"(?:enthalp\w+|heat) of vapori[sz]ation"),
}
#: settings that no simulation here has
_NOT_OFFERED = {
    "LAMMPS": _words(r"lammps"),
    "another program than GROMACS": _words(r"openmm|namd|amber\d*|desmond|cp2k|ls1|hoomd"),
    "a force field other than GAFF": _words(
        r"opls\S*|charmm\S*|gromos\S*|martini|reaxff|trappe|compass|gaff2|cgenff|drude|amoeba|polari[sz]able"
        r"|coarse[- ]grained|machine[- ]learn\w*"
    ),
    "a water model other than SPC/E": _words(r"tip[345]p\S*|spc(?!/?e)|opc\d?|flexible water"),
    "heavy water": _words(r"d2o|heavy water|deuterat\w+|deuterium"),
    "the NVE ensemble": _words(r"nve|micro-?canonical"),
    "another thermostat or barostat than V-rescale and C-rescale": _words(
        r"langevin|nos[eé][- ]?hoover|berendsen|andersen|parrinello\S*|mttk|monte[- ]carlo barostat"
    ),
    "annealing or a change of temperature within a run": _words(
        r"anneal\w*|quench\w*|(?:heat|cool|ramp)(?:s|ed|ing)?\b[^.;,]{0,40}\b(?:to|from|rate|down|up)|ramps?"
    ),
    "replicas": _words(r"replicas?|replicates?|(?:independent|repeated) (?:runs?|simulations?|trajector(?:y|ies))"
                       r"|(?:two|three|four|five|several|\d+) (?:times|repeats|seeds)|replica exchange|remd"),
    "a box that is not cubic": _words(
        r"(?:non-?cubic|orthorhombic|rectangular|triclinic|hexagonal|dodecahedr\w*|(?:truncated )?octahedr\w*|slab)"
        r"(?: box(?:es)?)?|elongated box"
    ),
    "restraints, walls or fields": _words(r"position restraints?|restrain\w*|walls?|electric fields?|confine\w*"),
    "a GPU": _words(r"gpus?"),
}  # fmt: skip
# One blank only: where there are more, a molecule stood.
_SOLVENT = re.compile(
    r"\b(?:in|into|dissolved in|solvated (?:by|in|with))[ \n](?:(?:pure|liquid|neat|bulk|a|the)[ \n])*"
    r"([A-Za-z][\w-]*)(?=\s*(?:[,.;?]|$)|\s+(?:at|for|on|under)\b)",
    re.IGNORECASE,
)
#: what a simulation may be "in" besides water
_PLACES = frozenset(
    "water waters aqueous solution it them box boxes one npt nvt ensemble parallel total detail general turn order"
    " production equilibration kelvin celsius bulk liquid cell each both nm ps ns plot figure table report"
    " comparison".split()
)


def refuse_what_is_not_given(text: str) -> None:
    """Raise InputError for what no simulation gives, or what belongs into another request."""
    if re.search(r"\.(?:gro|pdb|top|itp)\b", text):
        problem = "speaks of files of your own, which a request in words cannot hand over"
        raise InputError("request", text, problem, "Submit a job of kind dynamics with files and inputs.")
    refuse_wishes(text)
    electronic = [
        name for name, words in ELECTRONIC.items() if name not in ("geometry", "charges") and words.search(text)
    ]
    if electronic:
        problem = f"asks for molecular dynamics and for {' and '.join(electronic)}"
        raise InputError("request", text, problem, "Ask for the one and the other in two requests.")


def refuse_wishes(text: str) -> None:
    """Raise InputError for results that are not read from a trajectory, and settings that no simulation has."""
    if unknown := wished(text, _NOT_COMPUTED):
        problem = f"asks for {' and '.join(unknown)}, which no agent computes yet"
        remedy = "What a simulation gives now: MSD, diffusion, density, temperature. Leave the rest out."
        raise InputError("request", text, problem, remedy)
    if unknown := wished(text, _NOT_OFFERED):
        problem = f"asks for {' and '.join(unknown)}, which no simulation here has"
        remedy = (
            "Simulated are cubic boxes of cations (GAFF, AM1-BCC) in SPC/E water with GROMACS, NVT or NPT, each at one"
            " temperature. Leave it out."
        )
        raise InputError("request", text, problem, remedy)


def refuse_other_solvents(unread: Unread) -> None:
    """Raise InputError for a word in the place of a solvent that is none, in a text without its molecules."""
    for match in other_solvents(unread.text):
        raise InputError(
            "request", unread.part(match), f"puts the box into {match[1]}", "The solvent of a box is water."
        )


def other_solvents(rest: str) -> list[re.Match[str]]:
    """Give the words in the place of a solvent that are none."""
    found = _SOLVENT.finditer(rest)
    return [m for m in found if m[1].lower() not in _PLACES and not m[1].lower().endswith(("ly", "ing"))]
