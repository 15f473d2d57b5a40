"""Reading a request: which molecules, which properties, at which level, and what is asked that nothing computes yet."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from orchestrator.chemistry.complete import check_identity
from orchestrator.chemistry.molecules import DEFAULT_MAX_ATOMS, identify
from orchestrator.planning.changed import refuse_changed, refuse_other_ion
from orchestrator.planning.conditions import Conditions, take_conditions
from orchestrator.planning.levels import Level, read_level, take_solvent
from orchestrator.planning.molecules import Found, Unknown, UnknownName, find_molecules, to_species
from orchestrator.planning.words import (
    COMPARE,
    ELECTRONIC,
    FORCE_FIELD_STRUCTURE,
    IDENTITY,
    NO_OPTIMISATION,
    NOT_COMPUTED,
    OPERATIONS,
    OPTIMISE,
    ORBITAL_ENERGY,
    THERMAL,
    THERMAL_ENERGY,
    VERBS,
)
from orchestrator.state import Species
from tasks.errors import InputError

EXAMPLE = 'Ask for example "Compare the HOMO and LUMO energies of tetramethylammonium and N,N-dimethylpiperidinium".'
#: the longest request that is read
MAX_CHARACTERS = 20_000
_NUMBERS = {"one": 1, "two": 2, "three": 3, "four": 4, "six": 6, "eight": 8, "twelve": 12, "sixteen": 16}
_CORES = re.compile(rf"(?<![\w.])(-?\d+|{'|'.join(_NUMBERS)})[\s-]+(?:cpu\s+)?cores?\b", re.IGNORECASE)
_MEMORY = re.compile(r"\b\d+(?:\.\d+)?\s*[GMT]i?B\b", re.IGNORECASE)
_SIGNS = str.maketrans({"⁺": "+", "⁻": "-", "−": "-", "‐": "-", "‑": "-", "’": "'", "‘": "'", "\u00a0": " "})
_SMILES_ASKED = re.compile(
    r"canonical|isomeric|smiles (?:of|for)|\b(?:to|into|as|in) (?:an? |its )?smiles", re.IGNORECASE
)
_JOIN = r"\s*(?:,\s*(?:and|or)?|&|and|or|vs\.?|versus|with)\s+"
#: a word that may be a name, and the second word that many names have
_UNKNOWN = (
    r"(?:the\s+)?((?:\d[\d,]*-)?[A-Za-z][\w\-]*)"
    r"(?:\s+(?:acid|ether|ester|(?:per)?oxide|anhydride|alcohol|glycol|carbonate|acetate|chloride|bromide|fluoride"
    r"|iodide|amine|amide|ketone|sul(?:ph|f)(?:ate|ide|oxide|one)|nitrate|phosphate|hydroxide|cyanide))?"
)
#: words that may stand beside a molecule in a list without being one
_ORDINARY = frozenset(
    "a an and as at by for from give given homo i in it its lumo me my no of on or our please report show tell that the"
    " their them then there these they this to us using via what when where which while why with without also both"
    " explain discuss interpret plot list rank tabulate write print say state describe summarise summarize energies"
    " energy gap gaps levels values value properties results result dft xtb scf cation cations anion anions ion ions"
    " molecule molecules difference differences between each all others respectively is are has have"
    " afterwards afterward thereafter finally lastly next"
    " meanwhile subsequently please cite search simulate visualise visualize render draw".split()
)  # fmt: skip


_SPINS = {
    "singlet": 1, "closed-shell": 1, "closed shell": 1, "doublet": 2, "triplet": 3, "quartet": 4, "quintet": 5,
    "sextet": 6, "septet": 7,
}  # fmt: skip
_SPIN = re.compile(rf"\b(?:{'|'.join(_SPINS)})\b(?![- ]triplet)(?<!singlet[- ]triplet)", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Request:
    """What a request asks for.

    Attributes
    ----------
    text
        As it was written.
    rest
        The words without molecules, solvent and level, for the rules of complexity and routing.
    electronic
        Properties that need a simulation: ``homo``, ``lumo``, ``gap``, ``energy``, ``dipole``, ``charges``,
        ``geometry``, ``frequencies``, ``zero_point``, ``enthalpy``, ``entropy``, ``gibbs``.
    identity
        Properties that the SMILES alone gives: ``formula``, ``mass``, ``charge``, ``structure``, …
    optimise
        Whether an optimisation is asked for by word; None if the request says there shall be none.
    not_computed
        What is asked for that nothing computes yet.
    charge, multiplicity
        As the request states them; checked against the SMILES.
    cores, memory
        Resources of each job as the request states them (``4``, ``2 GB``); None: not stated.
    """

    text: str
    rest: str
    species: tuple[Species, ...]
    electronic: tuple[str, ...]
    identity: tuple[str, ...]
    level: Level
    compare: bool
    optimise: bool | None
    not_computed: tuple[str, ...]
    charge: int | None = None
    multiplicity: int | None = None
    cores: int | None = None
    memory: str | None = None
    #: what is done besides identifying: ``selfies``, ``similarity``, ``descriptors``, …
    operations: tuple[str, ...] = ()


def read_request(text: str, max_atoms: int = DEFAULT_MAX_ATOMS) -> Request:
    """Read a request.

    Raises
    ------
    InputError
        If it is empty, or something in it is meant as a molecule, method, basis, solvent or engine and is none.
    """
    check_length(text)
    plain = text.translate(_SIGNS)
    conditions, plain = take_conditions(plain)
    whole = plain
    solvent, plain = take_solvent(plain)
    if conditions.solvent_model and not solvent:
        remedy = "Name the solvent too, such as 'in water'."
        raise InputError("solvent_model", conditions.solvent_model, "is named without a solvent", remedy)
    found, rest = find_molecules(plain, max_atoms)
    if solvent and not found and not any(_properties(rest, False)[0]):
        # "How many carbon atoms are in toluene" has no solvent.
        solvent = None
        found, rest = find_molecules(whole, max_atoms)
    _refuse_unknown_neighbours(rest, found)
    level, rest = read_level(rest)
    charge, multiplicity = _stated_charge(rest), _stated_multiplicity(rest)
    species = tuple(
        s.model_copy(update={"multiplicity": multiplicity or s.multiplicity}) for s in to_species(found, max_atoms)
    )
    for one in species:
        check_identity(identify(one.smiles, max_atoms=max_atoms), charge, multiplicity)
    refuse_changed(rest, bool(species))
    for molecule in found:
        identity_of = identify(molecule.smiles, max_atoms=max_atoms)
        refuse_other_ion(rest, molecule.end, molecule.name or identity_of.smiles, identity_of.charge)
    electronic, identity = _properties(rest, bool(species))
    if not THERMAL & set(electronic):
        _refuse_unused(conditions)
    return Request(
        text=text,
        rest=rest,
        species=species,
        electronic=electronic,
        identity=identity,
        level=replace(
            level,
            solvent=solvent,
            solvent_model=conditions.solvent_model,
            temperature_kelvin=conditions.temperature_kelvin,
            pressure_pascal=conditions.pressure_pascal,
        ),
        compare=bool(COMPARE.search(rest)),
        optimise=None if NO_OPTIMISATION.search(rest) else bool(OPTIMISE.search(rest)),
        not_computed=tuple(name for name, words in NOT_COMPUTED.items() if words.search(rest)),
        cores=_NUMBERS.get(cores[1].lower()) or int(cores[1]) if (cores := _CORES.search(rest)) else None,
        memory=memory[0] if (memory := _MEMORY.search(rest)) else None,
        charge=charge,
        multiplicity=multiplicity,
        operations=tuple(name for name, words in OPERATIONS.items() if words.search(rest)),
    )


def check_length(text: str) -> None:
    """Raise InputError for a request that is empty, or too long to be one."""
    if not text.strip():
        raise InputError("request", text, "is empty", EXAMPLE)
    if len(text) > MAX_CHARACTERS:
        remedy = "Give the molecules of a large set as a file, as a batch."
        raise InputError("request", f"{len(text)} characters", "is too long", remedy)


def _refuse_unused(conditions: Conditions) -> None:
    """Raise InputError for a temperature or pressure that nothing asked for depends on."""
    for field, value in (("temperature", conditions.temperature_kelvin), ("pressure", conditions.pressure_pascal)):
        if value is not None:
            remedy = "It enters enthalpies, entropies and Gibbs energies: ask for these, or leave it out."
            raise InputError(field, value, "has no meaning for what is asked", remedy)


def _stated_charge(rest: str) -> int | None:
    match = re.search(r"\bcharged?\s*(?:is|of|=|:)?\s*([+-]?\d+)\b(?!\s*(?:atoms?|cores?|%))", rest, re.IGNORECASE)
    return int(match[1]) if match else None


def _stated_multiplicity(rest: str) -> int | None:
    if match := re.search(r"\bmultiplicity\s*(?:is|of|=|:)?\s*(\d+)\b", rest, re.IGNORECASE):
        return int(match[1])
    found = {match[0].lower(): _SPINS[match[0].lower()] for match in _SPIN.finditer(rest)}
    if len(set(found.values())) > 1:
        problem, remedy = "are several spin states", "Ask for one of them in one request, and compare its results."
        raise InputError("multiplicity", " and ".join(found), problem, remedy)
    return next(iter(found.values()), None)


def _properties(rest: str, named: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Give the electronic and the identity properties that a text names."""
    identity = [name for name, words in IDENTITY.items() if words.search(rest)]
    # "3D geometry" is a force-field structure, and "HOMO energies" are no total energies.
    without = NO_OPTIMISATION.sub(" ", FORCE_FIELD_STRUCTURE.sub(" ", rest))
    electronic = [
        name
        for name, words in ELECTRONIC.items()
        if words.search(THERMAL_ENERGY.sub(" ", ORBITAL_ENERGY.sub(" ", without)) if name == "energy" else without)
    ]
    if "smiles" in identity and not _SMILES_ASKED.search(rest):
        # The word only introduces a molecule.
        identity.remove("smiles")
    if not identity and not electronic and named and re.search(r"\bweights?\b", rest, re.IGNORECASE):
        identity.append("mass")
    return tuple(electronic), tuple(identity)


def _refuse_unknown_neighbours(rest: str, found: list[Found]) -> None:
    """Raise InputError for a word that stands in a list of molecules and is none that is known."""
    for molecule in found:
        after = re.match(
            rf"{_JOIN}{_UNKNOWN}(?=\s*(?:[.,;?!]|$)|\s+(?:at|in|with|using|by|and)\b)", rest[molecule.end :]
        )
        before = re.search(
            rf"(?:\b(?:of|for|between|compare)\s+|,\s*){_UNKNOWN}{_JOIN}(?:the\s+)?$",
            rest[: molecule.start],
            re.IGNORECASE,
        )
        for match in (match for match in (after, before) if match):
            word, offset = match[1], molecule.end if match is after else 0
            # "caffeine, 'Cn1…'" only says what the one SMILES is.
            named = len(found) == 1 and not molecule.name and before is not None and word == before[1]
            if is_ordinary(word) or (named and rest[: molecule.start].rstrip(" '\"`").endswith(",")):
                continue
            remedy = "Give its SMILES in quotes, or take it out of the list."
            unknown = Unknown(word, rest[: offset + match.start(1)], rest[offset + match.end(1) :])
            raise UnknownName(unknown, "stands in the list of molecules and is no name that is known", remedy)


def is_ordinary(word: str) -> bool:
    """Tell whether a word can stand beside molecules, or where one could, without being meant as one."""
    if word.lower() in _ORDINARY or word.lower().endswith(("ly", "ing")):
        return True
    tables = (*VERBS.values(), *ELECTRONIC.values(), *IDENTITY.values(), *NOT_COMPUTED.values(), *OPERATIONS.values())
    tables = (*tables, COMPARE, OPTIMISE)
    if any(words.fullmatch(word) for words in tables):
        return True
    try:
        read_level(f"at {word} ")
    except InputError:
        return True
    return read_level(word)[0] != Level()
