"""What a request that the rules cannot read asks for, in their words; they then read that, with all their checks."""

from __future__ import annotations

import json
import re

from pydantic import BaseModel, ConfigDict, Field

from orchestrator.asking import Options
from orchestrator.model.client import Asks
from orchestrator.model.fence import fenced
from orchestrator.model.prompts import prompt
from orchestrator.model.structured import ask_for, schema_of
from orchestrator.planning.manners import forbidden
from orchestrator.state import Usage
from tasks.errors import InputError
from tasks.settings import Settings

#: what looks like a SMILES: brackets, bonds or ring closures in one word, in quotes or not
_SMILES = re.compile(r"\[[A-Za-z0-9@+\-]+\]|[A-Za-z]\(=?[A-Za-z]|[A-Za-z]=[A-Za-z]|[a-z]1[a-z]|#[A-Z]")
#: also those within names: of methods, basis sets, molecules
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
_AROUND = "'\"`.,;:!?"
_QUOTED = re.compile(r"['\"`]([^'\"`]+)['\"`]")


class Rewritten(BaseModel):
    """A request in the planner's words, or that it cannot be put into them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    possible: bool
    sentence: str = Field(default="", max_length=1000)
    reasoning: str = Field(default="", max_length=1000)


def may_be_read(error: InputError) -> bool:
    """Tell whether rules refused a request for what they miss in it.

    Neither a value that is wrong nor what nothing may be started for can be put right by other words.
    """
    text = str(error.value).strip()
    return error.field == "request" and bool(text) and not forbidden(text)


def left_to_model(settings: Settings, options: Options, error: InputError) -> bool:
    """Tell whether a request that rules refused makes a run all the same, since a language model may read it there."""
    return bool(settings.model_url) and options.model and may_be_read(error)


async def rewrite(model: Asks, request: str, error: InputError, usage: Usage, history: str = "") -> tuple[str, Usage]:
    """Have the model put a request into the planner's words; empty if that is not possible.

    Parameters
    ----------
    history
        What was said before, for what the request leaves out.

    Raises
    ------
    ModelError
        If it gives nothing that can be used.
    """
    given = f"{history}\n{request}"
    text = prompt("extract", schema=json.dumps(schema_of(Rewritten)))

    def check(answer: Rewritten) -> str:
        if not answer.possible:
            return ""
        if len(answer.sentence.split()) < 2 or "\n" in answer.sentence.strip():
            return "sentence: has to be one sentence"
        if unknown := set(_NUMBER.findall(answer.sentence)) - set(_NUMBER.findall(given)):
            return f"sentence: holds {', '.join(sorted(unknown))}, which is not in the request"
        if any(word not in given for word in _written(answer.sentence)):
            return "sentence: holds a structure that is not in the request; name molecules instead"
        return ""

    before = f"{fenced('history', history)}\n\n" if history else ""
    question = f"{before}{fenced('request', request)}\n\n{fenced('problem', f'{error.problem}. {error.remedy}')}"
    answer, usage = await ask_for(model, Rewritten, text, question, usage, check)
    return " ".join(answer.sentence.split()) if answer.possible else "", usage


def _written(sentence: str) -> list[str]:
    """Give what is quoted, or looks like a SMILES."""
    return _QUOTED.findall(sentence) + [word.strip(_AROUND) for word in sentence.split() if _SMILES.search(word)]
