"""Which words for methods, basis sets and solvents Simrelay knows, and which engines compute them.

The same word means the same physics on every engine: ``B3LYP`` is the Gaussian form with VWN3 correlation
(Stephens et al., J. Phys. Chem. 98 (1994) 11623, as in Gaussian and PySCF), ``B3LYP5`` the one with VWN5.
"""

from __future__ import annotations

from difflib import get_close_matches
from enum import StrEnum
from typing import NamedTuple

from tasks.errors import InputError


class Family(StrEnum):
    """What kind of theory a method is."""

    DFT = "dft"
    HARTREE_FOCK = "hartree_fock"
    TIGHT_BINDING = "tight_binding"


class Method(NamedTuple):
    """One method: its canonical spelling, its kind, and the engines that have it."""

    name: str
    family: Family
    engines: tuple[str, ...]


METHODS = {
    method.name.lower(): method
    for method in (
        *(
            Method(name, Family.DFT, ("pyscf",))
            for name in (
                "B3LYP",
                "B3LYP5",
                "PBE",
                "PBE0",
                "BLYP",
                "BP86",
                "TPSS",
                "M06-2X",
                "CAM-B3LYP",
                "wB97X",
                "r2SCAN",
            )
        ),
        Method("HF", Family.HARTREE_FOCK, ("pyscf",)),
        Method("GFN2-xTB", Family.TIGHT_BINDING, ("xtb",)),
        Method("GFN1-xTB", Family.TIGHT_BINDING, ("xtb",)),
    )
}
_SPELLINGS = {
    "gfn2": "gfn2-xtb",
    "gfn1": "gfn1-xtb",
    "xtb": "gfn2-xtb",
    "m062x": "m06-2x",
    "hartree-fock": "hf",
    "pbe1pbe": "pbe0",
}

BASES = {
    name.lower(): name
    for name in (
        "STO-3G", "3-21G", "6-31G", "6-31G*", "6-31G**", "6-31+G*", "6-31++G**", "6-311G**", "6-311++G**",
        "def2-SVP", "def2-SVPD", "def2-TZVP", "def2-TZVPP", "def2-TZVPD", "def2-QZVP",
        "cc-pVDZ", "cc-pVTZ", "cc-pVQZ", "aug-cc-pVDZ", "aug-cc-pVTZ",
    )
}  # fmt: skip
_BASIS_SPELLINGS = {
    "6-31g(d)": "6-31g*",
    "6-31g(d,p)": "6-31g**",
    "6-31+g(d)": "6-31+g*",
    "6-311g(d,p)": "6-311g**",
    "def2svp": "def2-svp",
    "def2tzvp": "def2-tzvp",
}

#: Static relative permittivity at 298 K (Minnesota Solvent Descriptor Database, 2010).
SOLVENTS = {
    "water": 78.3553,
    "methanol": 32.613,
    "ethanol": 24.852,
    "acetonitrile": 35.688,
    "dmso": 46.826,
    "dmf": 37.219,
    "acetone": 20.493,
    "dichloromethane": 8.93,
    "thf": 7.4257,
    "toluene": 2.3741,
    "hexane": 1.8819,
}


def _known(field: str, given: str, table: dict[str, object], spellings: dict[str, str]) -> str:
    key = given.strip().lower()
    key = spellings.get(key, key)
    if key in table:
        return key
    near = get_close_matches(key, table, n=3, cutoff=0.5)
    names = [getattr(table[k], "name", None) or (table[k] if isinstance(table[k], str) else k) for k in near or table]
    lead = "Did you mean" if near else "Known are"
    raise InputError(
        field, given, f"is not a known {field}", f"{lead} {', '.join(map(str, names))}{'?' if near else '.'}"
    )


def find_method(given: str) -> Method:
    """Give the method of that name in any usual spelling; raises InputError with what is near to it."""
    return METHODS[_known("method", given, dict(METHODS), _SPELLINGS)]


def find_basis(given: str) -> str:
    """Give the canonical spelling of a basis set; raises InputError with what is near to it."""
    return BASES[_known("basis", given, dict(BASES), _BASIS_SPELLINGS)]


def find_solvent(given: str) -> str:
    """Give the canonical name of a solvent; raises InputError with what is near to it."""
    return _known(
        "solvent",
        given,
        dict(SOLVENTS),
        {"h2o": "water", "meoh": "methanol", "mecn": "acetonitrile", "dcm": "dichloromethane"},
    )
