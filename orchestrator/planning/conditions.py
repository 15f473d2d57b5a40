"""What a request says about dispersion, solvent model, temperature and pressure; each is taken out of the text."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeVar

from tasks.errors import InputError

T = TypeVar("T")

#: bond of a name and its correction (B3LYP-D3BJ), or a word by itself
DISPERSION = re.compile(
    r"(?:(?<=[\w)])-|(?<![\w-])(?:(?:with|plus|including)\s+(?:the\s+)?)?)"
    r"(?:grimme(?:'s)?\s+)?(d3[\s-]?\(bj\)|d3[\s-]?bj|d4|d3|d2)(?![\w(])(?:[\s-]+dispersion)?(?:\s+corrections?)?",
    re.IGNORECASE,
)
_ANY_DISPERSION = re.compile(
    r"(?:with\s+(?:a\s+|the\s+)?|including\s+)?dispersion(?:[\s-]+correct(?:ions?|ed))?(?!\w)", re.IGNORECASE
)
_MODEL = re.compile(
    r"(?<![\w-])(?:(?:with|using|by)\s+)?(?:the\s+)?(smd|c-?pcm|alpb)(?![\w-])(?:\s+(?:implicit|continuum|solvation))*"
    r"(?:\s+(?:solvent\s+)?model)?",
    re.IGNORECASE,
)
#: SMD(water): the name of the solvent then stands as after "in"
_MODEL_CALL = re.compile(r"(?<![\w-])(smd|c-?pcm|alpb)\s*\(\s*(?:solvent\s*=\s*)?([\w-]+)\s*\)", re.IGNORECASE)
_NUMBER = r"-?\d+(?:\.\d+)?"
#: numbers that share the unit behind the last one: "298, 323 and 353 K" after a word that announces them, "300-400 K"
_SERIES = (
    rf"(?:(?<![\w.])(?:at|from|between|for|over|temperatures?(?:\s+of)?|pressures?(?:\s+of)?|t\s*=|p\s*=)\s+"
    rf"({_NUMBER}(?:\s*(?:,\s*and|,|and|or|to|through|[-–/])\s*{_NUMBER})*)"
    rf"|(?<![\w.])({_NUMBER}(?:\s*(?:to|through|[-–/])\s*\d+(?:\.\d+)?)*))"
)
_TEMPERATURE = re.compile(
    rf"{_SERIES}\s*(k|kelvins?|°\s?c|degrees?\s+c(?:elsius)?|celsius|°\s?f|degrees?\s+f(?:ahrenheit)?|fahrenheit)(?!\w)",
    re.IGNORECASE,
)
_PRESSURE = re.compile(rf"{_SERIES}\s*(bars?|atm|atmospheres?|[km]?pa|pascals?)(?!\w)", re.IGNORECASE)
#: "at 50 degrees": of which scale?
_BARE_DEGREES = re.compile(rf"\bat\s+{_NUMBER}\s*(?:°|degrees?\b)(?!\s*(?:of|[cfk]\b))", re.IGNORECASE)
_WITHOUT_DISPERSION = re.compile(
    r"\b(?:without|no|not|minus|excluding)\s+(?:any\s+|the\s+|an?\s+)?(?:grimme(?:'s)?\s+)?"
    r"(?:(?:d[234][\w()-]*)(?:\s+dispersion)?|dispersion)(?:[\s-]+correct(?:ions?|ed))?(?![\w(])",
    re.IGNORECASE,
)
_PASCAL = {"bar": 1e5, "atm": 101_325.0, "atmosphere": 101_325.0, "pa": 1.0, "pascal": 1.0, "kpa": 1e3, "mpa": 1e6}


@dataclass(frozen=True, kw_only=True)
class Conditions:
    """What a request says besides method, basis and solvent; None: nothing."""

    dispersion: str | None = None
    solvent_model: str | None = None
    temperature_kelvin: float | None = None
    pressure_pascal: float | None = None


def take_conditions(text: str) -> tuple[Conditions, str]:
    """Find solvent model, temperature and pressure; give them, and the text without them at equal length.

    Raises
    ------
    InputError
        If several solvent models, temperatures or pressures are named.
    """
    text = _MODEL_CALL.sub(lambda match: f"{match[1]} in {match[2]}".ljust(len(match[0])), text)
    if degrees := _BARE_DEGREES.search(text):
        remedy = "Say K or °C."
        raise InputError("temperature", degrees[0].removeprefix("at ").strip(), "does not say of which scale", remedy)
    models = {match[1].upper().replace("C-PCM", "CPCM") for match in _MODEL.finditer(text)}
    temperatures = {_kelvin(value, match[3]) for match in _TEMPERATURE.finditer(text) for value in _values(match)}
    units = ((value, match[3].lower().rstrip("s")) for match in _PRESSURE.finditer(text) for value in _values(match))
    pressures = {value * _PASCAL[unit] for value, unit in units}
    conditions = Conditions(
        solvent_model=_one("solvent_model", models),
        temperature_kelvin=_one("temperature", temperatures),
        pressure_pascal=_one("pressure", pressures),
    )
    for pattern in (_MODEL, _TEMPERATURE, _PRESSURE):
        text = pattern.sub(lambda match: " " * len(match[0]), text)
    return conditions, text


def take_dispersion(text: str) -> tuple[str | None, str]:
    """Find the dispersion correction; give it, and the text without it; empty: it says that there is to be none.

    Dispersion without saying which is D3BJ, which has parameters for most functionals.

    Raises
    ------
    InputError
        If several are named, or one that is not offered.
    """
    without = _WITHOUT_DISPERSION.search(text)
    text = _WITHOUT_DISPERSION.sub(lambda match: " " * len(match[0]), text)
    named = {"D3BJ" if "BJ" in (word := match[1].upper()) else word for match in DISPERSION.finditer(text)}
    found = _one("dispersion", named)
    if found not in (None, "D3BJ", "D4"):
        raise InputError("dispersion", found, "is not offered by that name", "Say D3BJ (or D3(BJ)), or D4.")
    text = DISPERSION.sub("", text)
    if found is None and _ANY_DISPERSION.search(text):
        found = "D3BJ"
    if found and without:
        raise InputError("dispersion", found, "is asked for, and none as well", "Ask for one of them in one request.")
    return "" if without else found, _ANY_DISPERSION.sub("", text)


def _values(match: re.Match[str]) -> list[float]:
    """Give the numbers of a series; a hyphen between two of them is no sign."""
    numbers = re.findall(r"(?<![\d.])-?\d+(?:\.\d+)?", match[1] or match[2])
    return [float(number) if i == 0 else abs(float(number)) for i, number in enumerate(numbers)]


def _kelvin(value: float, unit: str) -> float:
    scale = re.sub(r"[^a-z]|degrees?", "", unit.lower())[:1]
    if scale == "f":
        return round((value - 32) / 1.8 + 273.15, 2)
    return value if scale == "k" else round(value + 273.15, 2)


def _one(field: str, found: set[T]) -> T | None:
    if len(found) > 1:
        values = " and ".join(sorted(map(str, found)))
        raise InputError(field, values, "are several", "Ask for one of them in one request.")
    return next(iter(found), None)
