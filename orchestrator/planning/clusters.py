"""Requests to take a cation with its neighbours out of a simulation, for a calculation on it."""

from __future__ import annotations

import re

from orchestrator.chemistry.molecules import identify
from orchestrator.chemistry.names import find_names, look_up
from orchestrator.state import Species
from tasks.dynamics import Cluster, DynamicsSpec
from tasks.errors import InputError

EXAMPLE = (
    "Say it as in 'from the last frame take a tetramethylammonium with its nearest hydroxide and its 4 nearest waters,"
    " and compute their energy with B3LYP'."
)
#: begins what the description of a simulation says of its cluster
TAKES = "; takes "
_NUMBERS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
_N = rf"(\d+|{'|'.join(_NUMBERS)})"
_NEAR = r"(?:nearest|closest|neighbou?ring)"
_IONS = r"(?:counter-?\s?ions?|anions?|hydroxides?|fluorides?|chlorides?|bromides?|iodides?|OH-|F-|Cl-|Br-|I-)"
_NEAREST_IONS = re.compile(rf"(?:{_N}\s+)?{_NEAR}\s+(?:{_N}\s+)?{_IONS}", re.IGNORECASE)
_NEAREST_WATERS = re.compile(rf"(?:{_N}\s+)?{_NEAR}\s+(?:{_N}\s+)?waters?", re.IGNORECASE)
_AND_WATERS = re.compile(rf"\s*(?:,|and|plus|with|,\s*and)\s+(?:the\s+|its\s+)?{_N}\s+waters?", re.IGNORECASE)
_FRAME = re.compile(
    r"\s*,?\s*\b(?:from|out\s+of|in|of)\s+(?:it\b|(?:the\s+|a\s+|its\s+)?(?:(?:last|final)\s+)?"
    r"(?:frame|snapshot|trajectory|box|simulation)\b(?:\s+of\s+(?:it|the\s+(?:trajectory|simulation)))?)",
    re.IGNORECASE,
)
_TAKING = re.compile(
    rf"[,;]?\s*(?:then\s+)?(?:{_FRAME.pattern}\s*,?\s*)?\b(?:take|pick|extract|cut\s+out|choose|select)\s+"
    r"(?:out\s+)?(?:an?|one|the)\b"
    # until something else is asked for
    rf"(?:(?!,?\s*\b(?:and|then)\s+(?!(?:(?:its|the|their)\s+)?(?:{_N}\s+)?(?:{_NEAR}|waters?)))[^;.])*",
    re.IGNORECASE,
)
#: from "of a TMA with its nearest …" to the end of what is taken
_PHRASE = re.compile(
    rf"(?:\b(?:of|for|on)\s+)?(?:\bthe\s+clusters?\s+of\s+)?\b(?:an?|one|the)\s+(?:(?!\b(?:an?|one|the|of)\b)[^,;.]){{0,60}}?(?:,|\bwith|\band)\s+"
    rf"(?:its|the|their)\s+(?:{_N}\s+)?{_NEAR}\s+(?:{_N}\s+)?(?:{_IONS}|waters?(?:\s+molecules)?)"
    rf"(?:(?:\s*,|\s+and|\s+plus|\s+with)\s+(?:(?:the|its)\s+)?(?:{_N}\s+)?(?:{_NEAR}\s+)?(?:{_N}\s+)?"
    r"waters?(?:\s+molecules)?)?",
    re.IGNORECASE,
)


def names_cluster(text: str) -> bool:
    """Tell whether a text says what is to be taken out of a box."""
    return bool(_NEAREST_IONS.search(text) or _NEAREST_WATERS.search(text))


def split_taking(text: str) -> tuple[str, str]:
    """Give the text of a simulation, and apart from it what shall be taken out of it; empty: nothing."""
    taken = _TAKING.search(text) if names_cluster(text) else None
    return (_TAKING.sub("", text, count=1), taken[0]) if taken else (text, "")


def without_cluster(text: str) -> str:
    """Give the text of a calculation without the cluster that it is about."""
    return " ".join(_FRAME.sub("", _PHRASE.sub("", _TAKING.sub("", text))).split())


def read_cluster(text: str, spec: DynamicsSpec, request: str) -> Cluster:
    """Read what is to be taken out of the last frame of a simulation; ``request`` is the whole, for messages.

    Raises
    ------
    InputError
        If the text does not say which neighbours, or not which of several cations.
    """
    ions, waters = _NEAREST_IONS.search(text), _NEAREST_WATERS.search(text)
    if spec.system is None or not (ions or waters):
        raise InputError("request", request, "does not say what is to be taken out of the simulation", EXAMPLE)
    if ions and not waters:
        waters = _AND_WATERS.match(text, ions.end())
    said = {match.named.smiles for match in find_names(text[ions.start() if ions else 0 :])} & _anions()
    if ions and said and look_up_ion(spec) not in said:
        problem = f"asks for other counter-ions than the box has, which are {spec.system.counter_ion}"
        raise InputError("request", request, problem, EXAMPLE)
    names = [one.name or one.smiles for one in spec.system.cations]
    taken = _TAKING.search(text)
    asked = {m.named.smiles for m in find_names(taken[0] if taken else text)}
    meant = [n for n, one in zip(names, spec.system.cations, strict=True) if len(names) == 1 or one.smiles in asked]
    if len(meant) != 1:
        remedy = f"Name one of {', '.join(names)}." if names else EXAMPLE
        raise InputError("request", request, "does not say which cation is to be taken out of the simulation", remedy)
    return Cluster(
        cation=meant[0],
        counter_ion=spec.system.counter_ion,
        counter_ions=_number(ions) if ions else 0,
        waters=_number(waters) if waters else 0,
    )


def with_cluster(specs: tuple[DynamicsSpec, ...], cluster: Cluster | None) -> tuple[DynamicsSpec, ...]:
    """Give simulations that take a cluster out of their last frame; None: nothing."""
    analyses = [spec.analysis.model_copy(update={"cluster": cluster}) for spec in specs]
    return tuple(s.model_copy(update={"analysis": a}) for s, a in zip(specs, analyses, strict=True))


def look_up_ion(spec: DynamicsSpec) -> str:
    """Give the SMILES of the counter-ion of a box."""
    named = look_up(spec.system.counter_ion) if spec.system else None
    return named.smiles if named else ""


def _anions() -> set[str]:
    return {n.smiles for name in ("hydroxide", "fluoride", "chloride", "bromide", "iodide") if (n := look_up(name))}


def _number(match: re.Match[str]) -> int:
    said = next((group for group in match.groups() if group), "one").lower()
    return _NUMBERS.get(said) or int(said)


def cluster_species(cluster: Cluster, spec: DynamicsSpec) -> Species:
    """Give a cluster as a molecule of a run: its parts' SMILES in the order of its atoms, its charge, its name."""
    if spec.system is None:
        raise TypeError("a cluster is taken out of a system, not out of files")
    cation = next(one for one in spec.system.cations if cluster.cation in (one.name, one.smiles))
    parts = [cation.smiles, *[look_up_ion(spec)] * cluster.counter_ions, *["O"] * cluster.waters]
    identities = [identify(part) for part in parts]
    names = [cluster.cation]
    for count, name in ((cluster.counter_ions, cluster.counter_ion), (cluster.waters, "water")):
        names += [name if count == 1 else f"{count} {name}"] if count else []
    return Species(
        name=" + ".join(names),
        smiles=".".join(one.smiles for one in identities),
        mass_dalton=round(sum(one.mass_dalton for one in identities), 3),
        charge=sum(one.charge for one in identities),
        multiplicity=1,
        atoms=sum(one.atoms for one in identities),
    )
