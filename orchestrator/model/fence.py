"""Text from outside, between delimiters: it is data, whatever it says.

Requests, papers, web pages and outputs of programs all come from people or programs that may want something else than
the user does. The delimiter holds a hash of the text itself, so that no text can end its own fence.
"""

from __future__ import annotations

import hashlib
import re

#: how much of one text a model is shown
_LONGEST = 12_000
#: everything that is not shown in print, but for line ends and tabs
_HIDDEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]"
)


def fenced(source: str, text: str) -> str:
    """Put a text between delimiters, with what it is (``request``, ``findings``) in both."""
    shown = _HIDDEN.sub("", text)
    if len(shown) > _LONGEST:
        shown = f"{shown[:_LONGEST]}\n[… cut here: {len(text)} characters in all]"
    mark = hashlib.sha256(f"{source}\0{shown}".encode()).hexdigest()[:12]
    return f"<<<{source} {mark}\n{shown}\n{source} {mark}>>>"
