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
    #: of the unit shown in that of the result
    factor: float = 1.0


#: kJ/mol in a hartree (CODATA 2018)
_KJ_PER_MOL = 2625.4996394799
#: in the order of a table
PROPERTIES = (
    _Property("energy", "energy_hartree", "Total energy", "Eh", 6),
    _Property("homo", "homo_ev", "HOMO", "eV", 3),
    _Property("lumo", "lumo_ev", "LUMO", "eV", 3),
    _Property("gap", "gap_ev", "Gap", "eV", 3),
    _Property("dipole", "dipole_debye", "Dipole moment", "D", 3),
    _Property("zero_point", "zero_point_energy_hartree", "Zero-point energy", "kJ/mol", 2, _KJ_PER_MOL),
    _Property("enthalpy", "enthalpy_hartree", "Enthalpy", "Eh", 6),
    _Property("entropy", "entropy_hartree_per_kelvin", "Entropy", "J/(mol K)", 2, 1000 * _KJ_PER_MOL),
    _Property("gibbs", "gibbs_energy_hartree", "Gibbs energy", "Eh", 6),
)
#: these always stand together
ORBITALS = {"homo", "lumo", "gap"}


def number(value: float, decimals: int) -> str:
    """Give a number with a real minus sign."""
    text = f"{value:.{decimals}f}"
    if float(text) == 0:
        text = text.lstrip("-")
    return text.replace("-", "−")


def _value(result: QuantumResult, shown: _Property) -> float | None:
    value = getattr(result, shown.field)
    if value is None and shown.field == "gap_ev" and result.homo_ev is not None and result.lumo_ev is not None:
        return result.lumo_ev - result.homo_ev
    return None if value is None else float(value) * shown.factor


def stated(values: Sequence[Quantity], wanted: Sequence[str]) -> str:
    """Give the numbers of one molecule that were asked for, for a sentence; empty: there are none."""
    shown = {p.name: p for p in PROPERTIES if p.name in wanted}
    found = [(shown[v.name], v) for v in values if v.name in shown]
    return ", ".join(
        f"{p.title if p.title.isupper() else p.title.lower()} {number(v.value, p.decimals)} {v.unit}" for p, v in found
    )


def quantities(done: Done) -> tuple[Quantity, ...]:
    """Give all numbers of the results, in full precision."""
    return tuple(
        Quantity(species=one.name, name=p.name, value=value, unit=p.unit)
        for one, result in done
        for p in PROPERTIES
        if (value := _value(result, p)) is not None
    )


def table(done: Done, goal: Goal) -> Table:
    """Give the results as a table: the energy, what was asked for, and of orbitals always both and the gap."""
    wanted = {"energy", *goal.properties} | (ORBITALS if ORBITALS & set(goal.properties) else set())
    shown = [p for p in PROPERTIES if p.name in wanted and any(_value(result, p) is not None for _, result in done)]
    columns = [Column(title="Molecule"), *(Column(title=p.title, unit=p.unit) for p in shown)]
    if "frequencies" in goal.properties:
        columns += [Column(title="Lowest frequency", unit="cm⁻¹"), Column(title="Imaginary modes")]
    if goal.task.startswith("optimisation"):
        columns.append(Column(title="Optimisation steps"))
    if "charges" in goal.properties:
        columns += [Column(title="Most negative atom", unit="e"), Column(title="Most positive atom", unit="e")]
    rows = []
    for one, result in done:
        values = ((p, _value(result, p)) for p in shown)
        row = [one.name, *("—" if value is None else number(value, p.decimals) for p, value in values)]
        if "frequencies" in goal.properties:
            found = result.frequencies_per_cm
            row += [number(found[0], 1) if found else "—", "—" if found is None else str(sum(f < 0 for f in found))]
        if goal.task.startswith("optimisation"):
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


#: largest component of the gradient at a stationary point, as geomeTRIC and Gaussian ask for, in hartree per bohr
_STATIONARY = 4.5e-4


def frequency_notes(species: Species, result: QuantumResult) -> list[str]:
    """List all frequencies, the conditions of the thermochemistry, and whatever makes either doubtful."""
    found = result.frequencies_per_cm
    if found is None:
        return []
    shown = ", ".join(number(value, 1) for value in found) or "none, it is an atom"
    notes = [f"{species.name}, harmonic frequencies (cm⁻¹, imaginary ones negative): {shown}."]
    if result.temperature_kelvin is not None and result.pressure_pascal is not None:
        notes.append(
            f"{species.name}: ideal gas, rigid rotor and harmonic oscillator at {result.temperature_kelvin:g} K and"
            f" {result.pressure_pascal:g} Pa, symmetry number {result.symmetry_number or 'not known'}."
        )
    if (steepest := result.largest_gradient_hartree_per_bohr) is not None and steepest > _STATIONARY:
        notes.append(
            f"{species.name}: the geometry is not stationary at this level (largest gradient {steepest:.1e} Eh/bohr):"
            " its frequencies and thermochemistry have no clear meaning. Optimise at the same level."
        )
    elif imaginary := sum(value < 0 for value in found):
        modes = "mode is" if imaginary == 1 else "modes are"
        notes.append(f"{species.name}: {imaginary} imaginary {modes} left out of the thermochemistry.")
    return notes
