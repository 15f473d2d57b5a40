"""How requests for a design say what candidates are judged by: a property, a bound or a range, and its unit."""

from __future__ import annotations

import re

from orchestrator.planning.unread import Unread, around
from tasks.errors import InputError
from tasks.swarms import DEFAULT_OBJECTIVES, Objective

_NUMBER = r"([-−]?\d+(?:\.\d+)?)"
_UNIT = (
    r"\s*(m?eV|[Hh]artrees?|Eh|kcal(?:\s?/\s?mol|\s?mol-1)?|kJ(?:\s?/\s?mol|\s?mol-1)?|m(?:mol|eq|equiv)\s?/\s?g|k?g\s?/\s?mol"
    r"|[Dd]a(?:ltons?)?|k[Dd]a|Å(?:3|³)?|A3|nm(?:3|³)|°C|K|%)?(?!\w)"
)
_EV = {"ev": 1.0, "mev": 1e-3, "hartree": 27.211386, "hartrees": 27.211386, "eh": 27.211386}
_KCAL = {"kcal": 1.0, "kj": 1 / 4.184, "ev": 23.060548}
_MMOL = {"mmol/g": 1.0, "meq/g": 1.0, "mequiv/g": 1.0}
_GRAM = {"g/mol": 1.0, "kg/mol": 1e3, "da": 1.0, "dalton": 1.0, "daltons": 1.0, "kda": 1e3}
_VOLUME = {"å3": 1.0, "å³": 1.0, "a3": 1.0, "nm3": 1e3, "nm³": 1e3}
#: property -> its words, how far outside of a range its desirability has fallen to zero, and its units
_RANGES: dict[str, tuple[str, float, dict[str, float]]] = {
    "lumo_ev": (r"lumos?", 1.0, _EV),
    "gap_ev": (r"(?:homo[-–/ ]lumo )?gaps?", 1.0, _EV),
    "sn2_barrier_kcal_per_mol": (r"(?:sn2 |hydroxide )?barriers?", 5.0, _KCAL),
    "iec_mmol_per_g": (r"iecs?|ion[- ]exchange capacit(?:y|ies)", 0.5, _MMOL),
    "logp": (r"log\s?p", 1.0, {}),
    "molar_mass_g_per_mol": (r"molar mass(?:es)?|molecular (?:weights?|mass(?:es)?)|mw", 50.0, _GRAM),
    "volume_cubic_angstrom": (r"volumes?", 40.0, _VOLUME),
}
_BETWEEN = rf"(?:between|from)\s+{_NUMBER}{_UNIT}\s*(?:and|to|-)\s+{_NUMBER}{_UNIT}"
_ABOVE = rf"(?:above|over|greater than|higher than|at least|more than|>=?|≥)\s*{_NUMBER}{_UNIT}"
_BELOW = rf"(?:below|under|less than|lower than|at most|<=?|≤)\s*{_NUMBER}{_UNIT}"
#: an unbounded wish for a barrier: what FACTS of the field span, Marino and Kreuer, ChemSusChem 8 (2015) 513
_BARRIER = Objective(property="sn2_barrier_kcal_per_mol", curve=((8.0, 0.0), (20.0, 1.0)), weight=2.0)
#: of these a swarm without a bound wants much, since its default objectives do
_WANTED_HIGH = ("lumo_ev", "gap_ev", "iec_mmol_per_g", "sn2_barrier_kcal_per_mol")
_LITTLE = r"(?:low(?:er|est)?|small(?:er|est)?|minim\w+|reduc\w+|decreas\w+|narrow(?:er|est)?|deep(?:er|est)?)"
_MUCH = r"(?:high(?:er|est)?|larg(?:e|er|est)|big(?:ger|gest)?|maxim\w+|increas\w+|wide(?:r|st)?)"


def take_objectives(text: str, unread: Unread) -> tuple[Objective, ...]:
    """Give the default objectives, with the ranges that a text states in their place, or added to them.

    Raises
    ------
    InputError
        If a range is none, its unit is none of the property, a number is no bound, or little or much is wanted of what
        has no bound.
    """
    found = {objective.property: objective for objective in DEFAULT_OBJECTIVES}
    for name, (words, margin, units) in _RANGES.items():
        property_ = rf"(?<![\w-])(?:{words})(?!\w)[^.;,\d<>≤≥]{{0,20}}?"
        if match := re.search(property_ + _BETWEEN, text, re.IGNORECASE):
            low, high = _value(match[1], match[2] or match[4], units, match), _value(match[3], match[4], units, match)
            if low > high:
                raise InputError(name, f"{low:g} to {high:g}", "is no range", "Give the lower bound first.")
            top = ((low, 1.0), (high, 1.0)) if high > low else ((low, 1.0),)
            curve = ((low - margin, 0.0), *top, (high + margin, 0.0))
        elif match := re.search(property_ + _ABOVE, text, re.IGNORECASE):
            low = _value(match[1], match[2], units, match)
            curve = ((low - margin, 0.0), (low, 1.0))
        elif match := re.search(property_ + _BELOW, text, re.IGNORECASE):
            high = _value(match[1], match[2], units, match)
            curve = ((high, 1.0), (high + margin, 0.0))
        else:
            _refuse_without_bound(name, words, text)
            if name == _BARRIER.property and re.search(rf"(?<!\w)(?:{words})(?!\w)", text, re.IGNORECASE):
                found[name] = _BARRIER
            continue
        unread.blank(*match.span())
        found[name] = Objective(property=name, curve=curve, weight=2.0)
    return tuple(found.values())


def _refuse_without_bound(name: str, words: str, text: str) -> None:
    wish = _LITTLE if name in _WANTED_HIGH else rf"(?:{_LITTLE}|{_MUCH})"
    pattern = (
        rf"(?<![\w-]){wish}\s+(?:\w+\s+)?(?:{words})(?!\w)|(?<![\w-])(?:{words})\s+(?:of|=|around|about|near)\s*\S*\d"
    )
    if match := re.search(pattern, text, re.IGNORECASE):
        remedy = "Give a bound, 'above' or 'below' a number or 'between' two, as in 'LUMO above -2 eV'."
        raise InputError(name, around(text, *match.span()), "says no bound that candidates are judged by", remedy)


def _value(number: str, unit: str | None, units: dict[str, float], match: re.Match[str]) -> float:
    """Give a number in the unit of its property; raises InputError for a unit that is none of it."""
    value = float(number.replace("−", "-"))
    if unit is None:
        return value
    key = re.sub(r"\s", "", unit.lower())
    factor = units.get(key) or units.get(re.match(r"[a-zåµ]*", key)[0])  # type: ignore[index]
    if factor is None:
        remedy = f"Give it in {', '.join(units)}." if units else "Give it without a unit."
        raise InputError("request", match[0], f"gives it in {unit}", remedy)
    return round(value * factor, 6)
