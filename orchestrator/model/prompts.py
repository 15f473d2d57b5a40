"""The prompts: files in ``prompts/``, each said in full there; values of ours are put in for ``$names``."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from string import Template

#: what every prompt begins with
_COMMON = "common"
#: what several prompts say in the same words, put in for ``$rules``
_RULES = "rules"


@cache
def _read(name: str) -> Template:
    return Template((files("orchestrator.model") / "prompts" / f"{name}.md").read_text(encoding="utf-8").strip())


def prompt(name: str, **values: str) -> str:
    """Give a prompt with its values put in; raises KeyError if one is missing."""
    own = _read(name).substitute({"rules": _read(_RULES).template, **values})
    return f"{_read(_COMMON).substitute()}\n\n{own}"


def about(agent: str) -> str:
    """Give what the results of an agent mean and do not mean; empty for one of which nothing is said."""
    try:
        return _read(f"about_{agent}").template
    except FileNotFoundError:
        return ""
