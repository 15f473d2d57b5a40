"""Answers in pieces: told as they come, counted, and given up where they stop, break off or never end."""

from __future__ import annotations

import time

import pytest

from orchestrator.model.client import Asking
from orchestrator.state import Usage
from tests.model.scripted import Raw, as_json
from tests.model.server import ScriptedModel, completion, failing, streaming
from tests.unit.orchestrator.model.conftest import Connect

TEXT = "The answer comes in pieces."


class Told:
    """Keeps the pieces."""

    def __init__(self) -> None:
        self.pieces: list[str] = []

    async def __call__(self, piece: str) -> None:
        self.pieces.append(piece)


async def test_an_answer_is_told_piece_by_piece_and_counted(connect: Connect) -> None:
    told = Told()
    with ScriptedModel(TEXT) as server:
        async with connect(server) as model:
            reply = await model.ask("p", "q", Usage(), tell=told)
    assert server.seen[0].body["stream"] is True
    assert server.seen[0].body["stream_options"] == {"include_usage": True}
    assert len(told.pieces) > 3
    assert "".join(told.pieces) == reply.text == TEXT
    assert reply.usage == Usage(calls=1, prompt_tokens=100, completion_tokens=20)


@pytest.mark.parametrize("status", [400, 422])
async def test_an_endpoint_that_knows_no_pieces_is_asked_for_the_whole_and_remembered(
    connect: Connect, status: int
) -> None:
    told = Told()
    whole = as_json(completion({"role": "assistant", "content": TEXT}))
    with ScriptedModel(failing(status), whole) as server:
        async with connect(server) as model:
            first = await model.ask("p", "q", Usage(), tell=told)
            await model.ask("p", "q", first.usage, tell=told)
    assert [bool(seen.body.get("stream")) for seen in server.seen] == [True, False, False]
    assert told.pieces == [TEXT, TEXT]


async def test_an_endpoint_that_answers_a_stream_with_a_whole_is_understood(connect: Connect) -> None:
    told = Told()
    with ScriptedModel(as_json(completion({"role": "assistant", "content": TEXT}))) as server:
        async with connect(server) as model:
            assert (await model.ask("p", "q", Usage(), tell=told)).text == TEXT
    assert told.pieces == [TEXT]


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (streaming(TEXT, stuck=True, end=False), "broke off in the middle|did not answer within 1 s"),
        (streaming(TEXT, cut=True, end=False), "broke off in the middle"),
        # dripping: each piece comes in time, and the whole would take far longer than may be waited for
        (streaming(TEXT * 50, pause_seconds=0.2, size=1), "did not answer within 1 s"),
        (streaming("word " * 20_000, size=5000), "does not come to an end"),
        (Raw(pieces=(b'data: {"choices": [{"delta"',), headers={"content-type": "text/event-stream"}),
         "answered with"),
        (Raw(pieces=(b"data: \xff\xfe\n\n",), headers={"content-type": "text/event-stream"}), "answered with"),
        (Raw(pieces=(b'data: {"choices": 7}\n\n',), headers={"content-type": "text/event-stream"}), "answered with"),
        (Raw(pieces=(b'data: {"error": {"message": "secret"}}\n\n',), headers={"content-type": "text/event-stream"}),
         "answered with"),
    ],
    ids=["stuck", "cut", "dripping", "endless", "half a line", "no UTF-8", "wrong types", "error within"],
)  # fmt: skip
async def test_an_answer_that_stops_breaks_off_or_is_none_is_given_up_in_time(
    connect: Connect, answer: Raw, said: str
) -> None:
    began = time.monotonic()
    with ScriptedModel(answer) as server:
        async with connect(server, model_timeout_seconds=1) as model:
            with pytest.raises(Asking, match=said) as raised:
                await model.ask("p", "q", Usage(), tell=Told())
    assert raised.value.usage.calls == 1
    assert "secret" not in str(raised.value)
    assert time.monotonic() - began < 8


async def test_what_whoever_is_told_raises_is_raised(connect: Connect) -> None:
    class Lost(Exception):
        pass

    async def lose(piece: str) -> None:
        raise Lost(piece)

    with ScriptedModel(TEXT) as server:
        async with connect(server) as model:
            with pytest.raises(Lost):
                await model.ask("p", "q", Usage(), tell=lose)
