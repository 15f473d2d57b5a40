"""How requests for simulations say numbers: temperatures, lengths of time and of boxes, pressures, resources."""

from __future__ import annotations

import re
from typing import Any

from orchestrator.planning.unread import Unread
from tasks import units
from tasks.errors import InputError

_NUMBER = r"\d+(?:\.\d+)?"
_SIGNED = rf"(?<![\w.])[-+]?{_NUMBER}"
_UNIT = r"\s*(?:K|°C|kelvin)?\s*"
_AND = rf"(?:{_UNIT},?\s*(?:and|or|&)\s*(?:at\s+)?"
_LIST = rf"{_NUMBER}(?:\s*[,/]\s*{_NUMBER})*(?:\s*,?\s*(?:and|or|&)\s*{_NUMBER})?"
_SIGNED_LIST = rf"{_SIGNED}(?:{_UNIT}[,/]\s*[-+]?{_NUMBER})*{_AND}[-+]?{_NUMBER})?"
_TIME = r"(?:fs|ps|ns|[µu]s)"
_NM = r"(nm|Å|angstroms?)"
_KELVIN = r"K|kelvins?|°\s?C|degrees? [Cc](?:elsius)?|celsius|C"
TEMPERATURE = re.compile(rf"({_SIGNED_LIST})\s*({_KELVIN})(?![\w/])")
_ONE_TEMPERATURE = re.compile(rf"([-+]?{_NUMBER})\s*({_KELVIN})?")
RANGE = re.compile(
    rf"(?:between\s+({_SIGNED})\s*(?:{_KELVIN})?\s*and|({_SIGNED})\s*(?:{_KELVIN})?\s*(?:to|-|–|\.\.\.?))\s*"
    rf"([-+]?{_NUMBER})\s*({_KELVIN})(?![\w/])"
    rf"(?:\s*,?\s*(?:in|by|every)\s+(?:steps? of\s+)?({_NUMBER})\s*(?:K|°C|kelvin)?(?:\s+steps?)?)?"
)
# The list ends before what has a unit: "λ = 60, 300 K".
LAMBDA = re.compile(
    rf"(?:λ|\blambdas?\b|\bhydration (?:numbers?|levels?))\s*(?:values?)?\s*(?:=|:|of|is|at)?\s*({_LIST})"
    rf"(?![\d.]|\s*(?:{_KELVIN}|{_TIME}|bar|nm|Å)(?!\w)|\s*,?\s*(?:and|or|&)\s*\d)",
    re.IGNORECASE,
)
PER_CATION = re.compile(
    rf"({_LIST})\s+waters?(?:\s+molecules)?\s+(?:per|for each|a)\s+(?:cation|ion|pair|ion pair)", re.IGNORECASE
)
WATERS = re.compile(
    r"(?<![\w./])(\d[\d,]*)\s+(?:SPC/E\s+)?(?:waters?\b|H2O\b)(?:\s+molecules)?(?!\s+per)", re.IGNORECASE
)
_STAGE = r"((?:NVT|NPT)(?:\s*(?:and|,|/|\+)\s*(?:NVT|NPT))?)"
EQUILIBRATION = re.compile(
    rf"({_NUMBER}\s*{_TIME})\s*(?:of\s+|in\s+)?(?:{_STAGE}\b(?:\s+equilibrat\w+)?"
    rf"|(?:equilibration)\b(?:\s+(?:in|at)\s+(?:the\s+)?{_STAGE}\b)?)(?!\s+production)(?:\s+each)?"
    rf"|(?:{_STAGE}(?:\s+equilibrat\w+)?|equilibrat\w+(?:\s+(?:in|at)\s+(?:the\s+)?{_STAGE})?)"
    rf"\s*(?:for|of|:)?\s*({_NUMBER}\s*{_TIME})\b(?:\s+each)?",
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
EDGES = re.compile(
    rf"({_NUMBER})\s*(?:nm|Å)?\s*[x×*]\s*({_NUMBER})\s*(?:nm|Å)?\s*[x×*]\s*({_NUMBER})\s*{_NM}(?:³|3)?(?:\s+box)?",
    re.IGNORECASE,
)
BOX = re.compile(
    rf"(?:box|edge)\w*\s*(?:of|=|with an edge of|length of)?\s*({_NUMBER})[\s-]*{_NM}"
    rf"|({_NUMBER})[\s-]*{_NM}\s+(?:cubic\s+)?(?:box|edge)",
    re.IGNORECASE,
)
CUTOFF = re.compile(
    rf"cut-?\s?offs?\s*(?:of|=|:|at|is)?\s*({_NUMBER})\s*{_NM}|({_NUMBER})\s*{_NM}\s+cut-?\s?offs?", re.IGNORECASE
)
DENSITY = re.compile(rf"({_NUMBER})\s*g\s*/\s*(?:cm3|cm³|mL)", re.IGNORECASE)
PRESSURE = re.compile(rf"(?<![\w.])({_NUMBER})\s*((?i:bars?|atm|atmospheres?)|[kKM]?Pa)\b")
_BAR = {"bar": 1.0, "atm": 1.01325, "atmosphere": 1.01325, "pa": 1e-5, "kpa": 1e-2, "mpa": 10.0}
CORES = re.compile(r"(?<![\w.])(\d+)[\s-]+(?:cpu\s+)?cores?\b", re.IGNORECASE)
MEMORY = re.compile(rf"(?<![\w.])({_NUMBER}\s*[GMT]i?B)\b(?:\s+(?:of\s+)?(?:memory|ram))?", re.IGNORECASE)
SEED = re.compile(r"\b(?:random\s+)?seed\s*(?:number\s*)?(?:is|of|=|:)?\s*(\d+)", re.IGNORECASE)
PAIRS = re.compile(r"(?<![\w.])(\d+)\s+(?:ion\s+)?pairs?\b", re.IGNORECASE)
_NVT_PRODUCTION = re.compile(
    r"\bNVT\s+production|production\s+(?:run\s+)?(?:of\s+)?in\s+(?:the\s+)?NVT(?:\s+ensemble)?", re.IGNORECASE
)


def take_settings(unread: Unread) -> tuple[dict[str, Any], list[str]]:
    """Take lengths, time step, cut-off, pressure, seed and resources out of a text, as fields of a spec.

    Returns
    -------
    fields
        What is said.
    assumed
        What is not, and was filled in.

    Raises
    ------
    InputError
        If a stage is given two lengths, or NVT is named and it is not clear for what.
    """
    fields: dict[str, Any] = {}
    resources = {"cores": 2}
    if match := unread.take(TIME_STEP):
        fields["time_step_fs"] = float(match[1] or match[2])
    if match := unread.take(FRAMES):
        fields["frame_spacing_ps"] = match[1]
    if match := unread.take(WINDOW):
        fields["analysis"] = {"fit_window_ps": [f"{match[1]} {match[3]}", f"{match[2]} {match[3]}"]}
    while match := unread.take(EQUILIBRATION):
        length = match[1] or match[6]
        named = (match[2] or match[3] or match[4] or match[5] or "nvt npt").lower()
        for stage in ("nvt", "npt"):
            if stage in named and fields.setdefault(f"{stage}_ps", length) != length:
                problem = f"gives the {stage.upper()} stage a second length, beside {fields[f'{stage}_ps']}"
                raise InputError("request", match[0], problem, "Give one, as in '100 ps NVT, 200 ps NPT'.")
    if match := unread.take(LENGTH):
        fields["production_ps"] = match[1]
    if match := unread.take(CUTOFF):
        fields["cutoff_nm"] = _nanometres(match)
    if match := unread.take(PRESSURE):
        fields["pressure_bar"] = round(float(match[1]) * _BAR[match[2].lower().rstrip("s")], 9)
    if match := unread.take(SEED):
        fields["seed"] = int(match[1])
    resources |= take_resources(unread)
    if unread.take(_NVT_PRODUCTION):
        fields["ensemble"] = "NVT"
    elif match := re.search(r"\bNVT\b", unread.text, re.IGNORECASE):
        remedy = "Say '20 ps NVT equilibration', or 'production in NVT'."
        raise InputError("request", unread.part(match), "names NVT, not for which stage", remedy)
    assumed = [] if {"nvt_ps", "npt_ps"} & fields.keys() else ["100 ps NVT and 100 ps NPT before"]
    return {**fields, "resources": resources}, assumed


def take_resources(unread: Unread) -> dict[str, int]:
    """Take cores and memory (``cores``, ``memory_mb``) of each job out of a text."""
    found: dict[str, int] = {}
    if match := unread.take(CORES):
        found["cores"] = int(match[1])
    if match := unread.take(MEMORY):
        found["memory_mb"] = units.memory_mb(match[1])
    return found


def take_box(unread: Unread) -> dict[str, float]:
    """Take the edge and the density of the box out of a text.

    Raises
    ------
    InputError
        If its edges differ.
    """
    system: dict[str, float] = {}
    if match := unread.take(EDGES):
        if len({float(match[n]) for n in (1, 2, 3)}) > 1:
            raise InputError("request", match[0], "is no cube, and boxes are cubic", "Give one edge, as '4 nm box'.")
        system["edge_nm"] = float(match[3]) / (1 if match[4].lower() == "nm" else 10)
    elif match := unread.take(BOX):
        system["edge_nm"] = _nanometres(match)
    if match := unread.take(DENSITY):
        system["density_g_per_cm3"] = float(match[1])
    return system


def take_hydration(text: str, unread: Unread) -> list[float]:
    """Take the values of λ out of a text, in which water still has its name."""
    match = LAMBDA.search(text) or PER_CATION.search(text)
    if match is None:
        return []
    unread.blank(*match.span())
    return [float(number) for number in re.findall(_NUMBER, match[1])]


def take_temperatures(unread: Unread) -> list[float]:
    """Take all temperatures out of a text, in kelvin: a list, or a range with its step.

    Raises
    ------
    InputError
        If a range has no step or is none, or temperatures stand in two places and differ.
    """
    if match := unread.take(RANGE):
        low, high = float(match[1] or match[2]), float(match[3])
        remedy = "Give for example '300 to 360 K in steps of 20 K'; a box keeps one temperature."
        if match[5] is None:
            raise InputError("request", match[0], "is a range of temperatures without its step", remedy)
        step = float(match[5])
        if step <= 0 or high < low:
            raise InputError("request", match[0], "is no range of temperatures", remedy)
        values = [_kelvin(low + step * n, match[4]) for n in range(int((high - low) / step + 1e-9) + 1)]
        return list(dict.fromkeys(values))
    several = [
        tuple(dict.fromkeys(_kelvin(float(one[1]), one[2] or match[2]) for one in _ONE_TEMPERATURE.finditer(match[0])))
        for match in unread.take_all(TEMPERATURE)
    ]
    if len(set(several)) > 1:
        said = " and ".join(", ".join(f"{value:g} K" for value in values) for values in several)
        remedy = "All boxes are simulated alike: give all temperatures in one list, as 'at 300 and 350 K'."
        raise InputError("request", said, "stand in several places of the request", remedy)
    return list(several[0]) if several else []


def _kelvin(value: float, unit: str) -> float:
    return round(value + (0.0 if unit.startswith(("K", "k")) else 273.15), 2)


def _nanometres(match: re.Match[str]) -> float:
    length, unit = (match[1], match[2]) if match[1] else (match[3], match[4])
    return round(float(length) / (1 if unit.lower() == "nm" else 10), 9)
