"""Reading a file of molecules, or of a program's parameters, as the jobs of a batch; telling what is wrong by row."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from orchestrator.problems import Problem
from tasks.errors import InputError, SimrelayError

#: columns, and options of the shared template, that set the field of that name
OF_JOB = (
    *("charge", "multiplicity", "task", "method", "basis", "dispersion", "density_fitting", "solvent", "solvent_model"),
    *("temperature_kelvin", "pressure_pascal", "engine", "tag", "label"),
)
OF_RESOURCES = ("cores", "memory", "walltime")
OF_MOLECULE = ("smiles", "xyz_file", "name")
COLUMNS = (*OF_MOLECULE, *OF_JOB, *OF_RESOURCES)

_COLUMN_OF = {
    "molecule": "smiles",
    "molecule.smiles": "smiles",
    "molecule.xyz": "xyz_file",
    "molecule.name": "name",
    "resources.memory_mb": "memory",
    "resources.walltime_seconds": "walltime",
    **{f"resources.{name}": name for name in OF_RESOURCES},
}
_LARGEST_XYZ_BYTES = 2_000_000


class BadRows(SimrelayError):
    """Rows of a file cannot be used; nothing was queued."""

    exit_code = 2


@dataclass(frozen=True, kw_only=True)
class Row:
    """One row: its number in the file, and the job that it asks for."""

    number: int
    job: dict[str, Any]


@dataclass(kw_only=True)
class Rows:
    """All rows of a file, and what was found wrong with them already here."""

    path: Path
    columns: tuple[str, ...]
    rows: list[Row] = field(default_factory=list)
    #: by row number
    problems: list[tuple[int, Problem]] = field(default_factory=list)

    def refuse(self, found: Sequence[Problem] = ()) -> None:
        """Raise BadRows if anything is wrong.

        Parameters
        ----------
        found
            What the service found, by position of the job.
        """
        problems = [*self.problems, *((self.rows[p.row].number if p.row is not None else 0, p) for p in found)]
        lines = dict.fromkeys(self._line(number, problem) for number, problem in sorted(problems, key=lambda p: p[0]))
        if lines:
            raise BadRows("\n".join(lines))

    def _line(self, number: int, problem: Problem) -> str:
        name = _COLUMN_OF.get(problem.field, problem.field)
        option = name in (*OF_JOB, *OF_RESOURCES, "program") and name not in self.columns
        if option and problem.value not in (None, ""):
            where = f"option --{name}"  # the same for all rows, so it is said once
        else:
            row = f"row {number}" if number else str(self.path)
            where = f"{row}, column {name}" if name in COLUMNS else f"{row}, {name}"
        return str(InputError(where, problem.value, problem.problem, problem.remedy))


def read_rows(path: Path, template: Mapping[str, str], program: str = "") -> Rows:
    """Read a CSV file, or a file of SMILES with a name behind each (``.smi``, ``.smiles``).

    Parameters
    ----------
    template
        What holds for all rows that do not say otherwise.
    program
        A declared program; all columns but ``label``, ``tag`` and resources are then its parameters.

    Raises
    ------
    InputError
        If the file cannot be read as that.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise InputError("FILE", str(path), f"cannot be read: {reason}", "Give a CSV or SMILES file.") from None
    if path.suffix.lower() in (".smi", ".smiles"):
        return _smiles_rows(path, text, template)
    return _csv_rows(path, text, template, program)


def _smiles_rows(path: Path, text: str, template: Mapping[str, str]) -> Rows:
    out = Rows(path=path, columns=("smiles", "name"))
    for number, line in enumerate(text.splitlines(), 1):
        smiles, _, name = line.strip().replace("\t", " ").partition(" ")
        if smiles and not smiles.startswith("#"):
            out.rows.append(Row(number=number, job=_quantum({"smiles": smiles, "name": name.strip()}, template)))
    return _not_empty(out)


def _csv_rows(path: Path, text: str, template: Mapping[str, str], program: str) -> Rows:
    header = text.partition("\n")[0]
    delimiter = max(",;\t", key=header.count)
    reader = csv.DictReader(text.splitlines(), delimiter=delimiter, skipinitialspace=True)
    columns = tuple(name.strip().lower() if not program else name.strip() for name in reader.fieldnames or ())
    if unknown := [name for name in columns if name not in COLUMNS and not program]:
        raise InputError("FILE, first line", unknown[0], "is not a column", f"Columns are {', '.join(COLUMNS)}.")
    if not program and not {"smiles", "xyz_file"} & set(columns):
        remedy = "The first line names the columns: smiles or xyz_file, then any of the others."
        raise InputError("FILE, first line", header.strip(), "names no column of molecules", remedy)
    reader.fieldnames = list(columns)
    out = Rows(path=path, columns=columns)
    for cells in reader:
        number = reader.line_num
        if None in cells:
            remedy = "Put a cell that holds the separator in double quotes."
            problem = Problem(field="row", value=len(columns), problem="is fewer than its cells", remedy=remedy)
            out.problems.append((number, problem.model_copy(update={"field": "number of columns"})))
            continue
        values = {name: (cell or "").strip() for name, cell in cells.items()}
        if not any(values.values()):
            continue
        _add(out, number, values, template, program)
    return _not_empty(out)


def _add(out: Rows, number: int, values: dict[str, str], template: Mapping[str, str], program: str) -> None:
    if program:
        out.rows.append(Row(number=number, job=_program(program, values, template)))
        return
    try:
        if name := values.pop("xyz_file", ""):
            values["xyz"] = _read_xyz(out.path.parent / name, name)
    except InputError as error:
        value = str(error.value)
        problem = Problem(field=error.field, value=value, problem=error.problem, remedy=error.remedy)
        out.problems.append((number, problem))
        return
    out.rows.append(Row(number=number, job=_quantum(values, template)))


def _read_xyz(path: Path, name: str) -> str:
    try:
        if path.stat().st_size > _LARGEST_XYZ_BYTES:
            raise InputError("xyz_file", name, "is too large for one molecule", "Give a file of one molecule.")
        return path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        remedy = "Paths are relative to the folder of the CSV file."
        raise InputError("xyz_file", name, f"cannot be read: {reason}", remedy) from None


def _quantum(values: Mapping[str, str], template: Mapping[str, str]) -> dict[str, Any]:
    merged = {name: value for name, value in {**template, **{k: v for k, v in values.items() if v}}.items() if value}
    molecule = {name: merged[name] for name in ("smiles", "xyz", "name") if name in merged}
    job: dict[str, Any] = {name: merged[name] for name in OF_JOB if name in merged}
    return {"kind": "quantum", "molecule": molecule, **job, **_resources(merged)}


def _program(program: str, values: Mapping[str, str], template: Mapping[str, str]) -> dict[str, Any]:
    common = (*OF_RESOURCES, "label", "tag")
    given = {name: values.get(name) or template.get(name, "") for name in common}
    # As text: the declaration knows what is a number, and "007" may be none.
    parameters = {name: text for name, text in values.items() if name not in common and text}
    shared = {name: given[name] for name in ("label", "tag") if given[name]}
    return {"kind": "program", "program": program, "parameters": parameters, **shared, **_resources(given)}


def _resources(values: Mapping[str, str]) -> dict[str, Any]:
    resources = {name: values[name] for name in OF_RESOURCES if values.get(name)}
    return {"resources": resources} if resources else {}


def _not_empty(out: Rows) -> Rows:
    if not out.rows and not out.problems:
        raise InputError("FILE", str(out.path), "holds no jobs", "Give one molecule a line.")
    return out
