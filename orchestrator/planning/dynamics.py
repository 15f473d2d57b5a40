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
from orchestrator.planning.molecules import Found, find_molecules, to_species
from orchestrator.planning.words import ELECTRONIC
from orchestrator.state import Goal, Plan, Species, Step
from tasks.dynamics import CounterIon, DynamicsSpec
from tasks.errors import InputError
from tasks.specs import parse_spec

EXAMPLE = (
    'Ask for example "Run MD of 8 N,N-dimethylpiperidinium hydroxide pairs in water at 353 K for 50 ps and plot the'
    ' MSD".'
)
_NUMBER = r"\d+(?:\.\d+)?"
_UNIT = r"\s*(?:K|°C|kelvin)?\s*"
_LIST = rf"{_NUMBER}(?:{_UNIT},\s*{_NUMBER})*(?:{_UNIT},?\s*(?:and|or|&)\s*{_NUMBER})?"
_TIME = r"(?:fs|ps|ns|[µu]s)"
TEMPERATURE = re.compile(rf"({_LIST})\s*(K|kelvin|°C|degrees? celsius|celsius|C)(?![\w/])")
RANGE = re.compile(
    rf"({_NUMBER})\s*(?:K|°C)?\s*(?:to|-|–)\s*({_NUMBER})\s*(K|°C|kelvin)\s*(?:,?\s*(?:in|by|every)\s+(?:steps? of\s+)?"
    rf"({_NUMBER})\s*(?:K|°C|kelvin)?(?:\s+steps?)?)",
    re.IGNORECASE,
)
LAMBDA = re.compile(
    rf"(?:λ|\blambdas?\b|\bhydration (?:numbers?|levels?))\s*(?:values?)?\s*(?:=|:|of|is|at)?\s*({_LIST})",
    re.IGNORECASE,
)
_PER_CATION = re.compile(
    rf"({_LIST})\s+waters?(?:\s+molecules)?\s+(?:per|for each|a)\s+(?:cation|ion|pair|ion pair)", re.IGNORECASE
)
_WATERS = re.compile(
    r"(?<![\w.])(\d[\d,]*)\s+(?:SPC/E\s+)?(?:waters?\b|H2O\b)(?:\s+molecules)?(?!\s+per)", re.IGNORECASE
)
EQUILIBRATION = re.compile(
    rf"(?:({_NUMBER}\s*{_TIME})\s*(?:of\s+|in\s+)?(NVT|NPT|equilibration)\b(?!\s+production))"
    rf"|(?:(NVT|NPT|equilibrat\w+)\s*(?:for|of|:)?\s*({_NUMBER}\s*{_TIME}))",
    re.IGNORECASE,
)
TIME_STEP = re.compile(
    rf"time[\s-]*steps?\s*(?:of|=|is)?\s*({_NUMBER})\s*fs|({_NUMBER})\s*fs\s+(?:time[\s-]*)?steps?", re.IGNORECASE
)
FRAMES = re.compile(
    rf"(?:frames?|output|snapshots?|written|save\w*)\s*(?:each|every)\s*({_NUMBER}\s*{_TIME})", re.IGNORECASE
)
WINDOW = re.compile(
    rf"\bfit\w*\s*(?:window\s*)?(?:of|from|between)?\s*({_NUMBER})\s*(?:ps|ns)?\s*(?:to|and|-|–)\s*({_NUMBER})\s*(ps|ns)",
    re.IGNORECASE,
)
LENGTH = re.compile(rf"(?<![\w.])({_NUMBER}\s*{_TIME})\b", re.IGNORECASE)
_BOX = re.compile(
    rf"(?:box|edge)\w*\s*(?:of|=|with an edge of|length of)?\s*({_NUMBER})\s*(nm|Å)"
    rf"|({_NUMBER})\s*(nm|Å)\s+(?:cubic\s+)?(?:box|edge)",
    re.IGNORECASE,
)
_CUTOFF = re.compile(rf"cut-?offs?\s*(?:of|=)?\s*({_NUMBER})\s*nm", re.IGNORECASE)
_DENSITY = re.compile(rf"({_NUMBER})\s*g\s*/\s*(?:cm3|cm³|mL)", re.IGNORECASE)
_PRESSURE = re.compile(rf"({_NUMBER})\s*(bar|atm)\b", re.IGNORECASE)
CORES = re.compile(r"(?<![\w.])(\d+)[\s-]+(?:cpu\s+)?cores?\b", re.IGNORECASE)
_MIXTURE = re.compile(r"\b(?:mixtures?|mixed|together|one box)\b", re.IGNORECASE)
_PAIRS = re.compile(r"(?<![\w.])(\d+)\s+(?:ion\s+)?pairs?\b", re.IGNORECASE)
_COUNT = re.compile(
    r"(?<![\w.\-])(\d+)\s+(?:(?:ion\s+)?pairs?\s+of\s+|(?:cations?|ions|molecules)\s+of\s+)?$", re.IGNORECASE
)
#: what people ask of a simulation that nothing gives yet
_NOT_COMPUTED = {
    "conductivity": re.compile(r"conductivit(?:y|ies)", re.IGNORECASE),
    "radial distribution functions": re.compile(
        r"\brdfs?\b|radial distributions?|coordination numbers?", re.IGNORECASE
    ),
    "water uptake and swelling": re.compile(r"water uptake|swelling", re.IGNORECASE),
    "polymers": re.compile(r"\b(?:polymers?|chains?|membranes?|degree of polymeri[sz]ation|DP)\b"),
    "hydrogen bonds": re.compile(r"hydrogen bonds?|h-?bonds?", re.IGNORECASE),
    "LAMMPS": re.compile(r"lammps", re.IGNORECASE),
}


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
    _refuse(text)
    ions, solvent, plain = _ions_and_water(text)
    found, rest = find_molecules(plain, max_atoms)
    found = [one for one in found if one.name != "water"] or [Found(0, 0, s.name, s.smiles) for s in species]
    # Places in the text stay what they are: what is taken out leaves blanks.
    hydration = LAMBDA.search(plain) or _PER_CATION.search(plain)
    lambdas = _numbers(hydration[1]) if hydration else []
    if hydration:
        rest = rest[: hydration.start()] + " " * len(hydration[0]) + rest[hydration.end() :]
    fields, assumed, rest = _stages(rest)
    counts = [_count(text, one) for one in found]
    pairs = int(match[1]) if (match := _PAIRS.search(rest)) else None
    temperatures = _temperatures(rest)
    waters = [int(match[1].replace(",", "")) for match in _WATERS.finditer(text)]
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
        raise InputError("request", text, f"does not say {', nor '.join(missing)}", EXAMPLE)
    if len(waters) > 1:
        raise InputError("request", text, "names several numbers of water molecules", "Give one, or values of λ.")
    system: dict[str, Any] = {"counter_ion": ions[0] if ions else "hydroxide"}
    system |= {"water": waters[0]} if waters else {}
    if found and not ions:
        assumed.append("hydroxide as counter-ion")
    if match := _BOX.search(rest):
        length, unit = (match[1], match[2]) if match[1] else (match[3], match[4])
        system["edge_nm"] = float(length) / (10 if unit == "Å" else 1)
    if match := _DENSITY.search(rest):
        system["density_g_per_cm3"] = float(match[1])
    named = to_species(found, max_atoms)
    species = named or to_species([Found(0, 0, "water", "O")])
    cations = [
        {"smiles": one.smiles, "name": one.name, "count": number or pairs}
        for one, number in zip(named, counts, strict=False)
    ]
    if not waters and not lambdas:
        assumed.append("as much water as fills the box")
    boxes = [cations] if not cations or _MIXTURE.search(rest) else [[one] for one in cations]
    fields["resources"] = {"cores": int(match[1]) if (match := CORES.search(rest)) else 2}
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


def _refuse(text: str) -> None:
    """Raise InputError for what no simulation gives, or what belongs into another request."""
    if re.search(r"\.(?:gro|pdb|top|itp)\b", text):
        problem = "speaks of files of your own, which a request in words cannot hand over"
        raise InputError("request", text, problem, "Submit a job of kind dynamics with files and inputs.")
    unknown = [name for name, words in _NOT_COMPUTED.items() if words.search(text)]
    if unknown:
        problem = f"asks for {' and '.join(unknown)}, which no agent computes yet"
        remedy = "What a simulation gives now: MSD, diffusion, density, temperature. Leave the rest out."
        raise InputError("request", text, problem, remedy)
    electronic = [
        name for name, words in ELECTRONIC.items() if name not in ("geometry", "charges") and words.search(text)
    ]
    if electronic:
        problem = f"asks for molecular dynamics and for {' and '.join(electronic)}"
        raise InputError("request", text, problem, "Ask for the one and the other in two requests.")


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


def _stages(rest: str) -> tuple[dict[str, Any], list[str], str]:
    """Read lengths, time step and what belongs to the stages; what was read is taken out of the text."""
    fields: dict[str, Any] = {}

    def take(pattern: re.Pattern[str]) -> re.Match[str] | None:
        nonlocal rest
        match = pattern.search(rest)
        if match:
            rest = rest[: match.start()] + " " * len(match[0]) + rest[match.end() :]
        return match

    if match := take(TIME_STEP):
        fields["time_step_fs"] = float(match[1] or match[2])
    if match := take(FRAMES):
        fields["frame_spacing_ps"] = match[1]
    if match := take(WINDOW):
        fields["analysis"] = {"fit_window_ps": [f"{match[1]} {match[3]}", f"{match[2]} {match[3]}"]}
    while match := take(EQUILIBRATION):
        length, stage = (match[1], match[2]) if match[1] else (match[4], match[3])
        for name in ("nvt", "npt") if stage.lower().startswith("equil") else (stage.lower(),):
            fields[f"{name}_ps"] = length
    if match := take(LENGTH):
        fields["production_ps"] = match[1]
    if match := take(_CUTOFF):
        fields["cutoff_nm"] = float(match[1])
    if match := take(_PRESSURE):
        fields["pressure_bar"] = float(match[1]) * (1.01325 if match[2].lower() == "atm" else 1.0)
    if re.search(r"\bNVT\s+production|production\s+(?:run\s+)?in\s+(?:the\s+)?NVT", rest, re.IGNORECASE):
        fields["ensemble"] = "NVT"
    assumed = [] if {"nvt_ps", "npt_ps"} & fields.keys() else ["100 ps NVT and 100 ps NPT before"]
    return fields, assumed, rest


def _count(text: str, found: Found) -> int | None:
    match = _COUNT.search(text[: found.start])
    return int(match[1]) if match else None


def _numbers(text: str) -> list[float]:
    return [float(number) for number in re.findall(_NUMBER, text)]


def _temperatures(rest: str) -> list[float]:
    """Give all temperatures in kelvin: a list, or a range with its step."""
    if match := RANGE.search(rest):
        low, high, step = float(match[1]), float(match[2]), float(match[4])
        if step <= 0 or high < low:
            raise InputError(
                "request", match[0], "is no range of temperatures", "Give for example '300 to 360 K in steps of 20 K'."
            )
        values = [low + step * number for number in range(int((high - low) / step + 1e-9) + 1)]
        celsius = match[3].startswith("°")
    elif match := TEMPERATURE.search(rest):
        values, celsius = _numbers(match[1]), match[2].lower() not in ("k", "kelvin")
    else:
        return []
    return [round(value + (273.15 if celsius else 0.0), 2) for value in dict.fromkeys(values)]
