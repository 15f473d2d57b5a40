"""Who wants to see, check or stop something gets no new jobs."""

from __future__ import annotations

import pytest

from orchestrator.planning import Abstained, plan_request
from orchestrator.planning.asked import Asked
from orchestrator.planning.looking import only_looks
from tests.routing.cases import load
from tests.routing.report import DEVELOPMENT, SIMULATING


@pytest.mark.parametrize(
    ("text", "wish", "command"),
    [
        ("tail the log of the swarm on PBF_BB_1 / piperidinium", "see how something stands", "job logs"),
        ("stop the piperidinium swarm on PBF_BB_1", "stop something", "job cancel"),
        ("Would piperidinium on PBF_BB_1 be accepted? Do not start anything.", "check something", "--dry-run"),
        ("Which families can the swarm vary on PBF_BB_1?", "list what there is", "names are known"),
        ("Is my swarm for piperidinium on PBF_BB_1 finished?", "see how something stands", "run show"),
    ],
)
@pytest.mark.parametrize("agent", ["", "hem_agent"])
def test_looking_starts_nothing_and_says_what_shows_it(text: str, wish: str, command: str, agent: str) -> None:
    with pytest.raises(Abstained) as caught:
        plan_request(Asked(text=text, agent=agent))
    assert wish in str(caught.value)
    assert command in str(caught.value)


def test_no_request_for_work_is_taken_for_a_look() -> None:
    cases = [case for part in DEVELOPMENT for case in load(part) if case.simulates]
    assert [
        case.id for case in cases if SIMULATING & {case.expect, *(case.plan or ())} and only_looks(case.request)
    ] == []
