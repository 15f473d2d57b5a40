"""What the command line prints and exits with when a run needs a person, and what it sends."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from orchestrator.asking import Candidate, GateKind, GateStatus, Question
from orchestrator.client import Client
from orchestrator.state import RunState
from tasks.command import run
from tests.unit.orchestrator.states import all_done, artifact, batch, gate, run_state, with_steps

LATER = datetime.now(UTC) + timedelta(hours=1)
PLAN = gate(GateKind.PLAN, text="plan of 5 steps", expires=LATER)
COST = gate(GateKind.COST, text="step 2: 2 jobs", expires=LATER)
CLOSED = gate(GateKind.PLAN, id="plan-0", status=GateStatus.REVISED, text="an old plan")
QUESTION = Question(
    id="route-1", text="Which agent?", candidates=(Candidate(value="qm_agent", text="quantum chemistry"),)
)
Sent = list[tuple[str, dict[str, object]]]
Serving = Callable[..., Sent]


@pytest.fixture
def serving(monkeypatch: pytest.MonkeyPatch) -> Serving:
    """Stand in for a service with one run in a given state; gives what it is sent."""

    def serve(state: RunState, status: str = "NEEDS_PERSON", answer: str = "ok") -> Sent:
        sent: Sent = []
        record = {"id": "r1", "owner": "ana", "request": "x", "state": status, "error": ""}

        def respond(request: httpx.Request) -> httpx.Response:
            if request.method == "POST":
                sent.append((request.url.path, json.loads(request.content)))
                return httpx.Response(200, json={"run": "r2", "answer": answer, "state": status})
            return httpx.Response(200, json={"run": record, "state": state.model_dump(mode="json")})

        def client(**options: object) -> Client:
            return Client(lambda: "http://service", "token", transport=httpx.MockTransport(respond))

        for module in ("people", "run"):
            monkeypatch.setattr(f"orchestrator.cli.{module}.client", client)
            monkeypatch.setattr(f"orchestrator.cli.{module}.owner", lambda: "ana")
        return sent

    return serve


@pytest.mark.parametrize("command", ["show", "attach"])
def test_what_is_asked_is_printed_with_the_commands_that_answer_it(
    serving: Serving, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    serving(run_state(gates=(CLOSED, PLAN), questions=(QUESTION,)))
    # Watching ends with a code of its own when a person is needed; looking is no failure.
    assert run(["run", command, "r1"]) == {"show": 0, "attach": 10}[command]
    said = capsys.readouterr().err
    for line in (
        "plan of 5 steps",
        "simrelay run approve r1 plan-1",
        "simrelay run reject r1 plan-1 --why '…'",
        "simrelay run revise r1 '…' --gate plan-1 --step N",
        "route-1: Which agent?",
        "1. qm_agent: quantum chemistry",
        "simrelay run answer r1 qm_agent",
    ):
        assert line in said
    assert "an old plan" not in said


@pytest.mark.parametrize(
    ("kind", "repairs", "asked", "rejected"),
    [
        (GateKind.PLAN, "", "Shall this plan be done?", "(ends the run)"),
        (GateKind.COST, "", "Shall these jobs be computed?", "(the step fails, and the rest goes on)"),
        (GateKind.COST, "r1-s2-r1", "Shall this be computed in place of what failed?", "(the step goes on with what"),
        (GateKind.REVIEW, "", "Are these the results that you want?", "(ends the run without a report)"),
    ],
)
def test_each_gate_says_what_it_asks_and_what_a_rejection_does(
    serving: Serving, capsys: pytest.CaptureFixture[str], kind: GateKind, repairs: str, asked: str, rejected: str
) -> None:
    frozen = batch(2).model_copy(update={"repairs": repairs})
    state = with_steps(run_state(gates=(gate(kind, steps=(2,), expires=LATER),)), (2,), batches=(frozen,))
    serving(state)
    run(["run", "show", "r1"])
    said = capsys.readouterr().err
    assert asked in said
    assert rejected in said
    assert ("--step N" in said) is (kind is not GateKind.COST)


def test_what_can_be_revised_no_more_is_not_offered_and_the_asking_comes_last(
    serving: Serving, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    state = all_done(run_state(gates=(PLAN,), iteration=3))
    found = state.findings[0].model_copy(update={"artifacts": (artifact("a/file.xyz", "geometry"),)})
    serving(state.model_copy(update={"findings": (found,)}))
    monkeypatch.setattr(sys, "stderr", sys.stdout)  # as on a terminal, where both are read as one
    run(["run", "attach", "r1"])
    lines = capsys.readouterr().out.rstrip().splitlines()
    assert not any("run revise" in line for line in lines)
    assert any("a/file.xyz" in line for line in lines)
    assert lines[-1].startswith("reject: ")


def test_of_several_questions_each_names_itself_in_its_command(
    serving: Serving, capsys: pytest.CaptureFixture[str]
) -> None:
    other = Question(id="feedback-2", text="What is to be changed?", closed=False)
    serving(run_state(questions=(QUESTION, other)))
    run(["run", "show", "r1"])
    said = capsys.readouterr().err
    assert "simrelay run answer r1 qm_agent --question route-1\n" in said
    assert "simrelay run answer r1 '…' --question feedback-2   (or words of your own)" in said


def test_a_run_that_has_ended_asks_nothing_more(serving: Serving, capsys: pytest.CaptureFixture[str]) -> None:
    serving(run_state(gates=(PLAN,), questions=(QUESTION,)), "CANCELLED")
    assert run(["run", "attach", "r1"]) == 1
    assert "approve" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "body", "said"),
    [
        (["approve", "r1"], {"verdict": "approve", "text": "", "step": 0}, "plan-1 approved"),
        (["reject", "r1", "--why", "dear"], {"verdict": "reject", "text": "dear", "step": 0}, "plan-1 rejected"),
        (["revise", "r1", "PBE0", "--step", "2"], {"verdict": "revise", "text": "PBE0", "step": 2}, "to be revised"),
    ],
)
def test_a_verdict_goes_to_the_only_gate_that_is_open(
    serving: Serving, capsys: pytest.CaptureFixture[str], arguments: list[str], body: dict[str, object], said: str
) -> None:
    sent = serving(run_state(gates=(CLOSED, PLAN)))
    assert run(["run", *arguments]) == 0
    assert sent == [("/runs/r1/verdict", {"gate": "plan-1", "by": "ana", **body})]
    assert said in capsys.readouterr().out


def test_an_answer_goes_to_the_only_question_that_is_open(serving: Serving, capsys: pytest.CaptureFixture[str]) -> None:
    sent = serving(run_state(questions=(QUESTION,)))
    assert run(["run", "answer", "r1", "qm"]) == 0
    assert sent == [("/runs/r1/answer", {"question": "route-1", "text": "qm", "by": "ana"})]
    assert capsys.readouterr().out == "route-1 answered\n"


def test_what_was_said_before_is_told(serving: Serving, capsys: pytest.CaptureFixture[str]) -> None:
    serving(run_state(gates=(PLAN,)), answer="same")
    assert run(["run", "approve", "r1"]) == 0
    assert capsys.readouterr().out == "plan-1 was decided before\n"


@pytest.mark.parametrize(
    ("state", "arguments", "said"),
    [
        (run_state(), ["approve", "r1"], "has none open"),
        (run_state(gates=(PLAN, COST)), ["approve", "r1"], "has several open: plan-1, cost-1"),
        (run_state(gates=(PLAN,)), ["answer", "r1", "x"], "has none open"),
    ],
)
def test_none_or_several_that_are_open_are_said_and_nothing_is_sent(
    serving: Serving, capsys: pytest.CaptureFixture[str], state: RunState, arguments: list[str], said: str
) -> None:
    sent = serving(state)
    assert run(["run", *arguments]) == 2
    assert said in capsys.readouterr().err
    assert sent == []


def test_a_named_gate_is_decided_among_several(serving: Serving) -> None:
    sent = serving(run_state(gates=(PLAN, COST)))
    assert run(["run", "approve", "r1", "cost-1"]) == 0
    assert [body["gate"] for _, body in sent] == ["cost-1"]


def test_a_retry_gives_the_id_of_the_new_run(serving: Serving, capsys: pytest.CaptureFixture[str]) -> None:
    sent = serving(run_state(), "FAILED", "created")
    assert run(["run", "retry", "r1", "--id", "r2", "--detach"]) == 0
    assert sent == [("/runs/r1/retry", {"id": "r2", "owner": "ana"})]
    assert capsys.readouterr().out == "r2\n"
