"""What a model writes for an agent, while it writes it: its text so far, what of it may be told, and what it wishes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from orchestrator.model.numbers import sentences
from orchestrator.state import Event
from orchestrator.stream.actions import Emission

#: an array of texts and actions begins, and what may still become one
_ARRAY = re.compile(r"\s*(?:```\w*\s*)?\[\s*[{\]]")
_MAYBE_ARRAY = re.compile(r"\s*(?:`{0,3}|```\w*\s*)(?:\[\s*)?")
#: a word that no check could find anything in: letters, with marks around them
_PLAIN = re.compile(r"[(\"“‘]*[^\W\d_]+(?:['’‑-][^\W\d_]+)*[)\"”’,;:]*[.!?]?")


class Draft:
    """Reads an answer piece by piece: plain sentences, or an array of texts and actions (``stream.parser``).

    Attributes
    ----------
    text
        What it says, without the array around it.
    wishes, dropped
        Events of actions that the agent may wish for, and of what it may not, or of what could not be read.
    """

    def __init__(self, agent: str, key: str, step: int = 0) -> None:
        self._emission = Emission(agent, key, step)
        self._raw = ""
        self._is_array: bool | None = None
        self._item = 0
        self.text = ""
        self.wishes: list[Event] = []
        self.dropped: list[Event] = []

    def feed(self, piece: str) -> None:
        """Take a further piece."""
        self._raw += piece
        if self._is_array is None:
            if _ARRAY.match(self._raw):
                self._is_array = True
            elif not _MAYBE_ARRAY.fullmatch(self._raw):
                self._is_array = False
            piece = self._raw
        if self._is_array is not None:
            self._take(piece)

    def close(self) -> None:
        """Say that it has ended."""
        if self._is_array is None:
            self._take(self._raw)
        elif self._is_array:
            self._sort(self._emission.close())

    def _take(self, piece: str) -> None:
        if self._is_array:
            self._sort(self._emission.feed(piece))
        else:
            self.text += piece

    def _sort(self, events: tuple[Event, ...]) -> None:
        for event in events:
            if event.kind == "text_delta":
                data: dict[str, Any] = event.data
                self.text += data["text"] if data["item"] == self._item else f" {data['text']}"
                self._item = data["item"]
            elif event.kind == "action":
                wish = event.data | {"proposed": True}
                self.wishes.append(event.model_copy(update={"data": wish}))
            else:
                self.dropped.append(event)


def tellable(text: str, problem: Callable[[str], str]) -> str:
    """Give the beginning of an unfinished text that may be told already, on one line.

    A sentence is told once it is whole and nothing is wrong with all up to it; of the one after it those first words
    that hold nothing to be checked. What is told so is never what a check of the whole text would refuse by itself.

    Parameters
    ----------
    problem
        Says what is wrong with a beginning of the text that ends with a sentence; empty: nothing.
    """
    *whole, rest = sentences(text) or [""]
    told = " ".join(" ".join(whole).split())
    if told and problem(told):
        return ""
    words = rest.split()
    if not rest[-1:].isspace():
        words = words[:-1]  # it may go on
    for word in words:
        if not _PLAIN.fullmatch(word):
            break
        told = f"{told} {word}".lstrip()
    return told
