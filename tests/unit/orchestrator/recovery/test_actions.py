"""Each action of the allow-list: what it changes, what it leaves, and where it does not fit."""

from __future__ import annotations

import pytest

from orchestrator.chemistry.geometry import SEED, broken_bonds, embed, same_structure
from orchestrator.recovery.actions import (
    MAKERS,
    Means,
    coarser_method,
    from_relaxed,
    more_resources,
    other_engine,
    other_start_geometry,
    resume,
)
from orchestrator.recovery.classify import classify
from orchestrator.recovery.record import Action
from tasks.specs import AnySpec, QuantumSpec, dump_spec, parse_spec
from tests.unit.orchestrator.recovery.conftest import PROPANOL, checkpoint, failed, quantum, record, result

ALL = Means(offered=frozenset({"pyscf", "xtb", "orca"}), memory_mb=16_000)
NO_XTB = Means(offered=frozenset({"pyscf", "orca"}), memory_mb=16_000)
PROGRAM = parse_spec({"program": "countdown", "parameters": {"steps": 3}})


def changed(before: object, after: object) -> set[str]:
    mine, theirs = dump_spec(before), dump_spec(after)  # type: ignore[arg-type]
    return {name for name in {*mine, *theirs} if mine.get(name) != theirs.get(name)}


def test_every_action_but_skipping_and_asking_makes_jobs() -> None:
    assert set(MAKERS) == set(Action) - {Action.SKIP, Action.ASK}


def test_resuming_needs_a_restart_point_and_changes_nothing() -> None:
    assert resume(failed(), ALL, {}) is None
    change = resume(failed(checkpoint=checkpoint(), checkpoint_before=checkpoint(2)), ALL, {})
    assert change and change.checkpoint and change.checkpoint_before
    assert (change.checkpoint.number, change.checkpoint_before.number) == (3, 2)
    assert (changed(quantum(), change.spec), change.consequence) == (set(), "")


@pytest.mark.parametrize(
    ("spec", "offered", "engine"),
    [
        (quantum(), {"pyscf", "orca"}, "orca"),
        (quantum(engine="orca"), {"pyscf", "orca"}, "pyscf"),
        (quantum(), {"pyscf", "xtb"}, ""),
        (quantum(), set(), ""),
        # ORCA has no BP86 of the same physics, and an engine without the tag does not take the job.
        (quantum(method="BP86"), {"pyscf", "orca"}, ""),
        (quantum(tag="gpu"), {"pyscf", "orca"}, ""),
        (quantum(tag="gpu"), {"orca@gpu"}, "orca"),
        (PROGRAM, {"pyscf", "orca"}, ""),
    ],
)
def test_another_engine_computes_exactly_the_same_and_was_declared(
    spec: QuantumSpec, offered: set[str], engine: str
) -> None:
    change = other_engine(failed(spec), Means(offered=frozenset(offered)), {"engine": "xtb"})
    assert (change.parameters["engine"] if change else "") == engine
    if change:
        assert changed(spec, change.spec) == {"engine", "engine_reason"}
        assert change.consequence == ""


def test_another_start_is_for_optimisations_that_have_one() -> None:
    first = embed("CCCO").xyz
    flexible = quantum(molecule={**PROPANOL, "xyz": first}, task="optimisation")
    change = other_start_geometry(failed(flexible), NO_XTB, {})
    assert change and change.prepare is None and isinstance(change.spec, QuantumSpec)
    assert changed(flexible, change.spec) == {"molecule"}
    assert "may be another conformer" in change.consequence
    assert (change.checkpoint, change.parameters) == (None, {"seed": SEED + 1})
    assert not same_structure(first, change.spec.molecule.xyz or "")
    assert broken_bonds("CCCO", change.spec.molecule.xyz or "") == []
    for other in (
        quantum(molecule={**PROPANOL, "xyz": first}),  # a single point is at its geometry
        quantum(molecule={"xyz": first}, task="optimisation"),
        PROGRAM,
    ):
        assert other_start_geometry(failed(other), ALL, {}) is None


@pytest.mark.parametrize(("smiles", "charge"), [("O", 0), ("C[N+](C)(C)C", 1)])
def test_a_rigid_molecule_has_no_other_start_but_its_own_relaxed(smiles: str, charge: int) -> None:
    spec = quantum(task="optimisation", charge=charge, molecule={"smiles": smiles, "xyz": embed(smiles).xyz})
    assert other_start_geometry(failed(spec), NO_XTB, {}) is None
    change = other_start_geometry(failed(spec), ALL, {})
    assert change and change.prepare
    assert (change.spec, change.parameters) == (spec, {"relaxed_with": "GFN2-xTB"})


def test_a_start_is_relaxed_first_where_a_worker_has_tight_binding() -> None:
    flexible = quantum(
        molecule={**PROPANOL, "xyz": embed("CCCO").xyz}, task="optimisation_frequencies", solvent="water", label="it"
    )
    change = other_start_geometry(failed(flexible), ALL, {})
    assert change and isinstance(change.prepare, QuantumSpec) and isinstance(change.spec, QuantumSpec)
    first = change.prepare
    assert (first.task, first.method, first.engine) == ("optimisation", "GFN2-xTB", "xtb")
    assert (first.basis, first.solvent, first.solvent_model) == (None, "water", "ALPB")
    assert first.molecule == change.spec.molecule
    assert (first.charge, first.multiplicity, first.resources) == (0, 1, flexible.resources)
    assert change.parameters == {"seed": SEED + 1, "relaxed_with": "GFN2-xTB"}
    assert "relaxed with GFN2-xTB first" in change.consequence
    # What is remembered is followed to the letter; tight binding relaxes nothing for itself.
    remembered = other_start_geometry(failed(flexible), ALL, {"seed": SEED + 1})
    assert remembered and remembered.prepare is None
    tight = quantum(
        molecule={**PROPANOL, "xyz": embed("CCCO").xyz},
        task="optimisation",
        method="GFN2-xTB",
        basis=None,
        engine="xtb",
    )
    change = other_start_geometry(failed(tight), ALL, {})
    assert change and change.prepare is None


def test_jobs_begin_at_what_was_relaxed_for_them_unless_that_is_what_failed() -> None:
    start = embed("O").xyz
    spec = quantum(task="optimisation", molecule={"smiles": "O", "xyz": start})
    (event,) = classify("qm_agent", [failed(spec)])
    change = other_start_geometry(failed(spec), ALL, {})
    assert change and change.prepare

    def begun(xyz: str | None, state: str = "SUCCEEDED") -> AnySpec | None:
        made = record("p", change.prepare, state, "" if state == "SUCCEEDED" else "killed", result=result(xyz=xyz))
        found = from_relaxed(event, {"j1": change}, {"j1": made})
        return found["j1"].spec if found else None

    moved = "3\nwater\nO 0 0 0.3\nH 0 0.763239 -0.577047\nH 0 -0.763239 -0.577047\n"
    after = begun(moved)
    assert after and changed(spec, after) == {"molecule"}
    assert isinstance(after, QuantumSpec) and after.molecule.xyz == moved
    assert begun(start) is None
    assert begun(None) is None
    assert begun(moved, "FAILED") is None
    assert from_relaxed(event, {"j1": change}, {}) == {}


def test_a_start_that_is_far_from_what_the_smiles_gives_is_begun_anew() -> None:
    stretched = "3\nwater\nO 0 0 0\nH 0 0 2.5\nH 0 2.5 0\n"
    spec = quantum(task="optimisation", molecule={"smiles": "O", "xyz": stretched})
    change = other_start_geometry(failed(spec), ALL, {})
    assert change
    assert changed(spec, change.spec) == {"molecule"}
    assert change == other_start_geometry(failed(spec), ALL, {})  # the same each time


@pytest.mark.parametrize(
    ("error_class", "means", "memory_mb", "walltime_seconds"),
    [
        ("out_of_memory", ALL, 4000, 86_400),
        ("walltime", ALL, 2000, 172_800),
        ("program_failed", ALL, 4000, 172_800),
        # as far as the largest worker goes; without a live one nothing is known
        ("out_of_memory", Means(memory_mb=3000), 3000, 86_400),
        ("out_of_memory", Means(memory_mb=2000), 0, 0),
        ("out_of_memory", Means(), 4000, 86_400),
    ],
)
def test_more_resources_are_those_that_were_short(
    error_class: str, means: Means, memory_mb: int, walltime_seconds: int
) -> None:
    change = more_resources(failed(error_class=error_class, checkpoint=checkpoint()), means, {})
    if not memory_mb:
        assert change is None
        return
    assert change and change.checkpoint
    assert changed(quantum(), change.spec) == {"resources"}
    assert change.spec.resources.memory_mb == memory_mb
    assert change.spec.resources.walltime_seconds == walltime_seconds


def test_walltime_has_a_limit() -> None:
    month = quantum(resources={"walltime_seconds": 30 * 86_400})
    assert more_resources(failed(month, "walltime"), ALL, {}) is None


@pytest.mark.parametrize(
    ("spec", "level"),
    [
        (quantum(), ("B3LYP", "def2-SVP")),
        (quantum(basis="def2-QZVP"), ("B3LYP", "def2-TZVP")),
        (quantum(basis="aug-cc-pVTZ"), ("B3LYP", "aug-cc-pVDZ")),
        (quantum(basis="def2-SVP", dispersion="D3BJ", solvent="water"), ("GFN2-xTB", None)),
        (quantum(method="GFN2-xTB", basis=None, engine="xtb"), None),
        (PROGRAM, None),
    ],
)
def test_a_coarser_method_says_what_it_means(spec: QuantumSpec, level: tuple[str, str | None] | None) -> None:
    change = coarser_method(failed(spec), ALL, {})
    if level is None:
        assert change is None
        return
    assert change and isinstance(change.spec, QuantumSpec)
    assert (change.spec.method, change.spec.basis) == level
    assert "do not compare its numbers with any at B3LYP/" in change.consequence
    assert change.spec.solvent == spec.solvent


def test_what_is_remembered_of_a_coarser_method_fits_any_job() -> None:
    change = coarser_method(failed(quantum(method="PBE0", basis="def2-QZVP")), ALL, {"step": "tight_binding"})
    assert change and isinstance(change.spec, QuantumSpec)
    assert change.spec.method == "GFN2-xTB"
    change = coarser_method(failed(quantum(method="PBE0", basis="def2-QZVP")), ALL, {"step": "smaller_basis"})
    assert change and isinstance(change.spec, QuantumSpec)
    assert (change.spec.method, change.spec.basis) == ("PBE0", "def2-TZVP")
    assert coarser_method(failed(quantum(basis="def2-SVP")), Means(), {}) is None  # nobody offers xtb
