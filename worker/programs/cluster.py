"""A cluster taken out of the last frame of a trajectory: one cation with the counter-ions and waters nearest to it."""

from __future__ import annotations

from typing import Any

import numpy as np
from MDAnalysis.lib.distances import distance_array, minimize_vectors

from tasks.dynamics import Cluster
from tasks.elements import Atom, write_xyz
from tasks.results import ClusterMember, Failure, TakenCluster
from worker.programs.common import JobFailed

#: masses of topologies are rounded
_HYDROGEN_BELOW_DALTON = 1.5


def take_cluster(
    universe: Any, wanted: Cluster, groups: dict[str, list[Any]], charges: dict[str, int], symbols: list[str]
) -> tuple[TakenCluster, str]:
    """Take a cluster out of the frame at which the universe stands.

    The cation is the one with the nearest counter-ion (without any, the nearest water); of counter-ions and waters
    those are taken whose heavy atoms are nearest to any of its own.

    Parameters
    ----------
    groups
        Indices of the atoms of each molecule, by species.
    charges
        Charge of a molecule, by species, in elementary charges.
    symbols
        Element of each atom of the universe.

    Returns
    -------
    cluster
        What was taken.
    xyz
        Its structure in ångström: molecule after molecule, each whole, as near to the cation as any of its images.

    Raises
    ------
    JobFailed
        If the box holds less than was asked for.
    """
    frame = universe.trajectory.ts
    positions, box = universe.atoms.positions, frame.dimensions
    asked = ((wanted.counter_ion, wanted.counter_ions), ("water", wanted.waters))
    for species, number in ((wanted.cation, 1), *asked):
        if len(groups.get(species, [])) < number:
            raise JobFailed(_failure(species, number, len(groups.get(species, []))))
    heavy = universe.atoms.masses > _HYDROGEN_BELOW_DALTON

    def distances(molecule: Any, species: str) -> list[float]:
        mine = positions[molecule[heavy[molecule]]]
        return [float(distance_array(mine, positions[m[heavy[m]]], box=box).min()) for m in groups.get(species, [])]

    nearest = wanted.counter_ion if wanted.counter_ions else "water"
    cations = groups[wanted.cation]
    cation = int(np.argmin([min(distances(one, nearest)) for one in cations]))
    taken = [(wanted.cation, cation, 0.0)]
    for species, number in asked:
        far = distances(cations[cation], species)
        taken += [(species, int(i), far[i]) for i in np.argsort(far, kind="stable")[:number]]
    centre = positions[cations[cation][0]]
    atoms: list[Atom] = []
    for species, index, _ in taken:
        molecule = groups[species][index]
        whole = positions[molecule[0]] + _shortest(positions[molecule] - positions[molecule[0]], box)
        shift = _shortest((whole.mean(axis=0) - centre)[None, :], box)[0] - (whole.mean(axis=0) - centre)
        atoms += [
            Atom(symbols[i], *map(float, place)) for i, place in zip(molecule, whole + shift - centre, strict=True)
        ]
    members = tuple(
        ClusterMember(species=species, number=index + 1, atoms=len(groups[species][index]), distance_angstrom=far)
        for species, index, far in taken
    )
    charge = sum(charges[species] for species, _, _ in taken)
    said = ", ".join(f"{one.species} {one.number}" for one in members)
    xyz = write_xyz(atoms, f"{said}; charge {charge}; frame at {frame.time:g} ps of production.xtc")
    return TakenCluster(members=members, charge=charge, time_ps=float(frame.time)), xyz


def _shortest(vectors: Any, box: Any) -> Any:
    return minimize_vectors(np.ascontiguousarray(vectors, dtype=np.float32), box)


def _failure(species: str, number: int, there: int) -> Failure:
    return Failure(
        error_class="bad_input",
        message=f"analysis.cluster asks for {number} {species}, and the box holds {there}.",
        remedy="Ask for fewer.",
        permanent=True,
    )
