from __future__ import annotations

import time
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.planning import read_request
from tasks.errors import InputError

_PIECES = st.sampled_from(
    "HOMO LUMO of and , ( ) [ ] TMA water C[N+](C)(C)C CCO c1ccccc1 at / // B3LYP def2-SVP GFN2 in with compare then"
    " optimise ' \" ` . : N,N- -ium [OH-] . charge 1 3 multiplicity basis level ω ⁺ \n".split(" ")
)
TMA, DMP = "tetramethylammonium", "N,N-dimethylpiperidinium"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (f"Compare the HOMO and LUMO energies of {TMA} and {DMP}", [TMA, DMP]),
        ("Compare the gap of DMP and TMA and DMP", [DMP, TMA]),
        ("LUMO of tetramethyl ammonium, Tetramethyl-ammonium", [TMA]),
        ("LUMO of `C[N+](C)(C)C`", ["C[N+](C)(C)C"]),
        ('LUMO of "OCC" and "C"', ["CCO", "C"]),
        ("LUMO of CCC[N+](C)(C)C, CCCC[N+](C)(C)C, and CC[N+](C)(C)C.",
         ["CCC[N+](C)(C)C", "CCCC[N+](C)(C)C", "CC[N+](C)(C)C"]),
        ("energy of c1ccccc1 (benzene)", ["c1ccccc1"]),
        ("energy of benzene (c1ccccc1)", ["benzene"]),
        ("HOMO of C[N+](C)(C)C?", ["C[N+](C)(C)C"]),
        ("energy (of C/C=C/C)", ["C/C=C/C"]),
        ("SMILES: C[NH3+], mass please", ["C[NH3+]"]),
        ("Is the IS OF CO NO ON IN C60 H2O2 step1 (one) SCF C a b? I see. NICS", []),
        ("the C=O bond and the C=C stretch", []),
        ("HOMO/LUMO and/or kcal/mol", []),
        ("mass of the quaternary ammonium", []),
        ("energy of Cl⁻ and OH⁻", ["chloride", "hydroxide"]),
    ],
)  # fmt: skip
def test_molecules_are_names_and_smiles_and_not_words(text: str, names: list[str]) -> None:
    assert [one.name for one in read_request(text).species] == names


@pytest.mark.parametrize(
    ("text", "electronic", "identity"),
    [
        ("HOMO and LUMO energies of TMA", ("homo", "lumo"), ()),
        ("orbital energies of TMA", ("homo", "lumo"), ()),
        ("electronic properties of TMA", ("homo", "lumo", "gap", "dipole"), ()),
        ("HOMO energy and total energy of TMA", ("homo", "energy"), ()),
        ("the HOMO-LUMO gap of TMA", ("homo", "lumo", "gap"), ()),
        ("frontier orbitals of TMA", ("homo", "lumo"), ()),
        ("highest occupied molecular orbital of TMA", ("homo",), ()),
        ("dipole moment and Mulliken charges of water", ("dipole", "charges"), ()),
        ("Optimise water", ("geometry",), ()),
        ("optimize the geometry of water", ("geometry",), ()),
        ("geometry optimization of water", ("geometry",), ()),
        ("formula, molar mass and net charge of TMA", (), ("formula", "mass", "charge")),
        ("molecular weight of TMA", (), ("mass",)),
        ("3D structure of TMA", (), ("structure",)),
        ("3-D geometry of TMA", (), ("structure",)),
        ("canonical SMILES of 'OCC'", (), ("smiles",)),
        ("canonicalise 'OCC'", (), ("smiles",)),
        ("HOMO of TMA without optimisation", ("homo",), ()),
    ],
)
def test_properties_in_either_spelling(text: str, electronic: tuple[str, ...], identity: tuple[str, ...]) -> None:
    request = read_request(text)
    assert (request.electronic, request.identity) == (electronic, identity)


LEVELS: list[tuple[str, dict[str, Any]]] = [
    ("HOMO of TMA at PBE0/def2-TZVP in water", {"method": "PBE0", "basis": "def2-TZVP", "solvent": "water"}),
    ("HOMO of water in methanol", {"solvent": "methanol"}),
    ("HOMO of TMA in DMSO", {"solvent": "dmso"}),
    ("HOMO of TMA in dimethyl sulfoxide", {"solvent": "dmso"}),
    ("HOMO of TMA in aqueous solution", {"solvent": "water"}),
    ("HOMO of TMA in the gas phase", {}),
    ("HOMO of TMA with GFN2", {"method": "GFN2-xTB"}),
    ("HOMO of TMA with xtb", {"method": "GFN2-xTB"}),
    ("HOMO of TMA using the M06-2X functional and the cc-pVTZ basis set", {"method": "M06-2X", "basis": "cc-pVTZ"}),
    ("HF/6-31G(d,p) energy of water", {"method": "HF", "basis": "6-31G**"}),
    ("energy of water at wB97X / 6-31G*", {"method": "wB97X", "basis": "6-31G*"}),
    ("ωB97X energy of water", {"method": "wB97X"}),
    ("B3LYP energy of water with pyscf", {"method": "B3LYP", "engine": "pyscf"}),
    ("B3LYP energy of water with ORCA", {"method": "B3LYP", "engine": "orca"}),
    ("B3LYP/def2-SVP//GFN2-xTB energy of water",
     {"method": "B3LYP", "basis": "def2-SVP", "geometry_method": "GFN2-xTB"}),
    ("PBE0/def2-TZVP//B3LYP/def2-SVP energy of water",
     {"method": "PBE0", "basis": "def2-TZVP", "geometry_method": "B3LYP", "geometry_basis": "def2-SVP"}),
    ("GFN2 optimisation then B3LYP single point of DMP", {"method": "B3LYP", "geometry_method": "GFN2-xTB"}),
    ("Optimise TMA at B3LYP/def2-SVP, report the HOMO",
     {"method": "B3LYP", "basis": "def2-SVP", "optimise_at_level": True}),
    ("Run a PBE0 optimization of TMA", {"method": "PBE0", "optimise_at_level": True}),
    ("DFT optimisation of TMA", {"optimise_at_level": True}),
    ("Optimize TMA and compute the HOMO at PBE0", {"method": "PBE0"}),
    ("Optimize TMA, then calculate its DFT energy", {}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), LEVELS)
def test_level_of_theory_is_read_as_written(text: str, expected: dict[str, Any]) -> None:
    level = vars(read_request(text).level)
    found = {k: v for k, v in level.items() if v not in (None, False) and (k, v) != ("engine", "auto")}
    assert found == expected


@pytest.mark.parametrize(
    ("text", "field", "value"),
    [
        ("HOMO of TMA at FOO/def2-SVP", "method", "FOO"),
        ("HOMO of TMA at B3LYP/foo", "basis", "foo"),
        ("HOMO of TMA using FOO/BAR", "method", "FOO"),
        ("HOMO of TMA with FOO12/BAR-3", "method", "FOO12"),
        ("HOMO of TMA with the foo functional", "method", "foo"),
        ("HOMO of TMA in the foo basis", "basis", "foo"),
        ("HOMO of TMA with def2-XYZ", "basis", "def2-XYZ"),
        ("MP2 energy of water", "method", "MP2"),
        ("CCSD(T) energy of water", "method", "CCSD(T)"),
        ("B3LYP-D3 energy of water", "dispersion", "D3"),
        ("wB97X-D energy of water", "method", "wB97X-D"),
        ("energy of water in benzene", "solvent", "benzene"),
        ("energy of water in methanol and in ethanol", "solvent", "ethanol"),
        ("energy of water with NWChem", "engine", "NWChem"),
        ("energy of water with B3LYP and PBE0", "method", "B3LYP and PBE0"),
        ("", "request", ""),
        ("  \n", "request", "  \n"),
        ('HOMO of ""', "molecule.smiles", ""),
        ("HOMO of CN+(C)C1=CC=CC=C1", "molecule.smiles", "CN+(C)C1=CC=CC=C1"),
        ("HOMO of `C[N+](C)(C)(C)C`", "molecule.smiles", "C[N+](C)(C)(C)C"),
        ("HOMO of tetramethylammonium hydroxide", "molecule", "tetramethylammonium hydroxide"),
        ("HOMO of [Na+].[Cl-]", "molecule.smiles", "[Na+].[Cl-]"),
        ("HOMO of tetramethylamonium and TMA", "molecule", "tetramethylamonium"),
        ("HOMO of N-ethyl-N-methylmorpholinium", "molecule", "N-ethyl-N-methylmorpholinium"),
        ("Compare TMA, DMP and glucose at B3LYP", "molecule", "glucose"),
        ("Compare XYZZY and TMA", "molecule", "XYZZY"),
        ("HOMO of sodium hydroxide", "molecule", "sodium hydroxide"),
        ("HOMO of trioctyl ammonium", "molecule", "trioctyl ammonium"),
        ("HOMO of [CH3] as a singlet", "multiplicity", 1),
        ("HOMO of [CH3] with multiplicity 1", "multiplicity", 1),
        ("HOMO of TMA with charge 0", "charge", 0),
    ],
)
def test_what_is_meant_and_not_known_is_refused_by_field_and_value(text: str, field: str, value: object) -> None:
    with pytest.raises(InputError) as caught:
        read_request(text)
    assert (caught.value.field, caught.value.value) == (field, value)
    assert caught.value.remedy
    assert caught.value.exit_code == 2


def test_a_molecule_over_the_limit_is_refused() -> None:
    with pytest.raises(InputError, match="has 602 atoms"):
        read_request(f"HOMO of {'C' * 200}")
    with pytest.raises(InputError, match="has 17 atoms"):
        read_request("HOMO of TMA", max_atoms=16)


def test_a_stated_multiplicity_that_is_possible_is_kept() -> None:
    assert read_request("energy of 'O=O' as a triplet").species[0].multiplicity == 3
    assert read_request("energy of [CH3]").species[0].multiplicity == 2


def test_a_request_of_a_book_s_length_is_refused() -> None:
    with pytest.raises(InputError, match="too long"):
        read_request("HOMO of TMA " * 5000)


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.text(max_size=60), st.lists(_PIECES, max_size=14).map(" ".join), st.lists(_PIECES).map("".join)))
def test_any_text_is_read_or_refused(text: str) -> None:
    with suppress(InputError):
        request = read_request(text)
        assert len({one.smiles for one in request.species}) == len(request.species)


@pytest.mark.parametrize("piece", [*"1a([-'", "C(", "N,", "C1", "ylium", "6-31G*", "B3LYP/", "optimise and "])
def test_long_repetitions_are_read_in_no_time(piece: str) -> None:
    start = time.monotonic()
    with suppress(InputError):
        read_request("HOMO of " + piece * (15_000 // len(piece)))
    assert time.monotonic() - start < 5
