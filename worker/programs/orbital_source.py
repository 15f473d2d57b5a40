"""Reading orbitals: PySCF's checkpoint file as it is, a molden or fchk file through the program ``iodata-convert``.

iodata is under the GPL, so it is only called as a program. It knows the normalisations and orders of functions by which
the programs that write molden files differ; what comes out is checked here, since only orthonormal orbitals were read
rightly.
"""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pyscf import gto
from pyscf.lib import chkfile
from pyscf.tools import molden

from tasks.results import Failure
from worker.programs.common import JobFailed

HDF5_MAGIC = b"\x89HDF\r\n\x1a\n"
#: how far orbitals may be from orthonormal; files hold at least six digits
_ORTHONORMAL = 1e-3


@dataclass(frozen=True, kw_only=True)
class Source:
    """Molecule and orbitals; a closed shell has one set of orbitals, an open one alpha and beta.

    Attributes
    ----------
    mol
        PySCF's molecule.
    coefficients, energies, occupations
        One array a set: ``(functions, orbitals)``, ``(orbitals,)`` in hartree, or None without, and ``(orbitals,)``.
    """

    mol: Any
    coefficients: tuple[Any, ...]
    energies: tuple[Any | None, ...]
    occupations: tuple[Any, ...]
    what: str

    @property
    def spins(self) -> tuple[str, ...]:
        """The names of the sets."""
        return ("alpha", "beta") if len(self.coefficients) == 2 else ("",)

    @property
    def density_matrix(self) -> Any:
        """The one of all electrons, ``(functions, functions)``."""
        return sum((c * n) @ c.T for c, n in zip(self.coefficients, self.occupations, strict=True))

    @property
    def electrons(self) -> float:
        """How many electrons the orbitals hold."""
        return float(sum(n.sum() for n in self.occupations))


def read_source(path: Path) -> Source:
    """Read orbitals.

    Raises
    ------
    JobFailed
        With class ``bad_input`` if the file holds none, or others than it says.
    """
    with path.open("rb") as stream:
        is_hdf5 = stream.read(len(HDF5_MAGIC)) == HDF5_MAGIC
    source = _read_checkpoint(path) if is_hdf5 else _read_text(path)
    _check(source, path)
    return source


def _read_checkpoint(path: Path) -> Source:
    try:
        mol = chkfile.load_mol(str(path))
        scf = chkfile.load(str(path), "scf")
        coefficients, energies, occupations = (np.asarray(scf[f"mo_{n}"]) for n in ("coeff", "energy", "occ"))
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise JobFailed(_bad(path, "holds no orbitals of PySCF", str(error))) from error
    mol.verbose, mol.stdout = 0, None
    return _source(mol, coefficients, energies, occupations, "PySCF's checkpoint file")


def _read_text(path: Path) -> Source:
    # iodata tells formats by file names, and inputs have names of their own.
    text = path.read_text(encoding="utf-8", errors="replace")
    head = text[:1_000_000]
    fmt = "molden" if "[molden format]" in head.lower() else "fchk" if "Number of basis functions" in head else None
    if fmt is None:
        raise JobFailed(_bad(path, "is neither PySCF's checkpoint file, nor a molden or fchk file", head[:80]))
    plain = path.with_name("normalised.molden")
    # It warns of which program's normalisation it corrected; the check of orthonormality tells whether that was right.
    command = (sys.executable, "-m", "iodata", "--allow-changes", "--infmt", fmt, "--outfmt", "molden")
    done = subprocess.run((*command, str(path), str(plain)), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = [line for line in done.stderr.splitlines() if line.strip()]
        raise JobFailed(_bad(path, "cannot be read as orbitals", said[-1] if said else f"exit code {done.returncode}"))
    try:
        mol, energies, coefficients, occupations, _, _ = molden.load(str(plain), verbose=0)
    except (ValueError, KeyError, IndexError, AssertionError, RuntimeError, NotImplementedError) as error:
        raise JobFailed(_bad(path, "cannot be read as orbitals", f"{type(error).__name__}: {error}")) from error
    mol.verbose = 0
    for index, core in _core_electrons(head).items():
        if 0 <= index < mol.natm:
            mol._atm[index, gto.CHARGE_OF] -= core
    # Such files do not tell charge and multiplicity; their electrons do.
    filled = [np.asarray(n) for n in (occupations if _is_pair(coefficients) else (occupations,))]
    mol.charge = round(float(mol.atom_charges().sum() - sum(n.sum() for n in filled)))
    mol.spin = round(float(filled[0].sum() - filled[1].sum()) if len(filled) == 2 else float(_singly(filled[0]).sum()))
    has_energies = bool(re.search(r"^\s*ene\s*=|^Alpha Orbital Energies", text, re.IGNORECASE | re.MULTILINE))
    return _source(mol, coefficients, energies if has_energies else None, occupations, f"a {fmt} file")


def _source(mol: Any, coefficients: Any, energies: Any, occupations: Any, what: str) -> Source:
    """Bring one set, two sets, or a restricted open shell into one form; two sets whenever spins differ."""
    pair = _is_pair(coefficients)
    sets = [np.asarray(c, dtype=float) for c in (coefficients if pair else (coefficients,))]
    filled = [np.asarray(n, dtype=float) for n in (occupations if pair else (occupations,))]
    levels = None if energies is None else [np.asarray(e) for e in (energies if pair else (energies,))]
    if not pair and mol.spin and np.any(_singly(filled[0])):
        # Of a restricted open shell both spins have the same orbitals.
        filled = [np.minimum(filled[0], 1.0), np.maximum(filled[0] - 1.0, 0.0)]
        sets = [sets[0], sets[0]]
        levels = [levels[0], levels[0]] if levels else None
    return Source(
        mol=mol,
        coefficients=tuple(sets),
        energies=tuple(levels) if levels else (None,) * len(sets),
        occupations=tuple(filled),
        what=what,
    )


def _singly(occupations: Any) -> Any:
    return np.isclose(occupations, 1.0)


def _core_electrons(text: str) -> dict[int, int]:
    """Give the electrons that effective core potentials stand for, by atom from 0: PySCF's section ``[Core]``."""
    section = re.search(r"^\[core\][^\n]*\n(.*?)(?=^\[|\Z)", text, re.IGNORECASE | re.MULTILINE | re.DOTALL)
    rows = re.findall(r"^\s*(\d+)\s*:\s*(\d+)", section[1], re.MULTILINE) if section else []
    return {int(atom) - 1: int(core) for atom, core in rows}


def _is_pair(coefficients: Any) -> bool:
    """Tell whether there are two sets of orbitals, alpha and beta."""
    return isinstance(coefficients, tuple | list) or np.asarray(coefficients).ndim == 3


def _check(source: Source, path: Path) -> None:
    overlap = source.mol.intor_symmetric("int1e_ovlp")
    for coefficients in source.coefficients:
        off = float(np.abs(coefficients.T @ overlap @ coefficients - np.eye(coefficients.shape[1])).max())
        if not off < _ORTHONORMAL:
            raise JobFailed(_bad(path, "holds orbitals that are not orthonormal", f"off by {off:.1e}"))
    if abs(source.electrons - source.mol.nelectron) > 1e-4:
        evidence = f"{source.electrons:.4f} electrons in the orbitals, {source.mol.nelectron} in the molecule"
        raise JobFailed(_bad(path, "holds another number of electrons than its molecule has", evidence))


def _bad(path: Path, problem: str, evidence: str) -> Failure:
    return Failure(
        error_class="bad_input",
        message=f"The file of orbitals {problem}.",
        evidence=(f"{path.name}: {evidence}",),
        remedy="Take the orbitals of a quantum job that succeeded, or a molden file with all of its orbitals.",
        permanent=True,
    )
