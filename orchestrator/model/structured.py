"""Structured answers: validated, sent back once with what is wrong, else given up."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from orchestrator.model.budget import ModelError
from orchestrator.model.client import Asking, Asks, Reply, read_json
from orchestrator.model.fence import fenced
from orchestrator.model.prompts import prompt
from orchestrator.state import Usage

Shape = TypeVar("Shape", bound=BaseModel)


def schema_of(shape: type[BaseModel]) -> dict[str, Any]:
    """Give the JSON schema of an answer, closed as strict endpoints want it: every field is named and required."""
    schema = shape.model_json_schema()
    schema["required"] = list(schema["properties"])
    schema["additionalProperties"] = False
    for field in schema["properties"].values():
        field.pop("default", None)
    return schema


async def ask_for(
    model: Asks,
    shape: type[Shape],
    instructions: str,
    question: str,
    usage: Usage,
    check: Callable[[Shape], str] = lambda _: "",
) -> tuple[Shape, Usage]:
    """Ask for an answer of a shape; one that does not fit is sent back once.

    Parameters
    ----------
    check
        Says what is wrong with an answer that has the shape; empty: nothing.

    Raises
    ------
    ModelError
        If there is no answer that can be used; ``Asking`` also tells what the tries have used.
    """
    schema = schema_of(shape)
    reply = await model.ask(instructions, question, usage, schema=schema)
    answer, problem = _read(shape, reply, check)
    if answer is not None:
        return answer, reply.usage
    repair = prompt("repair", problem=problem, schema=json.dumps(schema))
    try:
        again = await model.ask(
            f"{instructions}\n\n{repair}", f"{question}\n\n{fenced('answer', reply.text)}", reply.usage, schema=schema
        )
    except Asking:
        raise
    except ModelError as error:
        raise Asking(str(error), reply.usage) from error
    answer, problem = _read(shape, again, check)
    if answer is not None:
        return answer, again.usage
    raise Asking(f"gave no answer that can be used, twice: {problem}", again.usage)


def _read(shape: type[Shape], reply: Reply, check: Callable[[Shape], str]) -> tuple[Shape | None, str]:
    if reply.calls:
        return None, "it tried to call a tool, and it has none"
    if not reply.text:
        return None, "it is empty"
    try:
        answer = shape.model_validate(read_json(reply.text))
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the object"
        return None, f"{where}: {first['msg']}"
    except ValueError:
        return None, "it is no JSON object"
    problem = check(answer)
    return (None, problem) if problem else (answer, "")
