"""The tree of errors: the first line of a docstring is what the error means to its reader."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class SimrelayError(Exception):
    """Something in Simrelay went wrong, and the message says what."""

    #: exit code of the command line for this kind of error
    exit_code = 1

    def __reduce__(self) -> tuple[Callable[..., SimrelayError], tuple[Any, ...]]:
        """Cross from one process to another whole, whatever the class is made from."""
        return _whole, (type(self), self.args, self.__dict__)


def _whole(kind: type[SimrelayError], arguments: tuple[Any, ...], fields: dict[str, Any]) -> SimrelayError:
    error = kind.__new__(kind, *arguments)
    error.__dict__.update(fields)
    return error


class InputError(SimrelayError, ValueError):
    """What the user gave cannot be used as it is.

    Parameters
    ----------
    field
        Where it is, in the user's own words (``molecule.smiles``, ``row 3, column charge``).
    value
        What was given.
    problem
        What is wrong with it.
    remedy
        What would be right.
    """

    exit_code = 2

    def __init__(self, field: str, value: object, problem: str, remedy: str) -> None:
        self.field, self.value, self.problem, self.remedy = field, value, problem, remedy
        super().__init__(f"{field}: {shown(value)} {problem}. {remedy}")


def shown(value: object) -> str:
    """Give ``value`` as one short line for a message."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else f"{text[:60]}… ({len(text)} characters)"


class NotFound(SimrelayError):
    """There is nothing under that id."""

    exit_code = 4


class Conflict(SimrelayError):
    """The same id was used before for something else."""

    exit_code = 5


class Refused(SimrelayError):
    """The store cannot take this now; nothing was changed, and the same call may succeed later."""

    exit_code = 6


class Unreachable(SimrelayError):
    """A service that Simrelay needs does not answer."""

    exit_code = 7


class StackBusy(SimrelayError):
    """Another stack already works in this folder."""

    exit_code = 8


class LeaseLost(SimrelayError):
    """The run or job is no longer held by the caller, and nothing that it writes may count."""


class ConfigurationError(SimrelayError):
    """The settings, or a file of the operator's, contradict each other or cannot be read."""

    exit_code = 3


class EngineUnavailable(SimrelayError):
    """No registered worker has ever declared the engine that a spec asks for."""

    exit_code = 2
