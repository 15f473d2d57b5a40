"""Topologies of small organic cations: GAFF with AM1-BCC charges by acpype, kept by canonical SMILES and settings.

GAFF: Wang, Wolf, Caldwell, Kollman, Case, J. Comput. Chem. 25 (2004) 1157; AM1-BCC: Jakalian, Jack, Bayly, J. Comput.
Chem. 23 (2002) 1623. GAFF2 is not used: acpype's ``gaff2`` gives a quaternary nitrogen a wrong size.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rdkit import Chem
from rdkit.Chem import rdDistGeom, rdForceFieldHelpers

from tasks.results import Failure
from worker.programs.common import JobFailed, say, write_atomically
from worker.programs.force_fields import Part

_SEED = 61
#: changes whenever the same SMILES would get another topology
SETTINGS = {"force_field": "gaff", "charges": "bcc", "embedding": "ETKDGv3, MMFF94s", "seed": _SEED, "layout": 1}
_NAME = "MOL"
#: a topology's charges may miss a whole number by rounding
_CHARGE_ERROR = 0.02


def parameterise(smiles: str, molecule_type: str, cache: Path) -> Part:
    """Give the topology of one cation, from the cache or by acpype.

    Parameters
    ----------
    smiles
        In any form; canonical SMILES and ``SETTINGS`` make the key.
    molecule_type
        Its name in the topology, also that of its residue.
    cache
        Folder of all topologies of this installation.

    Raises
    ------
    JobFailed
        If there is no topology for this molecule.
    """
    mol = Chem.MolFromSmiles(smiles) if smiles.strip() else None
    if mol is None:
        raise JobFailed(_failure(f"{smiles!r} is not a molecule.", ()))
    canonical = Chem.MolToSmiles(mol)
    key = hashlib.sha256(json.dumps([canonical, SETTINGS, version("acpype")]).encode()).hexdigest()[:32]
    kept = cache / f"{key}.json"
    part = _read(kept)
    if part is None:
        say(f"Parameters of {canonical}: GAFF, AM1-BCC (acpype {version('acpype')}).")
        part = _compute(mol, canonical)
        cache.mkdir(parents=True, exist_ok=True)
        write_atomically(kept, json.dumps({"smiles": canonical, **asdict(part)}, indent=1))
    else:
        say(f"Parameters of {canonical}: kept from before.")
    return _renamed(part, molecule_type)


def _read(path: Path) -> Part | None:
    try:
        values = json.loads(path.read_text())
        del values["smiles"]
        return Part(**values)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _compute(mol: Chem.Mol, smiles: str) -> Part:
    whole = Chem.AddHs(mol)
    method: Any = rdDistGeom.ETKDGv3()
    method.randomSeed = _SEED
    if rdDistGeom.EmbedMolecule(whole, method) != 0:
        raise JobFailed(_failure(f"RDKit finds no 3D structure of {smiles}.", ()))
    rdForceFieldHelpers.MMFFOptimizeMolecule(whole, mmffVariant="MMFF94s")
    charge = Chem.GetFormalCharge(whole)
    folder = Path(tempfile.mkdtemp(prefix="acpype-", dir=Path.cwd()))
    try:
        Chem.MolToMolFile(whole, str(folder / f"{_NAME}.mol"))
        output = _acpype(folder, charge)
        made = folder / f"{_NAME}.acpype"
        try:
            topology, structure = (made / f"{_NAME}_GMX.itp").read_text(), (made / f"{_NAME}_GMX.gro").read_text()
        except FileNotFoundError:
            raise JobFailed(_failure(f"acpype gave no topology of {smiles}.", tuple(output[-8:]))) from None
        return read_topology(topology, structure, charge)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _acpype(folder: Path, charge: int) -> list[str]:
    programs = os.path.dirname(sys.executable)
    environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ.get('PATH', '')}"}
    # Without -f it goes on from whatever an earlier call left.
    command = [os.path.join(programs, "acpype"), "-f", "-i", f"{_NAME}.mol", "-n", str(charge), "-c", "bcc"]
    done = subprocess.run(
        [*command, "-a", "gaff", "-b", _NAME, "-o", "gmx"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    return [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]


def read_topology(topology: str, structure: str, charge: int) -> Part:
    """Take acpype's topology apart: the types of atoms, which belong to the whole system, and the molecule.

    Raises
    ------
    JobFailed
        If the charges do not add up to the molecule's, or atoms are missing.
    """
    sections = _sections(topology)
    types = {row.split()[0]: _type_row(row) for row in sections.pop("atomtypes", [])}
    atoms = [row.split() for row in sections["atoms"]]
    total = sum(float(row[6]) for row in atoms)
    if abs(total - charge) > _CHARGE_ERROR or len(atoms) != int(structure.splitlines()[1]):
        raise JobFailed(_failure(f"acpype's topology has charge {total:.3f} instead of {charge:+d}.", ()))
    # The rounding goes onto the first atom, so that a box of many is neutral.
    atoms[0][6] = f"{float(atoms[0][6]) + charge - total:.6f}"
    sections["atoms"] = [" ".join(row[:8]) for row in atoms]
    return Part(
        molecule_type=_NAME,
        atoms=len(atoms),
        charge=charge,
        mass_dalton=round(sum(float(row[7]) for row in atoms), 4),
        atom_types=types,
        topology="".join(f"[ {name} ]\n" + "".join(f"{row}\n" for row in rows) for name, rows in sections.items()),
        structure=structure,
    )


def _sections(text: str) -> dict[str, list[str]]:
    """Give the rows of each section without comments; sections of one name are one (``dihedrals``)."""
    sections: dict[str, list[str]] = {}
    rows: list[str] = []
    for line in text.splitlines():
        row = line.partition(";")[0].strip()
        if row.startswith("["):
            rows = sections.setdefault(row.strip("[] "), [])
        elif row and not row.startswith("#"):
            rows.append(row)
    # Position restraints are included under a condition that is never set here.
    return {name: rows for name, rows in sections.items() if rows}


def _type_row(row: str) -> str:
    """Give a row of ``[ atomtypes ]`` in the form with an atomic number (0: not known, and of no use here)."""
    name, _, mass, charge, particle, sigma, epsilon, *_ = row.split()
    return f"{name} 0 {mass} {charge} {particle} {sigma} {epsilon}"


def _renamed(part: Part, name: str) -> Part:
    """Give a molecule another name, also that of its residue in the topology and in the structure."""
    lines = part.topology.splitlines()
    section = ""
    for number, line in enumerate(lines):
        if line.startswith("["):
            section = line.strip("[] ")
        elif section == "moleculetype":
            lines[number] = f"{name} {line.split()[1]}"
        elif section == "atoms":
            fields = line.split()
            lines[number] = " ".join((*fields[:3], name, *fields[4:]))
    title, count, *rest = part.structure.splitlines()
    atoms = int(count)
    rows = [f"{row[:5]}{name:<5}{row[10:]}" for row in rest[:atoms]]
    structure = "\n".join([title, count, *rows, *rest[atoms:], ""])
    return Part(**{**asdict(part), "molecule_type": name, "topology": "\n".join([*lines, ""]), "structure": structure})


def _failure(message: str, evidence: tuple[str, ...]) -> Failure:
    return Failure(
        error_class="parameters",
        message=message,
        evidence=evidence,
        remedy="GAFF has parameters for molecules of C, H, N, O, S, P and halogens: check the SMILES, or give your own"
        " topology as files.",
        permanent=True,
    )
