r"""Reading what a language model writes while it writes it: text and actions, interleaved in one JSON array.

    [{"text": "I shall compute the gap."}, {"action": {"name": "quantum_job", "arguments": {…}}}, {"text": "Done."}]

Each item is an object with the one key ``text`` (a string, given piece by piece as it comes) or ``action`` (an object,
given once it is whole). The array begins at the first ``[`` that is followed by ``{`` or ``]``; what stands before it
(prose, a code fence) and after its end is passed over. However the input is cut into pieces, the items are the same,
with the same text, the same actions and the same problems in the same order.

A text is given before its item is known to be well formed; an action never is. What is wrong is given as a ``Problem``:
an item that is no such object, and an array that ends too early. Escapes are decoded across pieces; half a surrogate
pair becomes U+FFFD in a text, and makes an action a problem.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

_BLANK = " \t\r\n"
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_HEX = frozenset("0123456789abcdefABCDEF")
_REPLACEMENT = "\ufffd"


@dataclass(frozen=True, kw_only=True)
class TextDelta:
    """A further piece of the text of an item."""

    item: int
    text: str


@dataclass(frozen=True, kw_only=True)
class Action:
    """A whole action of an item, as it was written; whether it may be done is another question (``actions``)."""

    item: int
    content: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Problem:
    """Something that could not be used.

    Attributes
    ----------
    item
        Its number, from 0; of an input without an array: 0.
    kind
        ``malformed``: the item is no object of the format; ``truncated``: the input ended within it, or before the end
        of the array; ``no_array``: the input holds none.
    """

    item: int
    kind: Literal["malformed", "truncated", "no_array"]
    text: str


Piece = TextDelta | Action | Problem


class _Unescaped:
    """Decodes the inside of a JSON string, character by character."""

    def __init__(self) -> None:
        self._escape = ""
        self._high = 0

    @property
    def within_escape(self) -> bool:
        """Whether the next character belongs to an escape."""
        return bool(self._escape)

    def take(self, character: str) -> str:
        """Give what this character completes."""
        if not self._escape:
            if character == "\\":
                self._escape = "\\"
                return ""
            return self.flush() + character
        if self._escape == "\\" and character != "u":
            self._escape = ""
            return self.flush() + _ESCAPES.get(character, character)
        self._escape += character
        if len(self._escape) > 2 and character not in _HEX:
            self._escape = ""
            return self.flush() + _REPLACEMENT
        if len(self._escape) < 6:
            return ""
        unit, self._escape = int(self._escape[2:], 16), ""
        return self._unit(unit)

    def _unit(self, unit: int) -> str:
        """Give what a UTF-16 code unit completes; a high surrogate waits for its low one."""
        if self._high and 0xDC00 <= unit < 0xE000:
            whole = 0x10000 + ((self._high - 0xD800) << 10) + (unit - 0xDC00)
            self._high = 0
            return chr(whole)
        before = self.flush()
        if 0xD800 <= unit < 0xDC00:
            self._high = unit
            return before
        return before + (_REPLACEMENT if 0xDC00 <= unit < 0xE000 else chr(unit))

    def flush(self) -> str:
        """Give what half a surrogate pair becomes that nothing completes."""
        half, self._high = self._high, 0
        return _REPLACEMENT if half else ""


class Parser:
    """Takes the input in pieces of any size, and gives what each completes."""

    def __init__(self) -> None:
        self._where: Literal["before", "opened", "between", "item", "after"] = "before"
        self._item = 0
        self._comma = False
        self._begin()

    def _begin(self) -> None:
        """Be ready for the next item."""
        self._raw: list[str] = []
        self._depth = 0
        self._in_string = False
        self._string = _Unescaped()
        #: what the item's own key was, while its value is read
        self._key: str | None = None
        self._key_text: list[str] = []
        self._expects_value = False
        self._is_text = False
        self._texts = 0

    def feed(self, piece: str) -> list[Piece]:
        """Give what a further piece of the input completes; text as one piece."""
        given: list[Piece] = []
        for character in piece:
            for one in self._take(character):
                last = given[-1] if given else None
                if isinstance(one, TextDelta) and isinstance(last, TextDelta) and one.item == last.item:
                    given[-1] = TextDelta(item=one.item, text=last.text + one.text)
                else:
                    given.append(one)
        return given

    def close(self) -> list[Piece]:
        """Say that the input has ended; give what was left open."""
        where, self._where = self._where, "after"
        if where == "after":
            return []
        if where in ("before", "opened"):
            return [Problem(item=0, kind="no_array", text="no array of texts and actions was written")]
        if where == "between":
            return [Problem(item=self._item, kind="truncated", text="the array has no end")]
        what = "a text" if self._is_text else "an item"
        given: list[Piece] = []
        if self._is_text and self._in_string and (half := self._string.flush()):
            given.append(TextDelta(item=self._item, text=half))
        return [*given, Problem(item=self._item, kind="truncated", text=f"the input ended within {what}")]

    def _take(self, character: str) -> Iterator[Piece]:
        match self._where:
            case "before":
                if character == "[":
                    self._where = "opened"
            case "opened":
                if character in "{]":
                    yield from self._between(character)
                elif character not in f"[{_BLANK}":
                    self._where = "before"
            case "between":
                yield from self._between(character)
            case "item":
                yield from self._within(character)

    def _between(self, character: str) -> Iterator[Piece]:
        """Read what stands between items."""
        self._where = "between"
        if character == "]":
            self._where = "after"
        elif character == "{" and not self._comma:
            self._where = "item"
            self._raw, self._depth = ["{"], 1
        elif character == "," and self._comma:
            self._comma = False
        elif character not in _BLANK:
            self._where = "after"
            yield Problem(item=self._item, kind="malformed", text=f"{character!r} stands where an item should")

    def _within(self, character: str) -> Iterator[Piece]:
        """Read a character of an item: its text is given at once, the rest is kept until the item is whole."""
        self._raw.append(character)
        if self._in_string:
            yield from self._within_string(character)
            return
        if character == '"':
            self._in_string, self._string = True, _Unescaped()
            self._is_text = self._depth == 1 and self._expects_value and self._key == "text" and not self._texts
            self._key_text = []
        elif character in "{[":
            self._depth += 1
        elif character in "}]":
            self._depth -= 1
            if not self._depth:
                yield from self._end_of_item()
        elif self._depth == 1 and character == ":":
            self._expects_value = True
        elif self._depth == 1 and character == ",":
            self._expects_value = False

    def _within_string(self, character: str) -> Iterator[Piece]:
        if character == '"' and not self._string.within_escape:
            self._in_string = False
            rest = self._string.flush()
            if self._is_text:
                self._texts += 1
            elif self._depth == 1 and not self._expects_value:
                self._key = "".join(self._key_text) + rest
        else:
            rest = self._string.take(character)
            if self._depth == 1 and not self._expects_value:
                self._key_text.append(rest)
        if self._is_text and rest:
            yield TextDelta(item=self._item, text=rest)
        if not self._in_string:
            self._is_text = False

    def _end_of_item(self) -> Iterator[Piece]:
        try:
            content = _item("".join(self._raw))
        except ValueError as error:
            yield Problem(item=self._item, kind="malformed", text=str(error))
        else:
            if "action" in content:
                yield Action(item=self._item, content=content["action"])
        self._begin()
        self._where, self._comma = "between", True
        self._item += 1


def _item(raw: str) -> dict[str, Any]:
    """Read a whole item; raises ValueError saying what is wrong with it."""
    try:
        content: dict[str, Any] = json.loads(raw, strict=False, object_pairs_hook=_once, parse_constant=_no_number)
    except RecursionError as error:
        raise ValueError("the item is nested too deeply") from error
    if content.keys() not in ({"text"}, {"action"}):
        raise ValueError(f"an item holds {', '.join(sorted(content)) or 'nothing'}, not one text or one action")
    if "text" in content and not isinstance(content["text"], str):
        raise ValueError("a text is no string")
    if "action" in content:
        if not isinstance(content["action"], dict):
            raise ValueError("an action is no object")
        try:
            json.dumps(content, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            raise ValueError("an action holds half a surrogate pair") from error
    return content


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return content


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")
