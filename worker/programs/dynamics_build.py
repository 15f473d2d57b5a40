"""Builds a solvated box: parameters of each kind of molecule, packing by GROMACS, and a check of what came out.

Run as ``python -m worker.programs.dynamics_build build-job.json`` in scratch. It leaves ``system.gro``, ``topol.top``
(complete in itself) and ``build.json``, which is written last.
"""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

from pydantic import BaseModel

from tasks.dynamics import Solution
from tasks.results import Failure
from worker.programs.common import EXIT_FAILED, FAILURE_FILE, JobFailed, say, write_atomically
from worker.programs.force_fields import DEFAULTS, Part, anion, water

BUILD_JOB = "build-job.json"
BUILD_FILE = "build.json"
TOPOLOGY = "topol.top"
STRUCTURE = "system.gro"
#: edges tried one after the other, as parts of the one asked for, while an NPT stage will find the right one
_EDGES = (1.0, 1.02, 1.04, 1.06, 1.09, 1.12)


class BuildJob(BaseModel):
    """What to build, as ``build-job.json`` holds it."""

    system: Solution
    #: GROMACS' program with its fixed arguments
    gmx: tuple[str, ...]
    #: folder of topologies that were made before
    cache: str
    seed: int
    #: folder of the structures that cations name; empty: none does
    inputs: str = ""
    #: edge of the box as a part of the one asked for; a correction enlarges it
    scale: float = 1.0
    #: whether the edge may be enlarged, since the pressure decides it later
    edge_may_grow: bool = True


class Kind(BaseModel):
    """One kind of molecule in a box."""

    #: for people, and what an analysis asks for
    species: str
    molecule_type: str
    count: int
    atoms: int
    charge: int


class Built(BaseModel):
    """What was built, as ``build.json`` holds it."""

    kinds: tuple[Kind, ...]
    atoms: int
    edge_nm: float


def build(job: BuildJob, folder: Path) -> Built:
    """Build a box in ``folder``.

    Raises
    ------
    JobFailed
        If there are no parameters for a molecule, or the molecules do not fit into the box.
    """
    members = _members(job)
    (folder / TOPOLOGY).write_text(topology(members))
    assert job.system.edge_nm is not None
    edges = [job.system.edge_nm * job.scale * part for part in (_EDGES if job.edge_may_grow else _EDGES[:1])]
    for edge in edges:
        structure = _pack(job, members, edge, folder)
        found = count_residues(structure.read_text()) if structure else Counter[str]()
        if structure and all(found[part.molecule_type] == number for _, part, number in members if number):
            break
    else:
        short = {species: number - found[part.molecule_type] for species, part, number in members}
        raise JobFailed(_too_small(edges, {name: number for name, number in short.items() if number > 0}))
    _check(structure.read_text(), members)
    structure.replace(folder / STRUCTURE)
    kinds = tuple(
        Kind(species=species, molecule_type=part.molecule_type, count=number, atoms=part.atoms, charge=part.charge)
        for species, part, number in members
        if number
    )
    return Built(kinds=kinds, atoms=sum(kind.atoms * kind.count for kind in kinds), edge_nm=round(edge, 4))


def _members(job: BuildJob) -> list[tuple[str, Part, int]]:
    """Give all kinds of molecules with their species and number: cations, counter-ions, water."""
    system = job.system
    members: list[tuple[str, Part, int]] = []
    if system.cations:
        # RDKit takes a second to load, which neat water does not need.
        from worker.programs.given_structure import placed
        from worker.programs.parameters import parameterise

        for number, cation in enumerate(system.cations, 1):
            part, species = parameterise(cation.smiles, f"C{number:02d}", Path(job.cache)), cation.name or cation.smiles
            if cation.geometry:
                part = placed(part, (Path(job.inputs) / cation.geometry).read_text(encoding="utf-8"), species)
                say(f"{species} begins at the structure that was given.")
            members.append((species, part, cation.count))
    charge = sum(part.charge * count for _, part, count in members)
    if charge:
        members.append((system.counter_ion, anion(system.counter_ion), charge))
    members.append(("water", water(), system.water or 0))
    return members


def topology(members: list[tuple[str, Part, int]]) -> str:
    """Write the topology of a whole system; types of atoms stand once, however many molecules share them.

    Raises
    ------
    JobFailed
        If two molecules give one type different parameters.
    """
    types: dict[str, str] = {}
    for _, part, _ in members:
        for name, row in part.atom_types.items():
            if types.setdefault(name, row) != row:
                message = f"Two molecules give the type of atom {name} different parameters."
                raise JobFailed(Failure(error_class="parameters", message=message, permanent=True))
    molecules = [f"{part.molecule_type} {number}" for _, part, number in members if number]
    return "\n".join(
        [
            DEFAULTS,
            "[ atomtypes ]",
            *types.values(),
            "",
            *(part.topology for _, part, number in members if number),
            "[ system ]",
            "Built by Simrelay",
            "[ molecules ]",
            *molecules,
            "",
        ]
    )


def _pack(job: BuildJob, members: list[tuple[str, Part, int]], edge: float, folder: Path) -> Path | None:
    """Put all molecules into a cubic box; None: the ions do not fit in."""
    packed: Path | None = None
    for index, (_, part, number) in enumerate(members):
        if part.molecule_type == "SOL" or not number:
            continue
        one, target = folder / f"one-{part.molecule_type}.gro", folder / f"packed-{index}.gro"
        one.write_text(part.structure)
        into = ["-f", packed.name] if packed else ["-box", *[f"{edge:.5f}"] * 3]
        arguments = ["-ci", one.name, "-nmol", str(number), "-seed", str(job.seed + index), "-try", "200"]
        _gmx(job, folder, ["insert-molecules", *into, *arguments, "-o", target.name])
        if count_residues(target.read_text())[part.molecule_type] < number:
            return None
        packed = target
    if not job.system.water:
        return packed
    target = folder / "packed-water.gro"
    into = ["-cp", packed.name] if packed else ["-box", *[f"{edge:.5f}"] * 3]
    _gmx(job, folder, ["solvate", *into, "-cs", "spc216.gro", "-maxsol", str(job.system.water), "-o", target.name])
    return target


def _gmx(job: BuildJob, folder: Path, arguments: list[str]) -> None:
    done = subprocess.run(
        [*job.gmx, "-nobackup", "-quiet", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        failure = Failure(
            error_class="program_failed",
            message=f"gmx {arguments[0]} failed with exit code {done.returncode}.",
            evidence=tuple(lines[-8:]),
        )
        raise JobFailed(failure)


def count_residues(gro: str) -> Counter[str]:
    """Count the residues of a ``.gro`` file by name; neighbours differ in their number."""
    found: Counter[str] = Counter()
    before = ""
    lines = gro.splitlines()
    for line in lines[2 : 2 + int(lines[1])]:
        if line[:10] != before:
            before = line[:10]
            found[line[5:10].strip()] += 1
    return found


def _check(gro: str, members: list[tuple[str, Part, int]]) -> None:
    """Make sure that structure and topology have the same atoms and that the box is neutral."""
    atoms, expected = int(gro.splitlines()[1]), sum(part.atoms * number for _, part, number in members)
    charge = sum(part.charge * number for _, part, number in members)
    if atoms != expected or charge:
        message = f"The box has {atoms} atoms and charge {charge:+d}; wanted were {expected} atoms, neutral."
        raise JobFailed(Failure(error_class="internal", message=message, permanent=True))


def _too_small(edges: list[float], short: dict[str, int]) -> Failure:
    left_out = ", ".join(f"{number} of {name}" for name, number in short.items()) or "some ions"
    return Failure(
        error_class="box_too_small",
        message=f"A box of {edges[0]:.2f} to {edges[-1]:.2f} nm cannot hold the molecules: {left_out} did not fit in.",
        remedy="Give a longer edge or a lower density at the beginning, or fewer molecules.",
        permanent=True,
    )


def main() -> None:
    """Build the box that the command line names."""
    folder = Path(sys.argv[1]).resolve().parent
    try:
        built = build(BuildJob.model_validate_json(Path(sys.argv[1]).read_bytes()), folder)
    except JobFailed as failed:
        write_atomically(folder / FAILURE_FILE, failed.failure.model_dump_json())
        say(f"SIMRELAY BUILD FAILED ({failed.failure.error_class}): {failed.failure.message}")
        sys.exit(EXIT_FAILED)
    write_atomically(folder / BUILD_FILE, built.model_dump_json(indent=1))
    kinds = ", ".join(f"{kind.count} {kind.species}" for kind in built.kinds)
    say(f"Built a box of {built.edge_nm:.3f} nm: {kinds}; {built.atoms} atoms.")


if __name__ == "__main__":
    main()
