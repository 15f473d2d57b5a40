"""What a person wants changed in a simulation, as a new request: a whole sentence, or other numbers in the old one."""

from __future__ import annotations

import re

from orchestrator.planning import dynamics_words as words
from orchestrator.planning.dynamics import read_dynamics
from orchestrator.planning.unread import Unread
from tasks.errors import InputError

#: in this order, since a length of time is also part of what is said about equilibration, frames and fits
_NUMBERS = (
    (words.TIME_STEP,),
    (words.FRAMES,),
    (words.WINDOW,),
    (words.EQUILIBRATION,),
    (words.LAMBDA, words.PER_CATION),
    (words.WATERS,),
    (words.RANGE, words.TEMPERATURE),  # either takes the place of the other
    (words.LENGTH,),
    (words.CUTOFF,),
    (words.EDGES, words.BOX),
    (words.DENSITY,),
    (words.PRESSURE,),
    (words.SEED,),
    (words.CORES,),
    (words.MEMORY,),
)
#: "8 DMP hydroxide pairs": the number stands before the names
_COUNTED = re.compile(r"(?<![\w.\-])(\d+)(?=\s+(?:\S*[^\s,;]\s+){0,4}?pairs?\b)", re.IGNORECASE)


def reworded(request: str, feedback: str) -> str:
    """Give the request with what the feedback says in place of what it said; unchanged if that is nothing.

    A feedback that is a whole request by itself takes its place.
    """
    try:
        read_dynamics(feedback)
    except InputError:
        return _with_numbers(request, feedback)
    return feedback


def unread_by_simulations(feedback: str) -> Unread:
    """Give what of a feedback ``reworded`` does not read."""
    unread = Unread(feedback)
    try:
        read_dynamics(feedback)
    except InputError:
        for patterns in (*_NUMBERS, (words.PAIRS,)):
            if match := _first(patterns, unread.text):
                unread.blank(*match.span())
    else:
        unread.blank(0, len(feedback))
    return unread


def without_conditions(feedback: str) -> str:
    """Give a feedback without its temperatures and pressures, at equal length."""
    for pattern in (words.RANGE, words.TEMPERATURE, words.PRESSURE):
        feedback = pattern.sub(lambda match: " " * len(match[0]), feedback)
    return feedback


def _with_numbers(request: str, feedback: str) -> str:
    changes: list[tuple[int, int, str]] = []
    added: list[str] = []
    before, said = request, feedback
    for patterns in _NUMBERS:
        old, new = _first(patterns, before), _first(patterns, said)
        if old:
            before = _blanked(before, old)
        if new:
            said = _blanked(said, new)
            if old:
                changes.append((*old.span(), new[0]))
            else:
                added.append(new[0].strip())
    if pairs := _first((words.PAIRS,), said):
        counts = list(_COUNTED.finditer(before))
        if len(counts) == 1:
            changes.append((*counts[0].span(1), pairs[1]))
        else:
            added.append(pairs[0].strip())
    text = request
    for start, end, new_text in sorted(changes, reverse=True):
        text = text[:start] + new_text + text[end:]
    return ", ".join([text.rstrip(" ."), *added]) if added else text


def _first(patterns: tuple[re.Pattern[str], ...], text: str) -> re.Match[str] | None:
    return next((match for pattern in patterns if (match := pattern.search(text))), None)


def _blanked(text: str, match: re.Match[str]) -> str:
    return text[: match.start()] + " " * len(match[0]) + text[match.end() :]
