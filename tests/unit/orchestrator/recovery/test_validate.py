"""Whether a repair is one: each action has a check of its own, and nothing is taken on trust."""

from __future__ import annotations

import pytest

from orchestrator.chemistry.geometry import embed
from orchestrator.recovery.record import Action
from orchestrator.recovery.validate import Repaired, Verdict, validate
from tasks.records import AttemptRecord
from tasks.results import QuantumResult
from tasks.specs import AnySpec
from tests.unit.orchestrator.recovery.conftest import checkpoint, failed, quantum, record, result


def judge(
    action: Action,
    before: AnySpec,
    after: AnySpec,
    outcome: QuantumResult | None = None,
    state: str = "SUCCEEDED",
    began_from: int | None = None,
) -> Verdict:
    attempt = AttemptRecord(
        attempt=1, claim_id="c", worker="w", host="h", how="done",
        checkpoint_from=None if began_from is None else checkpoint(began_from),
    )  # fmt: skip
    job = Repaired(
        before=failed(before, checkpoint=checkpoint(3)),
        record=record("r", after, state, "" if state == "SUCCEEDED" else "killed", result=outcome or result()),
        attempts=(attempt,),
    )
    return validate(action, [job])


def bad(verdict: Verdict) -> list[str]:
    return [check.name for check in verdict.checks if not check.passed]


def test_what_was_only_chosen_is_not_repaired() -> None:
    verdict = judge(Action.RESUME, quantum(), quantum(), state="FAILED")
    assert (verdict.passed, verdict.judged, bad(verdict)) == (False, True, ["succeeded"])
    assert verdict.checks[0].text == "It failed [killed]"
    assert not validate(Action.RESUME, []).judged


def test_what_was_cancelled_is_not_judged() -> None:
    verdict = judge(Action.RESUME, quantum(), quantum(), state="CANCELLED")
    assert (verdict.passed, verdict.judged) == (False, False)


@pytest.mark.parametrize(
    ("began_from", "wrong"), [(3, []), (5, []), (2, ["used_checkpoint"]), (None, ["used_checkpoint"])]
)
def test_a_resumed_job_went_on_from_its_restart_point(began_from: int | None, wrong: list[str]) -> None:
    verdict = judge(Action.RESUME, quantum(), quantum(), began_from=began_from)
    assert (bad(verdict), verdict.passed) == (wrong, not wrong)


def test_another_engine_has_computed_it_at_the_same_level() -> None:
    other = quantum(engine="orca")
    assert judge(Action.ENGINE, quantum(), other, result("orca", "B3LYP/def2-TZVP (RI)")).passed
    assert bad(judge(Action.ENGINE, quantum(), other, result("pyscf"))) == ["other_engine"]
    assert bad(judge(Action.ENGINE, quantum(), other, result("orca", "PBE0/def2-TZVP"))) == ["level"]
    smuggled = quantum(engine="orca", basis="def2-SVP")
    assert bad(judge(Action.ENGINE, quantum(), smuggled, result("orca", "B3LYP/def2-SVP"))) == ["nothing_else_changed"]


def test_an_optimisation_from_another_start_is_still_the_same_molecule() -> None:
    before = quantum(task="optimisation", molecule={"smiles": "O", "xyz": embed("O").xyz})
    good = embed("O").xyz
    torn = "3\nwater\nO 0 0 0\nH 0 0 0.96\nH 0 4 0\n"
    assert judge(Action.GEOMETRY, before, before, result(xyz=good)).passed
    assert bad(judge(Action.GEOMETRY, before, before, result(xyz=torn))) == ["connectivity"]
    other = quantum(task="optimisation", molecule={"smiles": "N", "xyz": embed("N").xyz})
    assert "nothing_else_changed" in bad(judge(Action.GEOMETRY, before, other, result(xyz=embed("N").xyz)))


def test_a_minimum_has_no_imaginary_mode() -> None:
    spec = quantum(task="optimisation_frequencies")
    xyz = embed("O").xyz
    assert bad(judge(Action.RESUME, spec, spec, result(xyz=xyz, imaginary_modes=1), began_from=3)) == ["minimum"]
    assert judge(Action.RESUME, spec, spec, result(xyz=xyz, imaginary_modes=0), began_from=3).passed


def test_a_coarser_method_has_computed_at_the_level_that_was_stated() -> None:
    coarser = quantum(basis="def2-SVP")
    assert judge(Action.COARSER, quantum(), coarser, result(level="B3LYP/def2-SVP (density fitting)")).passed
    assert bad(judge(Action.COARSER, quantum(), coarser, result(level="B3LYP/def2-TZVP"))) == ["level"]


@pytest.mark.parametrize(
    ("fields", "level", "right"),
    [
        ({}, "B3LYP/def2-TZVP (density fitting, C-PCM water)", True),
        ({"dispersion": "D3BJ"}, "B3LYP-D3(BJ)/def2-TZVP (density fitting)", True),
        ({"dispersion": "D3BJ"}, "B3LYP/def2-TZVP", False),
        ({}, "B3LYP-D4/def2-TZVP", False),
        ({"charge": 1, "multiplicity": 2}, "UB3LYP/def2-TZVP", True),
        ({}, "B3LYP/def2-TZVPP", False),
        ({}, "", False),
        ({"method": "GFN2-xTB", "basis": None, "engine": "xtb"}, "GFN2-xTB (ALPB water)", True),
    ],
)
def test_the_level_of_a_result_is_read_as_engines_write_it(fields: dict[str, object], level: str, right: bool) -> None:
    spec = quantum(**fields)
    assert (bad(judge(Action.RESUME, spec, spec, result(level=level), began_from=3)) == []) is right


def test_more_resources_change_nothing_else() -> None:
    more = quantum(resources={"memory_mb": 4000})
    assert judge(Action.RESOURCES, quantum(), more).passed
    assert bad(judge(Action.RESOURCES, quantum(), quantum(charge=2))) == ["nothing_else_changed"]


def test_one_of_several_that_is_not_right_is_no_repair() -> None:
    good = Repaired(
        before=failed(), record=record("a", quantum(resources={"memory_mb": 4000}), "SUCCEEDED", result=result())
    )
    not_right = Repaired(before=failed(), record=record("b", quantum(), "FAILED", "out_of_memory"))
    assert validate(Action.RESOURCES, [good]).passed
    assert not validate(Action.RESOURCES, [good, not_right]).passed
