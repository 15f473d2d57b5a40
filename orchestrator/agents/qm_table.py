"""Tables and typed numbers out of quantum-chemical results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from orchestrator.state import Column, Goal, Quantity, Species, Table
from tasks.elements import parse_xyz
from tasks.results import QuantumResult

Done = Sequence[tuple[Species, QuantumResult]]


class _Property(NamedTuple):
    name: str
    field: str
    title: str
    unit: str
    decimals: int


#: in the order of a table
PROPERTIES = (
    _Property("energy", "energy_hartree", "Total energy", "Eh", 6),
    _Property("homo", "homo_ev", "HOMO", "eV", 3),
    _Property("lumo", "lumo_ev", "LUMO", "eV", 3),
    _Property("gap", "gap_ev", "Gap", "eV", 3),
    _Property("dipole", "dipole_debye", "Dipole moment", "D", 3),
)
_ORBITALS = {"homo", "lumo", "gap"}


def number(value: float, decimals: int) -> str:
    """Give a number with a real minus sign."""
    text = f"{value:.{decimals}f}"
    if float(text) == 0:
        text = text.lstrip("-")
    return text.replace("-", "−")


def _value(result: QuantumResult, field: str) -> float | None:
    value = getattr(result, field)
    if value is None and field == "gap_ev" and result.homo_ev is not None and result.lumo_ev is not None:
        return result.lumo_ev - result.homo_ev
    return None if value is None else float(value)


def quantities(done: Done) -> tuple[Quantity, ...]:
    """Give all numbers of the results, in full precision."""
    return tuple(
        Quantity(species=one.name, name=p.name, value=value, unit=p.unit)
        for one, result in done
        for p in PROPERTIES
        if (value := _value(result, p.field)) is not None
    )


def table(done: Done, goal: Goal) -> Table:
    """Give the results as a table: the energy, what was asked for, and of orbitals always both and the gap."""
    wanted = {"energy", *goal.properties} | (_ORBITALS if _ORBITALS & set(goal.properties) else set())
    shown = [
        p for p in PROPERTIES if p.name in wanted and any(_value(result, p.field) is not None for _, result in done)
    ]
    columns = [Column(title="Molecule"), *(Column(title=p.title, unit=p.unit) for p in shown)]
    if goal.task == "optimisation":
        columns.append(Column(title="Optimisation steps"))
    if "charges" in goal.properties:
        columns += [Column(title="Most negative atom", unit="e"), Column(title="Most positive atom", unit="e")]
    rows = []
    for one, result in done:
        values = ((p, _value(result, p.field)) for p in shown)
        row = [one.name, *("—" if value is None else number(value, p.decimals) for p, value in values)]
        if goal.task == "optimisation":
            row.append("—" if result.optimisation_steps is None else str(result.optimisation_steps))
        if "charges" in goal.properties:
            row += _extremes(result)
        rows.append(tuple(row))
    return Table(columns=tuple(columns), rows=tuple(rows))


def _labels(result: QuantumResult) -> list[str]:
    if not result.xyz:
        return [f"atom {index}" for index in range(1, len(result.mulliken_charges or ()) + 1)]
    return [f"{atom.symbol}{index}" for index, atom in enumerate(parse_xyz(result.xyz), 1)]


def _extremes(result: QuantumResult) -> list[str]:
    charges = result.mulliken_charges
    if not charges:
        return ["—", "—"]
    labels = _labels(result)
    low, high = charges.index(min(charges)), charges.index(max(charges))
    return [f"{labels[i]} {number(charges[i], 3)}" for i in (low, high)]


def charge_note(species: Species, result: QuantumResult) -> str:
    """List the Mulliken charges of the atoms other than hydrogen, with the hydrogens of each element summed up."""
    charges = result.mulliken_charges
    if not charges:
        return ""
    pairs = list(zip(_labels(result), charges, strict=False))
    heavy = [
        f"{label} {number(charge, 3)}" for label, charge in pairs if not label.startswith("H") or label[1:2].isalpha()
    ]
    hydrogens = [charge for label, charge in pairs if label.startswith("H") and not label[1:2].isalpha()]
    tail = f"; {len(hydrogens)} H together {number(sum(hydrogens), 3)}" if hydrogens else ""
    return f"{species.name}, Mulliken charges (e): {', '.join(heavy) or 'no atoms but hydrogen'}{tail}."
