"""One analysis of orbitals with PySCF: energies, composition, charges, cubes and pictures.

Run as ``python -m worker.programs.wavefunction_job job.json`` with the job's folder as working directory. It is short,
and has no restart point: after a kill it begins from the beginning, and gives the same.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyscf
from pyscf.lib import param

from tasks.elements import Atom, write_xyz
from tasks.results import Orbital, WavefunctionResult
from worker.programs import cubes, populations
from worker.programs.analysis import NEAR, AnalysisJob, Steps, cube_file, draw, name_of, place_of, write_tables
from worker.programs.common import EV_PER_HARTREE, Desk, run_program, say
from worker.programs.orbital_source import Source, read_source

#: below this an orbital counts as empty
_OCCUPIED = 1e-6


class Analyst:
    """One analysis of one source."""

    def __init__(self, job: AnalysisJob, source: Source, desk: Desk) -> None:
        self.job, self.source, self.desk = job, source, desk
        self.occupied = [int((n > _OCCUPIED).sum()) for n in source.occupations]
        self.total = [c.shape[1] for c in source.coefficients]
        self.named = {name: place_of(name, self.occupied, self.total) for name in job.orbitals} if self._named() else {}
        drawn = len(self.named) if job.wants("cubes", "pictures") else 0
        whole = {"mulliken", "loewdin", "hirshfeld", "density", "potential"} & set(job.analyses)
        self.steps = Steps(desk, 1 + drawn + len(whole))
        self.notes: list[str] = []

    def _named(self) -> bool:
        return self.job.wants("composition", "cubes", "pictures")

    def run(self) -> WavefunctionResult:
        """Do all that is asked for."""
        job, source = self.job, self.source
        mol, matrix = source.mol, source.density_matrix
        self.steps.begin("orbitals")
        orbitals = self._orbitals()
        homo, lumo = self._frontier_ev()
        result = WavefunctionResult(
            xyz=write_xyz([_atom(mol, i) for i in range(mol.natm)], f"orbitals of {source.what}"),
            charge=int(mol.charge),
            multiplicity=int(mol.spin) + 1,
            homo_ev=homo,
            lumo_ev=lumo,
            gap_ev=lumo - homo if homo is not None and lumo is not None else None,
            orbitals=orbitals,
            engine="wavefunction",
            engine_version=pyscf.__version__,
        )
        changes: dict[str, object] = {}
        if job.wants("mulliken"):
            self.steps.begin("Mulliken charges")
            changes["mulliken_charges"] = tuple(map(float, populations.mulliken(mol, matrix)))
        if job.wants("loewdin"):
            self.steps.begin("Löwdin charges")
            changes["loewdin_charges"] = tuple(map(float, populations.loewdin(mol, matrix)))
        if job.wants("hirshfeld"):
            self.steps.begin("Hirshfeld charges")
            found = populations.hirshfeld(mol, matrix)
            changes |= {"hirshfeld_charges": tuple(map(float, found.charges)), "integrated_electrons": found.electrons}
            self.notes.append("Hirshfeld: spherical neutral atoms by B3LYP in the molecule's own basis set.")
        if job.wants("cubes", "pictures", "density", "potential"):
            self._draw()
        result = result.model_copy(update={**changes, "notes": tuple(self.notes)})
        write_tables(self.desk.folder, result)
        return result

    def _frontier_ev(self) -> tuple[float | None, float | None]:
        """Give HOMO and LUMO in eV; of both spins the highest occupied and the lowest empty orbital."""
        occupied: list[float] = []
        empty: list[float] = []
        for energies, filled in zip(self.source.energies, self.source.occupations, strict=True):
            if energies is None:
                return None, None
            occupied += list(energies[filled > _OCCUPIED])
            empty += list(energies[filled <= _OCCUPIED])
        homo = float(max(occupied)) * EV_PER_HARTREE if occupied else None
        return homo, float(min(empty)) * EV_PER_HARTREE if empty else None

    def _orbitals(self) -> tuple[Orbital, ...]:
        """List the named ones, and those near the gap if orbitals themselves were asked for."""
        span = NEAR if self.job.wants("orbitals", "composition") else 0
        found = []
        for which, spin in enumerate(self.source.spins):
            near = range(max(0, self.occupied[which] - span), min(self.total[which], self.occupied[which] + span))
            wanted = sorted({*near, *(index for w, index in self.named.values() if w == which)})
            found += [self._orbital(which, index, spin) for index in wanted]
        return tuple(found)

    def _orbital(self, which: int, index: int, spin: str) -> Orbital:
        energies = self.source.energies[which]
        one = Orbital(
            number=index + 1,
            name=name_of(index, self.occupied[which]),
            spin=spin,
            occupation=float(self.source.occupations[which][index]),
            energy_ev=None if energies is None else float(energies[index]) * EV_PER_HARTREE,
        )
        if not self.job.wants("composition") or (which, index) not in self.named.values():
            return one
        atoms, shells = populations.composition(self.source.mol, self.source.coefficients[which][:, index])
        return one.model_copy(update={"atom_shares": tuple(map(float, atoms)), "shell_shares": shells})

    def _draw(self) -> None:
        job, mol = self.job, self.source.mol
        grid = cubes.grid_around(mol.atom_coords(), job.spacing_angstrom, job.margin_angstrom)
        say(f"{grid.shape[0]} x {grid.shape[1]} x {grid.shape[2]} points {job.spacing_angstrom:g} Å apart")
        if job.wants("cubes", "pictures"):
            for name, (which, index) in self.named.items():
                self.steps.begin(f"{name} on a grid")
                orbital = self.source.coefficients[which][:, index]
                # The sign of an orbital means nothing: fix it, so that the same orbital gives the same picture.
                orbital = orbital * np.sign(orbital[np.argmax(np.abs(orbital))])
                values = cubes.orbital_values(mol, orbital, grid)
                cubes.write_cube(self.desk.folder / cube_file(name), mol, grid, values, f"{name}, bohr^(-3/2)")
                if job.wants("pictures") and (note := draw(self.desk, name, job.isovalue)):
                    self.notes.append(note)
        matrix = self.source.density_matrix
        if job.wants("density"):
            self.steps.begin("electron density on a grid")
            values = cubes.density_values(mol, matrix, grid)
            cubes.write_cube(self.desk.folder / cube_file("density"), mol, grid, values, "electron density, bohr^-3")
        if job.wants("potential"):
            self.steps.begin("electrostatic potential on a grid")
            values = cubes.potential_values(mol, matrix, grid, lambda done, all_: None)
            path = self.desk.folder / cube_file("potential")
            cubes.write_cube(path, mol, grid, values, "electrostatic potential, hartree per elementary charge")


def _atom(mol: object, index: int) -> Atom:
    return Atom(mol.atom_pure_symbol(index), *map(float, mol.atom_coord(index) * param.BOHR))  # type: ignore[attr-defined]


def calculate(job: AnalysisJob, desk: Desk) -> WavefunctionResult:
    """Do one job, and give what came out."""
    source = read_source(Path(job.source))
    say(f"{source.what}: {source.mol.natm} atoms, {source.mol.nao} functions, {source.electrons:g} electrons")
    return Analyst(job, source, desk).run()


def main() -> None:
    """Run the job that the command line names."""
    run_program("wavefunction", calculate, AnalysisJob)


if __name__ == "__main__":
    main()
