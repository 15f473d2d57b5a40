"""Command-line programs that an operator declares in ``programs.toml``: what they are, and what their users may set.

Workers register their declarations, and the API checks every spec against them before anything is queued. A value of a
user's becomes all or part of one argument and never more: no shell is involved.

Example
-------
::

    [programs.relax]
    command = ["/usr/bin/relax", "--steps", "{steps}", "--threads", "{cores}"]
    success = "^finished normally$"

    [programs.relax.parameters.steps]
    type = "integer"
    minimum = 1
    maximum = 100000
    default = 1000
"""

from __future__ import annotations

import contextlib
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, ValidationError, model_validator

from tasks import units
from tasks.errors import ConfigurationError, InputError
from tasks.specs import NAME, Frozen, ProgramSpec

ParameterValue = str | int | float

#: what a string may be if its declaration has no pattern: one word, neither an option, nor hidden, nor a path
DEFAULT_PATTERN = r"[A-Za-z0-9_][A-Za-z0-9_.,:=+@-]{0,199}"
#: placeholders that Simrelay fills in itself
RESERVED = ("cores", "memory_mb")

_PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
_PARAMETER_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_PROGRESS_GROUPS = {"step", "total", "text"}
_LONGEST_VALUE = 1000
#: what every program can read as a double
_LARGEST_NUMBER = 1e300


def _regex(value: str) -> str:
    try:
        re.compile(value)
    except re.error as error:
        raise ValueError(f"{value!r} is not a regular expression: {error}") from error
    return value


def _inside(value: str) -> str:
    path = PurePosixPath(value)
    if not value or path.is_absolute() or ".." in path.parts or path.as_posix() != value:
        raise ValueError(f"{value!r} is not the name of a file in the program's working directory")
    return value


def _plain(value: str) -> str:
    if not NAME.fullmatch(value):
        raise ValueError(f"{value!r} is not a plain file name")
    return value


Regex = Annotated[str, AfterValidator(_regex)]
FileInside = Annotated[str, AfterValidator(_inside)]
PlainFile = Annotated[str, AfterValidator(_plain)]


class Parameter(Frozen):
    """One thing that users may set.

    Attributes
    ----------
    default
        What it is if a user does not set it; without a default it must be set.
    pattern
        Regular expression that the whole of a string must match. A value that begins with ``-`` could be taken for an
        option, so it is refused unless the pattern itself begins with ``-``.
    """

    type: Literal["integer", "number", "string", "choice"]
    description: str = ""
    required: bool | None = None
    default: str | int | float | None = None
    minimum: float | None = None
    maximum: float | None = None
    pattern: Regex | None = None
    choices: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.required and self.default is not None:
            raise ValueError("required = true and a default contradict each other")
        if self.required is False and self.default is None:
            raise ValueError("required = false needs a default")
        object.__setattr__(self, "required", self.default is None)
        if (self.type == "choice") != bool(self.choices):
            raise ValueError("choices belong to type = 'choice', and only to it")
        if self.pattern is not None and self.type != "string":
            raise ValueError("a pattern belongs to type = 'string' only")
        if (self.minimum is not None or self.maximum is not None) and self.type not in ("integer", "number"):
            raise ValueError("minimum and maximum belong to numbers only")
        if self.default is not None:
            check_value("default", self.default, self)
        return self


class Limits(Frozen):
    """The most that one job of a program may ask for; None: no limit but the worker's."""

    cores: int | None = Field(default=None, ge=1)
    memory_mb: int | None = Field(default=None, ge=1)
    walltime_seconds: int | None = Field(default=None, ge=1)

    @model_validator(mode="before")
    @classmethod
    def _as_people_write(cls, data: object) -> object:
        return units.amounts(data, "limits")


class Licence(Frozen):
    """A licence that every job of an engine or program holds while it is offered or runs.

    Attributes
    ----------
    name
        Engines and programs that share licences name the same one.
    count
        How many there are, for all workers together; write the same on every host.
    """

    name: Annotated[str, AfterValidator(_plain)]
    count: int = Field(ge=1)


class ProgramDeclaration(Frozen):
    """One program as its operator declares it.

    Attributes
    ----------
    command
        Program and arguments; ``{name}`` stands for a parameter, ``{cores}`` and ``{memory_mb}`` for what the job has.
    success
        Regular expression that one line of the output matches only if the program reached its goal.
    progress
        Regular expression for lines that tell progress, with named groups out of ``step``, ``total`` and ``text``.
    values
        Regular expressions with one group: the last match in the output is the value of that name.
    checkpoint
        Files, all of which together are a restart point.
    results
        Files that a program leaves when it ended well; a missing one is a failure.
    restart_arguments
        Appended to the command when it goes on from a checkpoint.
    check
        Command that ends with 0 if the program can be started on this host (``relax --version``): run by a worker that
        is quarantined, before it takes work again.
    environment
        Variables of the host's; they are not registered.
    stop_grace_seconds
        Time to write a checkpoint and stop after SIGTERM.
    licence
        What limits how many jobs run at a time, on all workers together.
    """

    command: tuple[str, ...] = Field(min_length=1)
    success: Annotated[Regex, Field(min_length=1)]
    description: str = ""
    progress: Regex | None = None
    values: dict[str, Regex] = Field(default_factory=dict)
    checkpoint: tuple[PlainFile, ...] = ()
    results: tuple[FileInside, ...] = ()
    restart_arguments: tuple[str, ...] = ()
    check: tuple[str, ...] = ()
    parameters: dict[str, Parameter] = Field(default_factory=dict)
    limits: Limits = Limits()
    environment: dict[str, str] = Field(default_factory=dict)
    stop_grace_seconds: float = Field(default=30.0, ge=0)
    licence: Licence | None = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        for name in self.parameters:
            if not _PARAMETER_NAME.fullmatch(name) or name in RESERVED:
                raise ValueError(f"{name!r} cannot be the name of a parameter")
        if _PLACEHOLDER.search(self.command[0]):
            raise ValueError("command: the program itself cannot be a placeholder")
        used = {name for part in (*self.command, *self.restart_arguments) for name in _PLACEHOLDER.findall(part)}
        if unknown := used - set(self.parameters) - set(RESERVED):
            raise ValueError(f"command: {{{min(unknown)}}} is not declared as a parameter")
        if unused := set(self.parameters) - used:
            raise ValueError(f"parameters.{min(unused)} does not occur in the command")
        if self.restart_arguments and not self.checkpoint:
            raise ValueError("restart_arguments without checkpoint files would never be used")
        groups = set(re.compile(self.progress or "").groupindex)
        if self.progress is not None and (not groups or groups - _PROGRESS_GROUPS):
            raise ValueError("progress needs named groups out of step, total and text")
        for name, pattern in self.values.items():
            if re.compile(pattern).groups != 1:
                raise ValueError(f"values.{name} needs exactly one group")
        return self

    def registered(self) -> ProgramDeclaration:
        """Give the declaration without what concerns this host alone and may be secret."""
        return self.model_copy(update={"environment": {}})


def load_programs(path: Path) -> dict[str, ProgramDeclaration]:
    """Read the declarations of ``programs.toml``; none if there is no such file.

    Raises
    ------
    ConfigurationError
        With file and key of the first thing that is wrong.
    """
    try:
        with path.open("rb") as stream:
            data = tomllib.load(stream)
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{path}: cannot be read: {error}") from error
    tables = data.pop("programs", {})
    if data:
        raise ConfigurationError(f"{path}: {min(data)}: is not known here; programs are tables [programs.NAME]")
    if not isinstance(tables, dict):
        raise ConfigurationError(f"{path}: programs: is not a table; write [programs.NAME]")
    return {name: _declaration(path, name, table) for name, table in tables.items()}


def _declaration(path: Path, name: str, table: object) -> ProgramDeclaration:
    if not NAME.fullmatch(name):
        raise ConfigurationError(f"{path}: programs.{name}: is not a name of letters, digits, '.', '_' and '-'")
    try:
        return ProgramDeclaration.model_validate(table)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(("programs", name, *(str(part) for part in first["loc"])))
        problem = {"extra_forbidden": "is not a known key", "missing": "is missing"}.get(first["type"])
        raise ConfigurationError(f"{path}: {key}: {problem or first['msg'].removeprefix('Value error, ')}") from None


def find_program(name: str, declarations: Mapping[str, ProgramDeclaration]) -> ProgramDeclaration:
    """Give the declaration of a program.

    Raises
    ------
    InputError
        If none is declared under that name.
    """
    if name in declarations:
        return declarations[name]
    known = f"Declared are {', '.join(sorted(declarations))}." if declarations else "No worker declares any program."
    raise InputError("program", name, "is not declared by any worker", known)


def validate_parameters(spec: ProgramSpec, declaration: ProgramDeclaration) -> dict[str, ParameterValue]:
    """Check what a spec sets and asks for, and give all parameters, defaults included.

    Raises
    ------
    InputError
        For the first thing that is wrong.
    """
    declared = declaration.parameters
    for name, value in spec.parameters.items():
        if name not in declared:
            known = f"It has {', '.join(sorted(declared))}." if declared else "It has none."
            raise InputError(f"parameters.{name}", value, f"is not a parameter of {spec.program}", known)
    out: dict[str, ParameterValue] = {}
    for name, parameter in declared.items():
        if name in spec.parameters:
            out[name] = check_value(f"parameters.{name}", spec.parameters[name], parameter)
        elif parameter.default is not None:
            out[name] = check_value(f"parameters.{name}", parameter.default, parameter)
        else:
            raise InputError(
                f"parameters.{name}", "", "is missing", f"{spec.program} needs it: give {_wanted(parameter)}."
            )
    for name, most in declaration.limits.model_dump(exclude_none=True).items():
        asked = getattr(spec.resources, name)
        if asked > most:
            raise InputError(
                f"resources.{name}", asked, f"is more than {spec.program} may use", f"Ask for at most {most}."
            )
    return out


def within_limits(spec: ProgramSpec, declaration: ProgramDeclaration) -> ProgramSpec:
    """Give the spec with what it leaves open set to at most what the program may use."""
    left_open = {
        name: most
        for name, most in declaration.limits.model_dump(exclude_none=True).items()
        if name not in spec.resources.model_fields_set and getattr(spec.resources, name) > most
    }
    return spec.model_copy(update={"resources": spec.resources.model_copy(update=left_open)}) if left_open else spec


def check_value(field: str, value: str | int | float | bool, parameter: Parameter) -> ParameterValue:
    """Give one value in its declared type; raises InputError if it is not allowed."""
    remedy = f"Give {_wanted(parameter)}."
    if parameter.type in ("integer", "number"):
        return _number(field, value, parameter, remedy)
    if not isinstance(value, str):
        raise InputError(field, value, "is not a text", remedy)
    if parameter.type == "choice":
        if value not in parameter.choices:
            raise InputError(field, value, "is not one of the choices", remedy)
        return value
    pattern = parameter.pattern or DEFAULT_PATTERN
    if value.startswith("-") and not pattern.removeprefix("^").removeprefix("\\").startswith("-"):
        raise InputError(field, value, "begins with '-' and could be taken for an option", remedy)
    if len(value) > _LONGEST_VALUE or not value.isprintable() or not re.fullmatch(pattern, value):
        raise InputError(field, value, "is not an allowed text", remedy)
    return value


def _number(field: str, value: str | int | float | bool, parameter: Parameter, remedy: str) -> int | float:
    whole = parameter.type == "integer"
    if isinstance(value, str):  # as the cells of a table have it
        with contextlib.suppress(ValueError):
            value = float(value) if not value.strip().lstrip("+-").isdigit() else int(value)
    if isinstance(value, bool | str) or not abs(value) < _LARGEST_NUMBER or (whole and value != int(value)):
        raise InputError(field, value, "is not a whole number" if whole else "is not a number", remedy)
    low, high = parameter.minimum, parameter.maximum
    if (low is not None and value < low) or (high is not None and value > high):
        raise InputError(field, value, "is out of range", remedy)
    return int(value) if whole else float(value)


def _wanted(parameter: Parameter) -> str:
    if parameter.type == "choice":
        return f"one of {', '.join(parameter.choices)}"
    if parameter.type == "string":
        return f"a text that matches {parameter.pattern or DEFAULT_PATTERN}"
    kind = "a whole number" if parameter.type == "integer" else "a number"
    low = f" from {parameter.minimum:g}" if parameter.minimum is not None else ""
    high = f" up to {parameter.maximum:g}" if parameter.maximum is not None else ""
    return f"{kind}{low}{high}"


def render(
    declaration: ProgramDeclaration,
    parameters: Mapping[str, ParameterValue],
    *,
    cores: int,
    memory_mb: int,
    restart: bool = False,
) -> tuple[str, ...]:
    """Give program and arguments with every placeholder filled in.

    Parameters
    ----------
    parameters
        All of them, as ``validate_parameters`` gives them.
    cores, memory_mb
        What the attempt may use.
    restart
        Whether the program goes on from a checkpoint.

    Returns
    -------
    One argument for each part of the template, whatever the values hold.
    """
    values = {**parameters, "cores": cores, "memory_mb": memory_mb}
    parts = (*declaration.command, *(declaration.restart_arguments if restart else ()))
    return tuple(_PLACEHOLDER.sub(lambda match: str(values[match[1]]), part) for part in parts)
