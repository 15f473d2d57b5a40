"""The state: bounded, checked where it is set, and small."""

from __future__ import annotations

import json

import pytest
from pydantic import ValidationError

from orchestrator.serde import LosslessSerializer, LossyValue
from orchestrator.state import (
    HISTORY_CAP,
    HISTORY_LINE_CAP,
    Column,
    Finding,
    Goal,
    Plan,
    Quantity,
    RunState,
    Species,
    Step,
    StepStatus,
    Table,
    _capped,
    checked,
    state_schema,
)
from tests.unit.orchestrator.states import artifact, batch

MOST_BYTES = 100_000


def test_a_history_keeps_its_newest_lines_and_cuts_long_ones() -> None:
    history: list[str] = []
    for number in range(3 * HISTORY_CAP):
        history = _capped(history, [f"{number} " + "x" * 10_000])
    assert len(history) == HISTORY_CAP
    assert history[-1].startswith(f"{3 * HISTORY_CAP - 1} ")
    assert {len(line) for line in history} == {HISTORY_LINE_CAP}


@pytest.mark.parametrize(
    ("value", "said"),
    [("\ud83d", "half a surrogate pair"), (2**64, "beyond 64 bits"), (-(2**63) - 1, "beyond 64 bits")],
)
def test_what_only_python_can_hold_is_refused(value: object, said: str) -> None:
    with pytest.raises(LossyValue, match=said):
        LosslessSerializer().dumps_typed({"a": [value]})
    for good in ("\U0001f642 ü", 2**63, -(2**63)):
        assert LosslessSerializer().loads_typed(LosslessSerializer().dumps_typed(good)) == good


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_value_that_cannot_be_stored_is_refused_where_it_is_set_with_its_field(value: float) -> None:
    quantity = Quantity(species="water", name="energy", value=value, unit="Eh")
    with pytest.raises(LossyValue, match=r"findings\[0\]\.values\[0\]\.value is (nan|inf)"):
        checked(findings=(Finding(step=1, agent="qm_agent", summary="", values=(quantity,)),))


def test_a_value_of_the_wrong_kind_is_refused_where_it_is_set() -> None:
    with pytest.raises(ValidationError, match="plan"):
        checked(plan="no plan")


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")
def test_a_part_that_was_made_past_its_checks_is_refused_where_it_is_set() -> None:
    broken = Finding.model_construct(step="no number")
    with pytest.raises(ValidationError, match=r"findings\.0\.step"):
        checked(findings=(broken,))


def test_a_field_that_is_not_known_here_is_left_out_on_reading() -> None:
    state = RunState.model_validate({"run_id": "r1", "of_a_later_version": 1})
    assert "of_a_later_version" not in state.model_dump()


def _twenty_steps() -> RunState:
    """Give a run whose twenty steps each computed five molecules, with tables, values and files."""
    species = tuple(Species(name=f"molecule number {n}", smiles="C[N+]1(C)CCCCC1" * 2) for n in range(5))
    columns = tuple(Column(title=title, unit="eV") for title in ("Molecule", "HOMO", "LUMO", "gap", "Energy"))
    rows = tuple((one.name, "-6.1234", "-0.1234", "6.0000", "-1234.567890") for one in species)
    steps, findings = [], []
    for number in range(1, 21):
        goal = Goal(
            properties=("homo", "lumo", "gap"), task="optimisation", basis="def2-TZVP", protocol="B3LYP/def2-TZVP"
        )
        steps.append(
            Step(
                number=number,
                agent="qm_agent",
                description="Optimise five molecules at B3LYP/def2-TZVP in water",
                depends_on=tuple(range(max(1, number - 2), number)),
                status=StepStatus.DONE,
                goal=goal,
                batches=(batch(number, "f" * 64, sent=True),),
            )
        )
        findings.append(
            Finding(
                step=number,
                agent="qm_agent",
                summary="HOMO and LUMO energies of five molecules: " + "molecule -6.1234 eV, -0.1234 eV; " * 5,
                table=Table(columns=columns, rows=rows),
                artifacts=tuple(
                    artifact(f"jobs/ab/r1-s{number}-r1-{n}/attempt-1-0123456789abcdef/result.molden", "orbitals")
                    for n in range(5)
                ),
                values=tuple(
                    Quantity(species=one.name, name=name, value=-6.123456789, unit="eV")
                    for one in species
                    for name in ("homo", "lumo", "gap")
                ),
                level="B3LYP/def2-TZVP (density fitting), pyscf 2.14.0",
            )
        )
    history = _capped([], [f"step {n}: 5 jobs frozen as r1-s{n}-r1" for n in range(HISTORY_CAP)])
    return RunState(
        run_id="r1", species=species, plan=Plan(steps=tuple(steps)), findings=tuple(findings), history=history
    )


def test_a_plan_of_twenty_steps_with_its_findings_stays_below_100_kb() -> None:
    state = _twenty_steps()
    _, blob = LosslessSerializer().dumps_typed({name: getattr(state, name) for name in RunState.model_fields})
    assert len(blob) < MOST_BYTES, len(blob)
    assert RunState.model_validate(json.loads(blob)) == state


def test_the_published_schema_names_every_field_and_accepts_a_state() -> None:
    schema = state_schema()
    assert set(schema["properties"]) == set(RunState.model_fields)
    assert {"Gate", "Question", "Step", "Finding"} <= set(schema["$defs"])
    assert "required" not in schema  # every field has a default, so that an old checkpoint loads
