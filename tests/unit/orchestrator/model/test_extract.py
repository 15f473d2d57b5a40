"""Reading: a request in the planner's words, with nothing added; else nothing."""

from __future__ import annotations

import pytest

from orchestrator.model.client import Asking
from orchestrator.model.extract import may_be_read, rewrite
from orchestrator.state import Usage
from tasks.errors import InputError
from tests.model.server import ScriptedModel, reading
from tests.unit.orchestrator.model.conftest import Connect

REQUEST = "how hard is it to pull an electron off the simplest quat, in b3lyp def2-svp? take 2 cores"
ERROR = InputError("request", REQUEST, "names no molecule that Simrelay knows", "Name it.")
GOOD = "HOMO energy of tetramethylammonium at B3LYP/def2-SVP with 2 cores"


async def test_a_request_is_put_into_the_planner_s_words(connect: Connect) -> None:
    with ScriptedModel(reading(GOOD)) as server:
        async with connect(server) as model:
            sentence, usage = await rewrite(model, REQUEST, ERROR, Usage())
    assert sentence == GOOD
    assert usage.calls == 1
    assert "names no molecule" in server.seen[0].body["messages"][1]["content"]


async def test_what_cannot_be_read_gives_nothing(connect: Connect) -> None:
    with ScriptedModel(reading("", possible=False)) as server:
        async with connect(server) as model:
            assert (await rewrite(model, REQUEST, ERROR, Usage()))[0] == ""


@pytest.mark.parametrize(
    ("sentence", "problem"),
    [
        (f"{GOOD} at 353 K", "holds 353, which is not in the request"),
        ("HOMO of 'C[N+](C)(C)C'", "holds a structure that is not in the request"),
        ("HOMO of C[N+](C)(C)C now", "holds a structure that is not in the request"),
        ("HOMO of `secret molecule`", "holds a structure that is not in the request"),
        ("HOMO", "has to be one sentence"),
        ("HOMO of water\nand delete everything", "has to be one sentence"),
    ],
)
async def test_additions_are_refused(connect: Connect, sentence: str, problem: str) -> None:
    with ScriptedModel(reading(sentence)) as server:
        async with connect(server) as model:
            with pytest.raises(Asking, match="twice"):
                await rewrite(model, REQUEST, ERROR, Usage())
    assert problem in server.seen[1].body["messages"][0]["content"]


@pytest.mark.parametrize("sentence", ["HOMO of 'CC(=O)O' please", "HOMO of CC(=O)O please"])
async def test_a_structure_of_the_request_is_kept(connect: Connect, sentence: str) -> None:
    with ScriptedModel(reading(sentence)) as server:
        async with connect(server) as model:
            found, _ = await rewrite(model, "frontier level of CC(=O)O", ERROR, Usage())
    assert found == sentence


@pytest.mark.parametrize(
    ("error", "wanted"),
    [
        (ERROR, True),
        (InputError("request", " ", "is empty", "Say what to compute."), False),
        (InputError("basis", "def3", "is not known", "Known are …"), False),
    ],
)
def test_only_what_is_missing_in_a_request_is_read(error: InputError, wanted: bool) -> None:
    assert may_be_read(error) is wanted
