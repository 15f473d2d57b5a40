"""Orbitals, density and electrostatic potential on a regular grid, and Gaussian's cube files that hold them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tasks.results import Failure
from worker.programs.common import JobFailed

BOHR_PER_ANGSTROM = 1.8897261246
#: more values than this make no better picture, and files of hundreds of megabytes
MAX_POINTS = 8_000_000
_BLOCK = 20_000
#: memory for one block of the integrals of the potential, in values
_POTENTIAL_VALUES = 8_000_000
#: the potential is infinite at a nucleus: a point is taken to be at least this far from it, in bohr
_CLOSEST = 1e-3

Tick = Callable[[int, int], None]


@dataclass(frozen=True, kw_only=True)
class Grid:
    """A regular grid along the axes.

    Attributes
    ----------
    origin
        ``(3,)`` in bohr.
    spacing
        In bohr.
    shape
        Points along x, y and z.
    """

    origin: Any
    spacing: float
    shape: tuple[int, int, int]

    @property
    def count(self) -> int:
        """How many points it has."""
        return int(np.prod(self.shape))

    def blocks(self, size: int) -> Iterator[tuple[int, Any]]:
        """Give the points in order (z fastest) as ``(points, 3)`` in bohr, with the index of the first of them."""
        for first in range(0, self.count, size):
            places = np.unravel_index(np.arange(first, min(first + size, self.count)), self.shape)
            yield first, self.origin + self.spacing * np.stack(places, axis=1)


def grid_around(coordinates: Any, spacing_angstrom: float, margin_angstrom: float) -> Grid:
    """Give the grid around atoms, ``(atoms, 3)`` in bohr.

    Raises
    ------
    JobFailed
        With class ``bad_input`` if it would have too many points.
    """
    spacing, margin = spacing_angstrom * BOHR_PER_ANGSTROM, margin_angstrom * BOHR_PER_ANGSTROM
    low, high = coordinates.min(axis=0) - margin, coordinates.max(axis=0) + margin
    numbers = np.ceil((high - low) / spacing).astype(int) + 1
    # As much beyond the atoms on one side as on the other.
    origin = (low + high - (numbers - 1) * spacing) / 2
    grid = Grid(origin=origin, spacing=spacing, shape=(int(numbers[0]), int(numbers[1]), int(numbers[2])))
    if grid.count > MAX_POINTS:
        failure = Failure(
            error_class="bad_input",
            message=f"The grid would have {grid.count} points, more than {MAX_POINTS}.",
            evidence=(f"{grid.shape[0]} x {grid.shape[1]} x {grid.shape[2]} points {spacing_angstrom:g} Å apart",),
            remedy=f"Raise spacing_angstrom to {spacing_angstrom * (grid.count / MAX_POINTS) ** (1 / 3) + 0.005:.2f}.",
            permanent=True,
        )
        raise JobFailed(failure)
    return grid


def orbital_values(mol: Any, orbital: Any, grid: Grid) -> Any:
    """Give one orbital's values on a grid, in bohr^(-3/2)."""
    values = np.empty(grid.count)
    for first, points in grid.blocks(_BLOCK):
        values[first : first + len(points)] = mol.eval_gto("GTOval", points) @ orbital
    return values.reshape(grid.shape)


def density_values(mol: Any, density_matrix: Any, grid: Grid) -> Any:
    """Give the electron density on a grid, in bohr^-3."""
    values = np.empty(grid.count)
    for first, points in grid.blocks(_BLOCK):
        functions = mol.eval_gto("GTOval", points)
        values[first : first + len(points)] = np.einsum("pi,pi->p", functions @ density_matrix, functions)
    return values.reshape(grid.shape)


def potential_values(mol: Any, density_matrix: Any, grid: Grid, tick: Tick) -> Any:
    """Give the electrostatic potential of nuclei and electrons on a grid, in hartree per elementary charge."""
    values = np.empty(grid.count)
    charges, nuclei = mol.atom_charges(), mol.atom_coords()
    size = max(16, min(_BLOCK, _POTENTIAL_VALUES // mol.nao**2))
    for first, points in grid.blocks(size):
        distances = np.linalg.norm(points[:, None, :] - nuclei[None], axis=2)
        attraction = (charges / np.maximum(distances, _CLOSEST)).sum(axis=1)
        integrals = mol.intor("int1e_grids", grids=points, hermi=1)
        values[first : first + len(points)] = attraction - np.einsum("pij,ij->p", integrals, density_matrix)
        tick(first + len(points), grid.count)
    return values.reshape(grid.shape)


def write_cube(path: Path, mol: Any, grid: Grid, values: Any, title: str) -> None:
    """Write a cube file in Gaussian's layout: lengths in bohr, values in atomic units, z fastest."""
    rows = [title[:78], "written by Simrelay; lengths in bohr, values in atomic units"]
    rows.append(f"{mol.natm:5d}" + "".join(f"{x:12.6f}" for x in grid.origin))
    for axis, number in enumerate(grid.shape):
        step = [grid.spacing if i == axis else 0.0 for i in range(3)]
        rows.append(f"{number:5d}" + "".join(f"{x:12.6f}" for x in step))
    charges, places = mol.atom_charges(), mol.atom_coords()
    for index in range(mol.natm):
        row = f"{atomic_number(mol, index):5d}{float(charges[index]):12.6f}"
        rows.append(row + "".join(f"{x:12.6f}" for x in places[index]))
    temporary = path.with_name(f".{path.name}.new")
    with temporary.open("w") as stream:
        stream.write("\n".join(rows) + "\n")
        for line in values.reshape(-1, grid.shape[2]):
            for first in range(0, len(line), 6):
                stream.write("".join(f"{x:13.5E}" for x in line[first : first + 6]) + "\n")
    temporary.replace(path)


def atomic_number(mol: Any, index: int) -> int:
    """Give an atom's number in the periodic table, also where an effective core potential has taken electrons."""
    return int(mol.atom_charge(index) + mol.atom_nelec_core(index))


def read_cube(path: Path) -> tuple[Any, Any, Grid, Any]:
    """Read a cube file of one quantity.

    Returns
    -------
    numbers, coordinates, grid, values
        Atomic numbers ``(atoms,)``, places ``(atoms, 3)`` in bohr, the grid, and the values in its shape.

    Raises
    ------
    ValueError
        If the file is cut short, or its grid is not regular along the axes.
    """
    with path.open() as stream:
        stream.readline()
        stream.readline()
        head = stream.readline().split()
        atoms = int(head[0])
        origin = np.array([float(x) for x in head[1:4]])
        axes = [stream.readline().split() for _ in range(3)]
        shape = tuple(int(axis[0]) for axis in axes)
        steps = np.array([[float(x) for x in axis[1:4]] for axis in axes])
        rows = [stream.readline().split() for _ in range(abs(atoms))]
        if atoms < 0:  # orbitals: one line says how many and which
            stream.readline()
        values = np.fromstring(stream.read(), sep=" ")
    spacing = float(steps[0, 0])
    if not np.allclose(steps, spacing * np.eye(3), atol=1e-4) or values.size != int(np.prod(shape)):
        raise ValueError(f"{path.name} holds {values.size} values on a grid of {shape}, or its grid is not cubic")
    grid = Grid(origin=origin, spacing=spacing, shape=(shape[0], shape[1], shape[2]))
    numbers = np.array([int(row[0]) for row in rows])
    return numbers, np.array([[float(x) for x in row[2:5]] for row in rows]), grid, values.reshape(grid.shape)
