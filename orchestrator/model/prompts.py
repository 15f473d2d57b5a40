"""The prompts: files in ``prompts/``, each said in full there; values of ours are put in for ``$names``."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from string import Template

#: what every prompt begins with
_COMMON = "common"


@cache
def _read(name: str) -> Template:
    return Template((files("orchestrator.model") / "prompts" / f"{name}.md").read_text(encoding="utf-8").strip())


def prompt(name: str, **values: str) -> str:
    """Give a prompt with its values put in; raises KeyError if one is missing."""
    return f"{_read(_COMMON).substitute()}\n\n{_read(name).substitute(values)}"
