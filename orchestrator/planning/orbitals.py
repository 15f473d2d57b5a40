"""Which orbitals a request names: HOMO and LUMO, those below and above them, numbers, lists and ranges of them."""

from __future__ import annotations

import re

from orchestrator.planning.unread import Unread
from tasks.errors import InputError
from tasks.wavefunctions import MAX_ORBITALS

_NAME = r"(?:\b(?:homo|lumo)\b(?:\s*[-+−]\s*\d+(?![\d.]*\s*m?ev\b|\.\d))?)"
_TO = r"\s*(?:up\s+to|down\s+to|to|through|until|[-–—]|…|\.\.\.?)\s*(?:the\s+)?"
_ONE = re.compile(r"\b(homo|lumo)\b(?:\s*([-+−])\s*(\d+)(?![\d.]*\s*m?ev\b|\.\d))?", re.IGNORECASE)
_RANGE = re.compile(rf"({_NAME}){_TO}({_NAME})", re.IGNORECASE)
_NUMBERS = re.compile(
    r"\b(?:orbitals?|mos?)\s+(?:numbers?\s+|nos?\.?\s+|#)?(\d+(?:(?:\s*(?:,|and|&|to|through|[-–])\s*)+\d+)*)(?!\w|\.\d)",
    re.IGNORECASE,
)
_ISOVALUE = re.compile(
    r"\b(?:iso-?\s?(?:surface\s+)?values?|contour\s+(?:values?|levels?))\s*(?:of|=|:|at|is)?\s*(\d*\.?\d+)"
    r"|(?<![\w.])(\d*\.\d+)\s+(?:iso-?\s?values?|contours?)",
    re.IGNORECASE,
)
_SAYS_ISOVALUE = re.compile(r"\biso-?\s?values?\b", re.IGNORECASE)
_SPIN = re.compile(
    r"\b(?:alpha|beta|spin[- ](?:up|down))[- ](?:spin\s+)?(?:homo|lumo|orbitals?)|\bsomos?\b"
    r"|\b(?:homo|lumo)\s*(?:[-+−]\s*\d+)?\s*[,(]?\s*(?:alpha|beta)\b",
    re.IGNORECASE,
)
_REMEDY = "Name HOMO, LUMO, HOMO-1, LUMO+2, or numbers from 1 as in 'orbitals 10 and 11'."


def take_orbitals(unread: Unread) -> tuple[str, ...]:
    """Take the orbitals out of a text that are more than the HOMO and the LUMO; give all that it names, in its order.

    The words HOMO and LUMO by themselves are left, since they are properties of molecules too.

    Raises
    ------
    InputError
        If an orbital is named by the other side of the gap, by its spin, or there are more than one job takes.
    """
    if match := _SPIN.search(unread.text):
        raise InputError("orbitals", match[0], "is named by its spin, which a request in words cannot do yet", _REMEDY)
    named: list[tuple[int, list[str]]] = []
    for match in unread.take_all(_RANGE):
        low, high = sorted(_level(_ONE.search(match[n]), match[n]) for n in (1, 2))
        named.append((match.start(), [_name(level) for level in range(low, high + 1)]))
        if not any(character.isdigit() for character in match[0]):
            # "HOMO-LUMO" is no more than both.
            unread.text = f"{unread.text[: match.start()]}{match[0]}{unread.text[match.end() :]}"
    for match in unread.take_all(_NUMBERS):
        named.append((match.start(), _listed(match[1])))
    for match in list(_ONE.finditer(unread.text)):
        named.append((match.start(), [_name(_level(match, match[0]))]))
        if match[3]:
            unread.blank(*match.span())
    orbitals = tuple(dict.fromkeys(orbital for _, several in sorted(named) for orbital in several))
    if len(orbitals) > MAX_ORBITALS:
        raise InputError("orbitals", len(orbitals), f"are more than the {MAX_ORBITALS} of one job", "Name fewer.")
    return orbitals


def take_isovalue(unread: Unread) -> float | None:
    """Take the isovalue of pictures out of a text, in e^(1/2) bohr^(-3/2); raises InputError if it is no number."""
    match = unread.take(_ISOVALUE)
    if match is None:
        if said := _SAYS_ISOVALUE.search(unread.text):
            raise InputError("isovalue", unread.part(said), "gives no isovalue", "Say it as in 'isovalue of 0.02'.")
        return None
    value = float(match[1] or match[2])
    if not 0.001 <= value <= 5:
        raise InputError("isovalue", value, "is not between 0.001 and 5", "Usual are 0.02 to 0.05.")
    return value


def _level(match: re.Match[str] | None, said: str) -> int:
    """Give how far an orbital is above the HOMO; the LUMO is 1."""
    if match is None:
        raise TypeError(f"{said!r} is no orbital")
    count = int(match[3] or 0)
    upwards = match[1].upper() == "LUMO"
    if count and (match[2] == "+") != upwards:
        other = _name(1 - count if upwards else count)
        raise InputError(
            "orbitals", said, f"is the {other}, if it is counted across the gap", f"Say {other}. {_REMEDY}"
        )
    return 1 + count if upwards else -count


def _name(level: int) -> str:
    below = f"HOMO{level}" if level else "HOMO"
    above = f"LUMO+{level - 1}" if level > 1 else "LUMO"
    return above if level > 0 else below


def _listed(text: str) -> list[str]:
    """Give the numbers of a list such as "8, 10 to 12 and 14"."""
    found: list[str] = []
    for match in re.finditer(r"(\d+)(?:\s*(?:to|through|[-–])\s*(\d+))?", text):
        last = int(match[2] or match[1])
        if not 1 <= int(match[1]) <= last or last - int(match[1]) > MAX_ORBITALS:
            raise InputError("orbitals", match[0], "is no range of orbitals that one job takes", _REMEDY)
        found += [str(number) for number in range(int(match[1]), last + 1)]
    return found
