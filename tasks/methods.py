"""Which words for methods, basis sets and solvents Simrelay knows, and which engines compute what with them.

The same word means the same physics on every engine: ``B3LYP`` is the Gaussian form with VWN3 correlation
(Stephens et al., J. Phys. Chem. 98 (1994) 11623, as in Gaussian and PySCF), ``B3LYP5`` the one with VWN5. What a
program has under that name with other physics, its engine does not offer.
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


class Ability(NamedTuple):
    """What one engine computes, exactly as the words say it."""

    tasks: frozenset[str]
    methods: frozenset[str]
    solvent_models: frozenset[str]
    dispersion: frozenset[str] = frozenset()
    #: whether it also computes its methods without density fitting; of no meaning to tight binding
    exact_integrals: bool = False


_DFT = "B3LYP B3LYP5 PBE PBE0 BLYP BP86 TPSS M06-2X CAM-B3LYP wB97X r2SCAN".split()
_TIGHT_BINDING = ("GFN2-xTB", "GFN1-xTB")
_ALL_TASKS = frozenset({"single_point", "optimisation", "frequencies", "optimisation_frequencies"})

#: by engine, in the order in which ``auto`` looks for one
ABILITIES = {
    "pyscf": Ability(
        tasks=_ALL_TASKS,
        methods=frozenset({*_DFT, "HF"}),
        solvent_models=frozenset({"CPCM", "SMD"}),
        dispersion=frozenset({"D3BJ", "D4"}),
        exact_integrals=True,
    ),
    "xtb": Ability(
        tasks=_ALL_TASKS,
        methods=frozenset(_TIGHT_BINDING),
        solvent_models=frozenset({"ALPB"}),
    ),
    # Not BP86: programs differ in the local correlation that goes with P86 (PZ81, VWN5, PW92), and it is not known that
    # ORCA takes the same as PySCF (PZ81, by libxc).
    "orca": Ability(
        tasks=_ALL_TASKS,
        methods=frozenset({*_DFT, "HF"} - {"BP86"}),
        solvent_models=frozenset({"CPCM", "SMD"}),
        dispersion=frozenset({"D3BJ", "D4"}),
        exact_integrals=True,
    ),
}


def _engines(name: str) -> tuple[str, ...]:
    return tuple(engine for engine, ability in ABILITIES.items() if name in ability.methods)


METHODS = {
    method.name.lower(): method
    for method in (
        *(Method(name, Family.DFT, _engines(name)) for name in _DFT),
        Method("HF", Family.HARTREE_FOCK, _engines("HF")),
        *(Method(name, Family.TIGHT_BINDING, _engines(name)) for name in _TIGHT_BINDING),
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


class Demand(NamedTuple):
    """What an engine has to have for one calculation, in canonical words."""

    task: str
    method: str
    solvent_model: str | None = None
    dispersion: str | None = None
    density_fitting: bool = True

    def __str__(self) -> str:
        parts = [self.method, self.task.replace("_", " "), self.solvent_model, self.dispersion]
        return ", ".join(part for part in parts if part) + ("" if self.density_fitting else ", no density fitting")


def lacking(engine: str, demand: Demand) -> tuple[str, str]:
    """Give the field and the value of a demand that an engine has not; both empty: it computes exactly that."""
    ability = ABILITIES[engine]
    if demand.method not in ability.methods:
        return "method", demand.method
    if demand.task not in ability.tasks:
        return "task", demand.task
    if demand.solvent_model and demand.solvent_model not in ability.solvent_models:
        return "solvent_model", demand.solvent_model
    if demand.dispersion and demand.dispersion not in ability.dispersion:
        return "dispersion", demand.dispersion
    tight = find_method(demand.method).family is Family.TIGHT_BINDING
    if not demand.density_fitting and not ability.exact_integrals and not tight:
        return "density_fitting", "false"
    return "", ""


def capable_engines(demand: Demand) -> tuple[str, ...]:
    """Give the engines that compute exactly what is demanded, in the order of preference."""
    return tuple(engine for engine in ABILITIES if not lacking(engine, demand)[0])
