from __future__ import annotations

from typing import Any

import pytest

from orchestrator.chemistry import complete_spec, embed
from tasks.errors import InputError
from tasks.specs import QuantumSpec, dump_spec, parse_spec

WATER_XYZ = "3\nwater\nO 0.0 0.0 0.117\nH 0.0 0.757 -0.470\nH 0.0 -0.757 -0.470\n"
OH_XYZ = "2\n\nO 0 0 0\nH 0 0 0.97\n"


def _spec(**fields: Any) -> QuantumSpec:
    spec = parse_spec({"kind": "quantum", **fields})
    assert isinstance(spec, QuantumSpec)
    return spec


def _smiles(smiles: str, **fields: Any) -> QuantumSpec:
    return _spec(molecule={"smiles": smiles}, **fields)


def test_a_smiles_gives_charge_multiplicity_structure_label_and_engine() -> None:
    done = complete_spec(_smiles("C[N+](C)(C)C"))
    assert (done.charge, done.multiplicity, done.engine, done.label) == (1, 1, "pyscf", "C[N+](C)(C)C")
    assert done.molecule.xyz == embed("C[N+](C)(C)C").xyz
    assert (done.method, done.basis) == ("B3LYP", "def2-SVP")


@pytest.mark.parametrize(
    "spec",
    [
        _smiles("OCC"),
        _smiles("C[N+]1(C)CCCCC1", method="gfn2", solvent="water", task="optimization"),
        _smiles("[CH3]", label="radical", tag="big", resources={"cores": 2, "memory": "4 GB"}),
        _smiles("O=O", multiplicity=3),
        _spec(molecule={"xyz": WATER_XYZ, "name": "water"}, charge=0),
        _spec(molecule={"xyz": WATER_XYZ, "smiles": "O"}),
        _spec(molecule={"xyz": OH_XYZ}, charge=0, method="PBE0"),
        _smiles("[Cl-]", engine="pyscf"),
        _smiles("C" * 12),
    ],
)
def test_completing_twice_is_completing_once(spec: QuantumSpec) -> None:
    once = complete_spec(spec)
    assert complete_spec(once) == once
    assert parse_spec(dump_spec(once)) == once


def test_what_was_asked_for_is_never_changed() -> None:
    spec = _smiles("OCC", method="PBE0", basis="def2-TZVP", solvent="dmso", task="optimisation", tag="gpu", label="x")
    done = complete_spec(spec, frozenset({"xtb"}))
    for field in ("method", "basis", "solvent", "task", "tag", "label", "resources"):
        assert getattr(done, field) == getattr(spec, field)
    assert done.engine == "pyscf"
    assert done.molecule.smiles == "CCO"


@pytest.mark.parametrize(
    ("method", "offered", "engine"),
    [
        ("B3LYP", None, "pyscf"),
        ("B3LYP", frozenset({"pyscf", "xtb"}), "pyscf"),
        ("GFN2-xTB", frozenset({"pyscf", "xtb"}), "xtb"),
        ("GFN2-xTB", frozenset({"pyscf"}), "xtb"),
        ("GFN2-xTB", frozenset(), "xtb"),
    ],
)
def test_auto_becomes_an_engine_of_the_method(method: str, offered: frozenset[str] | None, engine: str) -> None:
    assert complete_spec(_smiles("O", method=method), offered).engine == engine


def test_a_charge_that_contradicts_the_smiles_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        complete_spec(_smiles("C[N+](C)(C)C", charge=0))
    error = caught.value
    assert (error.field, error.value) == ("charge", 0)
    assert "whose charge is +1" in error.problem
    assert "Give charge +1" in error.remedy


@pytest.mark.parametrize(
    ("smiles", "multiplicity", "right"),
    [
        ("[CH3]", 1, "2 (a doublet)"),
        ("C", 2, "1 (a singlet)"),
        ("[OH]", 3, "2 (a doublet)"),
        ("[H]", 4, "2 (a doublet)"),
    ],
)
def test_a_multiplicity_that_the_electrons_do_not_allow_is_refused(smiles: str, multiplicity: int, right: str) -> None:
    with pytest.raises(InputError) as caught:
        complete_spec(_smiles(smiles, multiplicity=multiplicity))
    error = caught.value
    assert (error.field, error.value) == ("multiplicity", multiplicity)
    assert right in error.remedy
    assert error.exit_code == 2


def test_a_biradical_may_be_asked_for_as_singlet() -> None:
    assert complete_spec(_smiles("[CH2]")).multiplicity == 3
    assert complete_spec(_smiles("[CH2]", multiplicity=1)).multiplicity == 1


def test_a_bare_structure_needs_its_charge_and_has_the_lowest_multiplicity() -> None:
    with pytest.raises(InputError) as caught:
        complete_spec(_spec(molecule={"xyz": WATER_XYZ}))
    assert caught.value.field == "charge"
    assert "is missing" in str(caught.value)
    assert complete_spec(_spec(molecule={"xyz": WATER_XYZ}, charge=0)).multiplicity == 1
    assert complete_spec(_spec(molecule={"xyz": WATER_XYZ}, charge=1)).multiplicity == 2
    assert complete_spec(_spec(molecule={"xyz": WATER_XYZ}, charge=0)).label == "H2O"
    with pytest.raises(InputError, match="multiplicity"):
        complete_spec(_spec(molecule={"xyz": OH_XYZ}, charge=0, multiplicity=1))


def test_a_structure_of_another_molecule_is_refused() -> None:
    with pytest.raises(InputError) as caught:
        complete_spec(_spec(molecule={"xyz": WATER_XYZ, "smiles": "CO"}))
    assert caught.value.field == "molecule.xyz"
    assert "CH4O" in str(caught.value)


def test_a_given_structure_is_kept_as_it_is() -> None:
    done = complete_spec(_spec(molecule={"xyz": WATER_XYZ, "smiles": "O"}))
    assert done.molecule.xyz == WATER_XYZ


@pytest.mark.parametrize("molecule", [{"smiles": "C" * 200}, {"xyz": "1000\n\n" + "He 0 0 0\n" * 1000}])
def test_a_molecule_over_the_limit_is_refused(molecule: dict[str, str]) -> None:
    with pytest.raises(InputError, match="SIMRELAY_MAX_ATOMS"):
        complete_spec(_spec(molecule=molecule, charge=0))


@pytest.mark.parametrize(
    ("fields", "offered", "engine", "reason"),
    [
        ({}, {"orca", "xtb"}, "orca", "first of those offered that compute B3LYP, single point (pyscf could as well)"),
        (
            {},
            {"orca", "pyscf"},
            "pyscf",
            "first of those offered that compute B3LYP, single point (orca could as well)",
        ),
        ({"method": "gfn2"}, {"orca", "xtb"}, "xtb", "first of those offered that compute GFN2-xTB, single point"),
        ({"tag": "big"}, {"pyscf", "orca@big"}, "orca", "first of those offered"),
        ({"density_fitting": False}, {"orca"}, "orca", "no density fitting (pyscf could as well)"),
        ({"method": "BP86"}, {"orca", "pyscf"}, "pyscf", "BP86, single point (no other does)"),
        ({}, {"xtb"}, "pyscf", "first of pyscf, orca for B3LYP, single point; no worker offered any of them"),
    ],
)
def test_auto_takes_the_first_engine_that_computes_exactly_that_and_says_why(
    fields: dict[str, Any], offered: set[str], engine: str, reason: str
) -> None:
    done = complete_spec(_smiles("O", **fields), frozenset(offered))
    assert done.engine == engine
    assert done.engine_reason.startswith("auto: ")
    assert reason in done.engine_reason
    assert complete_spec(done, frozenset({"pyscf"})) == done


def test_an_engine_that_was_asked_for_is_taken_without_a_reason() -> None:
    assert complete_spec(_smiles("O", engine="orca"), frozenset({"pyscf"})).engine_reason == ""
