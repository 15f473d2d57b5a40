from __future__ import annotations

from pathlib import Path

import pytest

from orchestrator.agents.base import Work
from orchestrator.report import plan_markdown
from orchestrator.state import (
    SUMMARY,
    Column,
    Decision,
    Dispatched,
    Finding,
    Goal,
    Plan,
    RunState,
    Species,
    Step,
    StepStatus,
    Table,
    Trouble,
    molecules_of,
)
from orchestrator.steps import (
    MAX_ROUNDS,
    apply,
    freeze,
    open_batches,
    read_manifest,
    refused,
    troubled,
    uninterpreted,
    unsent,
)
from tasks.errors import Conflict
from tasks.results import Artifact
from tasks.specs import AnySpec, parse_spec
from tests.unit.orchestrator.states import batch

WATER = Species(name="water", smiles="O", atoms=3)
TMA = Species(name="tetramethylammonium", smiles="C[N+](C)(C)C", charge=1, atoms=17)


def spec() -> AnySpec:
    return parse_spec({"kind": "quantum", "molecule": {"smiles": "O"}, "method": "GFN2-xTB"})


def step(number: int, *after: int, agent: str = "qm_agent", **goal: object) -> Step:
    return Step(number=number, agent=agent, description=f"step {number}", depends_on=after, goal=Goal(**goal))


def after_work(state: RunState, works: dict[int, Work], folder: Path) -> RunState:
    update = apply(state, works, folder / "run", folder)
    # The graph adds up the history.
    return state.model_copy(update={**update, "history": [*state.history, *update["history"]]})


def done(number: int) -> Work:
    return Work(finding=Finding(step=number, agent="qm_agent", summary=f"{number} found"))


def test_a_step_has_no_more_rounds_than_the_limit(tmp_path: Path) -> None:
    state = RunState(run_id="r", plan=Plan(steps=(step(1),)))
    for _ in range(MAX_ROUNDS):
        state = after_work(state, {1: Work(specs=(spec(),))}, tmp_path)
        assert state.plan.step(1).status is StepStatus.RUNNING
    state = after_work(state, {1: Work(specs=(spec(),))}, tmp_path)
    assert len(state.plan.step(1).batches) == MAX_ROUNDS
    assert state.plan.step(1).status is StepStatus.FAILED
    assert f"after {MAX_ROUNDS}" in state.plan.step(1).error


def test_what_does_not_need_a_failed_step_goes_on(tmp_path: Path) -> None:
    steps = (step(1), step(2), step(3, 1), step(4, 2), step(5, 1, 2, 3, 4, agent=SUMMARY))
    state = RunState(run_id="r", plan=Plan(steps=steps))
    assert [one.number for one in state.plan.ready()] == [1, 2]
    state = after_work(state, {1: Work(error="no orbitals"), 2: done(2)}, tmp_path)
    assert state.plan.step(3).status is StepStatus.SKIPPED
    assert [one.number for one in state.plan.ready()] == [4]
    state = after_work(state, {4: done(4)}, tmp_path)
    assert [one.number for one in state.plan.ready()] == [5]
    assert any("step 3 skipped" in line for line in state.history)


def test_without_any_result_there_is_nothing_to_sum_up(tmp_path: Path) -> None:
    state = RunState(run_id="r", plan=Plan(steps=(step(1), step(2, 1, agent=SUMMARY))))
    state = after_work(state, {1: Work(error="gone")}, tmp_path)
    assert state.plan.ended
    assert state.plan.step(2).status is StepStatus.SKIPPED


@pytest.mark.parametrize(
    ("goal", "names"),
    [
        ({}, ["water", "tetramethylammonium", "candidate 1"]),
        ({"molecules": ("O",)}, ["water"]),
        ({"molecules_step": 2}, ["candidate 1"]),
    ],
)
def test_a_step_sees_its_own_molecules(goal: dict[str, object], names: list[str]) -> None:
    found = Species(name="candidate 1", smiles="O", found_by=2)
    assert [one.name for one in molecules_of(step(1, **goal), (WATER, TMA, found))] == names


def test_steps_side_by_side_change_only_their_own_molecules(tmp_path: Path) -> None:
    plan = Plan(steps=(step(1, molecules=("O",)), step(2, molecules=(TMA.smiles,)), step(3, agent="hem_agent")))
    state = RunState(run_id="r", species=(WATER, TMA), plan=plan)
    works = {
        1: Work(species=(WATER.model_copy(update={"formula": "H2O"}),)),
        2: Work(species=(TMA.model_copy(update={"error": "step 2: failed"}),)),
        3: Work(species=(Species(name="candidate 1", smiles="CC[N+](C)(C)C"),)),
    }
    state = after_work(state, works, tmp_path)
    assert [(one.name, one.formula, one.error, one.found_by) for one in state.species] == [
        ("water", "H2O", "", 0),
        ("tetramethylammonium", "", "step 2: failed", 0),
        ("candidate 1", "", "", 3),
    ]
    # A swarm that is run again replaces what it found before.
    again = {3: Work(species=(Species(name="candidate 1", smiles="C[N+]1(C)CCCC1"),))}
    state = after_work(state, again, tmp_path)
    assert [one.smiles for one in state.species] == ["O", TMA.smiles, "C[N+]1(C)CCCC1"]


def test_a_structure_outlasts_a_step_beside_that_knows_none(tmp_path: Path) -> None:
    geometry = Artifact(path="runs/r/water.xyz", sha256="0" * 64, size_bytes=1, role="geometry")
    state = RunState(run_id="r", species=(WATER,), plan=Plan(steps=(step(1), step(2))))
    works = {
        1: Work(species=(WATER.model_copy(update={"geometry": geometry}),)),
        2: Work(species=(WATER.model_copy(update={"formula": "H2O"}),)),
    }
    (water,) = after_work(state, works, tmp_path).species
    assert (water.geometry, water.formula) == (geometry, "H2O")


def test_the_state_of_a_long_plan_stays_small(tmp_path: Path) -> None:
    table = Table(
        columns=tuple(Column(title=f"c{n}") for n in range(6)), rows=tuple(("−1.000000",) * 6 for _ in range(10))
    )
    steps = tuple(step(n, *((n - 1,) if n > 1 else ()), query="looked for " * 10) for n in range(1, 20))
    summary = step(20, *range(1, 20), agent=SUMMARY)
    state = RunState(run_id="r", request="x" * 2000, species=(WATER, TMA), plan=Plan(steps=(*steps, summary)))
    for number in range(1, 20):
        state = after_work(state, {number: Work(specs=(spec(),), core_seconds=1.0)}, tmp_path)
        finding = Finding(step=number, agent="qm_agent", summary="It was found out that … " * 20, table=table)
        state = after_work(state, {number: Work(finding=finding)}, tmp_path)
    assert [one.number for one in state.plan.ready()] == [20]
    assert len(state.model_dump_json().encode()) < 100_000


def test_the_plan_file_says_how_it_was_decided_and_what_waits_for_what() -> None:
    plan = Plan(title="t", steps=(step(1), step(2, 1), step(3, 1, 2, agent=SUMMARY)))
    decision = Decision(rule="complexity", reason="several agents, qm_agent: HOMO")
    text = plan_markdown(RunState(run_id="r", request="t", plan=plan, decision=decision)).replace("\\_", "_")
    assert "Decided by complexity: several agents, qm_agent: HOMO." in text
    assert "(qm_agent):" in text and "(qm_agent, after 1):" in text and "(summary_agent, after 1, 2):" in text


def at(status: StepStatus, *batches: Dispatched, trouble: Trouble = "") -> Plan:
    """Give a plan of one step at some point of its life."""
    return Plan(steps=(step(1).model_copy(update={"status": status, "batches": batches, "trouble": trouble}),))


@pytest.mark.parametrize(
    ("changes", "found"),
    [
        ({}, "unsent"),
        ({"sent": True}, "open_batches"),
        ({"sent": True, "complete": True}, "uninterpreted"),
        ({"sent": True, "complete": True, "trouble": "open"}, "troubled"),
        ({"sent": True, "complete": True, "trouble": "settled"}, "uninterpreted"),
        ({"sent": True, "complete": True, "interpreted": True}, ""),
    ],
)
def test_a_batch_is_in_exactly_one_place_of_its_life(changes: dict[str, object], found: str) -> None:
    newest = batch(1).model_copy(update=changes)
    older = batch(1, sent=True)  # which nobody waits for
    lists = (unsent, open_batches, uninterpreted, troubled)
    assert [one.__name__ for one in lists if one(at(StepStatus.RUNNING, older, newest))] == ([found] if found else [])
    assert not any(one(at(StepStatus.FAILED, older, newest)) for one in lists)


@pytest.mark.parametrize(
    ("status", "trouble", "looked_at"),
    [
        (StepStatus.FAILED, "open", True),
        (StepStatus.FAILED, "settled", False),
        (StepStatus.RUNNING, "open", False),
    ],
)
def test_recovery_looks_at_a_refused_step_once(status: StepStatus, trouble: Trouble, looked_at: bool) -> None:
    assert bool(refused(at(status, trouble=trouble))) is looked_at


@pytest.mark.parametrize(
    ("recovers", "trouble", "left"), [(True, "", "open"), (True, "settled", "settled"), (False, "", "settled")]
)
def test_a_step_fails_for_good_once_recovery_has_looked_at_its_jobs(
    tmp_path: Path, recovers: bool, trouble: Trouble, left: Trouble
) -> None:
    state = RunState(
        run_id="r", plan=at(StepStatus.RUNNING, batch(1, sent=True).model_copy(update={"trouble": trouble}))
    )
    update = apply(state, {1: Work(error="no result")}, tmp_path, tmp_path, recovers=recovers)
    assert update["plan"].step(1).trouble == left
    assert update["history"] == ["step 1 failed: no result"]


def test_findings_and_rounds_are_kept_and_told(tmp_path: Path) -> None:
    state = RunState(run_id="r", plan=Plan(steps=(step(1), step(2))))
    state = after_work(state, {1: Work(specs=(spec(), spec())), 2: done(2)}, tmp_path)
    assert [finding.summary for finding in state.findings] == ["2 found"]
    assert state.history == ["step 1: 2 jobs frozen as r-s1-r1", "step 2 done"]
    assert state.plan.step(1).batches[0].manifest.count == 2


def test_a_manifest_that_was_changed_is_not_read(tmp_path: Path) -> None:
    frozen = freeze(step(1), Work(specs=(spec(),)), "r", tmp_path / "run", tmp_path)
    assert [job.id for job in read_manifest(frozen.manifest, tmp_path)] == ["r-s1-r1-0"]
    path = tmp_path / frozen.manifest.artifact.path
    path.write_text(path.read_text().replace("GFN2", "GFN1"))
    with pytest.raises(Conflict, match="was changed after it was frozen"):
        read_manifest(frozen.manifest, tmp_path)
    path.unlink()
    with pytest.raises(Conflict, match="is gone since it was frozen"):
        read_manifest(frozen.manifest, tmp_path)
