"""Requests for molecular dynamics: what is in the box, at which temperatures, how long; read from the words alone.

What is needed and missing is asked for, all of it at once; what nothing computes yet is refused by name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any, get_args

from orchestrator.chemistry.molecules import DEFAULT_MAX_ATOMS
from orchestrator.chemistry.names import find_names
from orchestrator.chemistry.solutions import complete_dynamics
from orchestrator.planning.dynamics_refusals import refuse_other_solvents, refuse_what_is_not_given
from orchestrator.planning.dynamics_words import (
    PAIRS,
    WATERS,
    take_box,
    take_hydration,
    take_settings,
    take_temperatures,
)
from orchestrator.planning.levels import level_mentions
from orchestrator.planning.molecules import Found, find_molecules, to_species
from orchestrator.planning.unread import AMOUNT, Unread
from orchestrator.state import Goal, Plan, Species, Step
from tasks.dynamics import CounterIon, DynamicsSpec
from tasks.errors import InputError
from tasks.specs import parse_spec

EXAMPLE = (
    'Ask for example "Run MD of 8 N,N-dimethylpiperidinium hydroxide pairs in water at 353 K for 50 ps and plot the'
    ' MSD".'
)
#: characters that stand for others; each takes the place of one
_SIGNS = str.maketrans({"−": "-", "‐": "-", "‑": "-", "\u00a0": " ", "\u202f": " "})
_MIXTURE = re.compile(r"\b(?:mixtures?|mixed|together|(?:one|same|single|common) box)\b", re.IGNORECASE)
_COUNT = re.compile(
    r"(?<![\w.\-])(\d+)\s+(?:(?:ion\s+)?pairs?\s+of\s+|(?:cations?|ions|molecules)\s+of\s+)?$", re.IGNORECASE
)
_REMEDY = (
    "A request for a simulation says how many of what, λ or the number of waters, temperatures (K or °C), lengths of"
    " time (ps or ns), and if need be the pressure, the edge of the box, the cut-off, the time step, a seed, cores and"
    f" memory. {EXAMPLE}"
)


@dataclass(frozen=True, kw_only=True)
class DynamicsRequest:
    """What a request for molecular dynamics asks for: one spec for each box, in the order of the fan-out.

    Attributes
    ----------
    species
        The cations, or water if the box holds nothing else.
    specs
        Complete, each to be submitted as it is.
    assumed
        What the request does not say and was filled in, for people.
    """

    species: tuple[Species, ...]
    specs: tuple[DynamicsSpec, ...]
    assumed: tuple[str, ...] = field(default=())


def plan_dynamics(
    text: str, max_atoms: int = DEFAULT_MAX_ATOMS, species: tuple[Species, ...] = ()
) -> tuple[Plan, tuple[Species, ...]]:
    """Plan a request for molecular dynamics; raises as ``read_dynamics``."""
    request = read_dynamics(text, max_atoms, species)
    first, number = request.specs[0], len(request.specs)
    temperatures = ", ".join(f"{value:g}" for value in dict.fromkeys(spec.temperature_kelvin for spec in request.specs))
    what = first.label.rpartition(",")[0] if number == 1 else f"{number} boxes"
    protocol = f"{first.nvt_ps:g} ps NVT, {first.npt_ps:g} ps NPT, {first.production_ps:g} ps {first.ensemble}"
    description = f"{what} at {temperatures} K: {protocol}; mean square displacements and diffusion"
    if request.assumed:
        description += f" (assumed: {'; '.join(request.assumed)})"
    names = " and ".join(one.name for one in request.species)
    identity = Goal(properties=("smiles", "formula", "mass", "charge"))
    steps = (
        Step(number=1, agent="chemistry_agent", description=f"Identify {names}", goal=identity),
        Step(
            number=2, agent="md_agent", description=description, depends_on=(1,), goal=Goal(properties=("diffusion",))
        ),
        Step(
            number=3,
            agent="summary_agent",
            description="Write the report",
            depends_on=(1, 2),
            goal=Goal(properties=("diffusion",)),
        ),
    )
    title = " ".join(text.split())
    return Plan(title=title if len(title) <= 120 else f"{title[:119]}…", steps=steps), request.species


#: begins what the description of such a simulation says
AT_STRUCTURES = "; begins at the structures of step "


def at_structures(step: int) -> str:
    """Give what the description of a simulation says where its molecules begin at what an earlier step optimised."""
    return f"{AT_STRUCTURES}{step}"


def read_dynamics(text: str, max_atoms: int = DEFAULT_MAX_ATOMS, species: tuple[Species, ...] = ()) -> DynamicsRequest:
    """Read a request.

    Parameters
    ----------
    species
        The cations of a request that names none, because an earlier step finds them.

    Raises
    ------
    InputError
        If something is missing, contradicts itself, or asks for what nothing computes; naming all that is missing.
    """
    text = text.translate(_SIGNS)
    refuse_what_is_not_given(text)
    ions, solvent, plain = _ions_and_water(text)
    found, rest = find_molecules(plain, max_atoms)
    found = [one for one in found if one.name != "water"] or [Found(0, 0, s.name, s.smiles) for s in species]
    unread = Unread(rest, text)
    lambdas = take_hydration(plain, unread)
    waters = _waters(text, unread)
    counted = PAIRS.search(unread.text)
    counts = [_take_count(text, one.start, unread) for one in found]
    pairs = int(counted[1]) if counted and not all(counts) else None
    if counted and pairs:
        unread.blank(*counted.span())
    _refuse_molecules_as_solvents(text, found, counts)
    counter_ions = _counter_ions(text, unread)
    fields, assumed = take_settings(unread)
    temperatures = take_temperatures(unread)
    edges = take_box(unread)
    missing = []
    if not found and not solvent:
        missing.append("what is in the box (a cation by name or SMILES, or water)")
    if found and not all(counts) and not pairs:
        missing.append("how many cations (or pairs)")
    if not temperatures:
        missing.append("the temperature")
    if "production_ps" not in fields:
        missing.append("the length of the production")
    if missing:
        # "122 °F" is there, and is not read: that is more to the point than that it is missing.
        unread.refuse_numbers("request", _REMEDY, AMOUNT)
        raise InputError("request", text, f"does not say {', nor '.join(missing)}", EXAMPLE)
    if len(set(waters)) > 1:
        raise InputError("request", text, "names several numbers of water molecules", "Give one, or values of λ.")
    unread.refuse_numbers("request", _REMEDY)
    _refuse_unread_words(unread)
    system: dict[str, Any] = {"counter_ion": ions[0] if ions else "hydroxide", **edges}
    system |= {"water": waters[0]} if waters else {}
    system |= {"counter_ions": counter_ions} if counter_ions is not None else {}
    if found and not ions:
        assumed.append("hydroxide as counter-ion")
    named = to_species(found, max_atoms)
    species = named or to_species([Found(0, 0, "water", "O")])
    cations = [
        {"smiles": one.smiles, "name": one.name, "count": number or pairs}
        for one, number in zip(named, counts, strict=False)
    ]
    if not waters and not lambdas:
        assumed.append("as much water as fills the box")
    boxes = [cations] if not cations or _MIXTURE.search(text) else [[one] for one in cations]
    specs = []
    hydrations: list[float | None] = [*lambdas] or [None]
    for box in boxes:
        for value in hydrations:
            for temperature in temperatures:
                whole = {**system, "cations": box} | ({"waters_per_cation": value} if value is not None else {})
                data = {**fields, "kind": "dynamics", "system": whole, "temperature_kelvin": temperature}
                spec = parse_spec(data)
                assert isinstance(spec, DynamicsSpec)
                specs.append(complete_dynamics(spec, max_atoms))
    return DynamicsRequest(species=species, specs=tuple(specs), assumed=tuple(assumed))


def _ions_and_water(text: str) -> tuple[list[str], bool, str]:
    """Take counter-ions and water out of a text, so that what is left are the cations."""
    ions, water, rest = [], False, text
    for match in find_names(text):
        name = match.named.name
        if name == "water" or match.named.kind == "anion":
            water = water or name == "water"
            if match.named.kind == "anion":
                rest = rest[: match.start] + " " * (match.end - match.start) + rest[match.end :]
                ions += [name] if name not in ions else []
    if re.search(r"\b(?:aqueous|waters|water)\b", rest, re.IGNORECASE):
        water = True
    if len(ions) > 1:
        raise InputError("request", " and ".join(ions), "are several counter-ions", "One box has one of them.")
    known = get_args(CounterIon)
    if ions and ions[0] not in known:
        raise InputError("request", ions[0], "has no parameters as a counter-ion", f"Possible are {', '.join(known)}.")
    return ions, water, rest


def _waters(text: str, unread: Unread) -> list[int]:
    """Give the numbers of waters; their name is not in what is unread."""
    found = list(WATERS.finditer(text))
    for match in found:
        unread.blank(*match.span())
    return [int(match[1].replace(",", "")) for match in found]


def _take_count(text: str, place: int, unread: Unread) -> int | None:
    """Give the number before a molecule's name."""
    match = _COUNT.search(text[:place])
    if match is None:
        return None
    unread.blank(*match.span(1))
    return int(match[1])


def _refuse_molecules_as_solvents(text: str, found: list[Found], counts: list[int | None]) -> None:
    for one, count in zip(found, counts, strict=True):
        if not count and re.search(r"\b(?:in|into)\s+(?:pure\s+|liquid\s+)?$", text[: one.start]):
            raise InputError("request", f"in {one.name}", "is no solvent of a box", "The solvent of a box is water.")


def _counter_ions(text: str, unread: Unread) -> int | None:
    """Give the number of counter-ions if it is said of them, not of pairs."""
    for one in find_names(text):
        before, after = _COUNT.search(text[: one.start]), text[one.end :]
        if one.named.kind != "anion" or before is None or "pair" in before[0]:
            continue
        if not re.match(r"s?\s+(?:ion\s+)?pairs?\b", after, re.IGNORECASE):
            unread.blank(*before.span(1))
            return int(before[1])
    return None


def _refuse_unread_words(unread: Unread) -> None:
    """Raise InputError for another solvent than water, or a level of theory."""
    refuse_other_solvents(unread)
    if levels := level_mentions(unread.text):
        part = unread.text[levels[0].start : levels[0].end]
        remedy = "A simulation takes GAFF; ask for quantum chemistry in a sentence of its own."
        raise InputError("request", part, "is a level of theory, which a simulation does not have", remedy)
