"""Problems of what a user gave, as values: they cross processes and HTTP, and many can be told at once."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, ValidationError

from tasks.errors import InputError, SimrelayError
from tasks.specs import KINDS

Shown = str | int | float | bool | None


class Problem(BaseModel):
    """One thing that is wrong; row: position of the job in its list, from 0; None: it concerns the whole."""

    model_config = ConfigDict(frozen=True)

    field: str
    value: Shown = None
    problem: str
    remedy: str
    row: int | None = None

    def error(self) -> InputError:
        """Give it as the error that a single one is raised as."""
        return InputError(self.field, self.value, self.problem, self.remedy)


class BadInput(SimrelayError):
    """Several things that a user gave cannot be used; each line says one."""

    exit_code = 2

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("\n".join(_line(problem) for problem in problems))


def _line(problem: Problem) -> str:
    where = "" if problem.row is None else f"job {problem.row + 1}, "
    return f"{where}{problem.error()}"


def of_error(error: InputError, row: int | None = None) -> Problem:
    """Give an error as a value."""
    return Problem(field=error.field, value=plain(error.value), problem=error.problem, remedy=error.remedy, row=row)


def plain(value: object) -> Shown:
    """Give a value as JSON can hold it in a message."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()  # half a surrogate pair is no text that JSON can hold
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if isinstance(value, int | float | bool | None) else str(value)


def of_validation(error: ValidationError, row: int | None = None) -> Iterator[Problem]:
    """Give all that pydantic found wrong in one spec or request."""
    for one in error.errors():
        cause = one.get("ctx", {}).get("error")
        if isinstance(cause, InputError):
            yield of_error(cause, row)
            continue
        field = ".".join(str(part) for part in one["loc"] if part not in (*KINDS, "body"))
        known = {"extra_forbidden": "is not a field here", "missing": "is missing"}
        message = one["msg"].removeprefix("Value error, ")
        problem = known.get(one["type"], f"is refused: {message[:1].lower()}{message[1:]}")
        value = None if one["type"] == "missing" else plain(one["input"])
        remedy = "See `simrelay schema` for what each field takes."
        yield Problem(field=field or "spec", value=value, problem=problem, remedy=remedy, row=row)


def known_state(state: str, states: type[StrEnum]) -> None:
    """Refuse a state that there is not, which would only find nothing; raises InputError."""
    if state and state not in list(states):
        raise InputError("state", state, "is not a state", f"States are {', '.join(states)}.")
