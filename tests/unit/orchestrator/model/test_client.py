"""The client: what it sends, what it makes of good and bad answers, and how long it waits."""

from __future__ import annotations

import time

import pytest

from orchestrator.model.budget import ModelError, OverBudget
from orchestrator.model.client import Asking, read_json
from orchestrator.state import Usage
from tests.model.scripted import Raw, as_json
from tests.model.server import SLOW, ScriptedModel, calling, completion, failing
from tests.unit.orchestrator.model.conftest import Connect

HTML = Raw(b"<html>nonsense</html>", headers={"content-type": "text/html"})
SCHEMA = {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"], "additionalProperties": False}


async def test_a_question_is_asked_with_prompt_key_and_temperature_zero(connect: Connect) -> None:
    with ScriptedModel("four") as server:
        async with connect(server) as model:
            reply = await model.ask("Count.", "How many?", Usage())
    (seen,) = server.seen
    assert reply.text == "four"
    assert reply.usage == Usage(calls=1, prompt_tokens=100, completion_tokens=20)
    assert [m["content"] for m in seen.body["messages"]] == ["Count.", "How many?"]
    assert seen.body["temperature"] == 0
    assert not seen.body.get("stream")
    assert "tools" not in seen.body
    assert seen.headers["authorization"] == "Bearer secret-key"


async def test_an_endpoint_without_structured_output_is_asked_without_and_remembered(connect: Connect) -> None:
    with ScriptedModel('{"x": 1}', schemas=False) as server:
        async with connect(server) as model:
            first = await model.ask("p", "q", Usage(), schema=SCHEMA)
            await model.ask("p", "q", first.usage, schema=SCHEMA)
    assert ["response_format" in seen.body for seen in server.seen] == [True, False, False]
    assert first.text == '{"x": 1}'


async def test_an_endpoint_with_structured_output_is_held_to_the_schema(connect: Connect) -> None:
    with ScriptedModel('{"x": 1}') as server:
        async with connect(server) as model:
            await model.ask("p", "q", Usage(), schema=SCHEMA)
    shape = server.seen[0].body["response_format"]
    assert (shape["type"], shape["json_schema"]["schema"], shape["json_schema"]["strict"]) == (
        "json_schema",
        SCHEMA,
        True,
    )


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (failing(500), "failed with HTTP 500"),
        (failing(401), "refused the key (HTTP 401): look at SIMRELAY_MODEL_KEY"),
        (failing(404), "is not known at http://127.0.0.1"),
        (failing(429), "has no time: too many requests (HTTP 429, one try)"),
        (failing(400, "secret text of the endpoint"), "failed with HTTP 400"),
        (HTML, "answered with what is no chat completion"),
        (Raw(b"{"), "answered with what is no chat completion"),
        (as_json({"choices": None}), "answered with what is no chat completion"),
        (as_json({"choices": []}), "answered with what is no chat completion"),
        (as_json([1, 2]), "answered with what is no chat completion"),
        (as_json(completion({"role": "assistant", "content": {"a": [1]}})), "answered with what is no chat completion"),
        (as_json({**completion({"role": "assistant", "content": "x"}), "usage": {"prompt_tokens": "many"}}),
         "answered with what is no chat completion"),
        (Raw(b'{"choices": [{"message": {"content": "\xff\xfe'), "answered with what is no chat completion"),
        (Raw(b"x" * 3_000_000), "does not come to an end"),
        (Raw(b'{"choices":', cut=True, pieces=(b" [",)), "cannot be reached"),
    ],
)  # fmt: skip
async def test_a_bad_answer_is_told_in_our_own_words(connect: Connect, answer: Raw, said: str) -> None:
    with ScriptedModel(answer) as server:
        async with connect(server) as model:
            with pytest.raises(Asking) as raised:
                await model.ask("p", "q", Usage(calls=2))
    assert said in str(raised.value)
    assert "secret" not in str(raised.value)
    assert raised.value.usage.calls == 3


async def test_a_model_that_is_slow_is_given_up_after_its_time_out(connect: Connect) -> None:
    with ScriptedModel(SLOW) as server:
        async with connect(server, model_timeout_seconds=0.3) as model:
            with pytest.raises(Asking, match=r"did not answer within 0\.3 s"):
                await model.ask("p", "q", Usage())


async def test_a_model_that_is_down_cannot_be_reached(connect: Connect) -> None:
    with ScriptedModel("x") as server:
        pass
    async with connect(server) as model:
        with pytest.raises(Asking, match="cannot be reached at http://127"):
            await model.ask("p", "q", Usage())


async def test_a_passing_failure_is_tried_again_after_what_the_endpoint_asks_for(connect: Connect) -> None:
    with ScriptedModel(failing(429, Retry_After="1"), failing(503), "there") as server:
        async with connect(server, model_retries=2) as model:
            began = time.monotonic()
            reply = await model.ask("p", "q", Usage())
    assert reply.text == "there"
    assert len(server.seen) == 3
    assert time.monotonic() - began >= 1


async def test_what_the_endpoint_does_not_count_is_estimated(connect: Connect) -> None:
    with ScriptedModel("x" * 30, usage=False) as server:
        async with connect(server) as model:
            reply = await model.ask("p" * 60, "q" * 30, Usage())
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (30, 10)


async def test_a_used_up_budget_is_not_exceeded(connect: Connect) -> None:
    with ScriptedModel("x") as server:
        async with connect(server, model_budget_calls=1, model_budget_tokens=500) as model:
            with pytest.raises(OverBudget, match="budget of 1 calls"):
                await model.ask("p", "q", Usage(calls=1))
            with pytest.raises(OverBudget, match="500 of its budget of 500 tokens"):
                await model.ask("p", "q", Usage(prompt_tokens=400, completion_tokens=100))
            with pytest.raises(OverBudget, match="the prompt does not fit"):
                await model.ask("p" * 3000, "q", Usage())
            assert server.seen == []
            await model.ask("p", "q", Usage(prompt_tokens=400))
    limit = server.seen[0].body.get("max_completion_tokens") or server.seen[0].body["max_tokens"]
    assert limit == 99


async def test_a_tool_that_was_not_given_is_told(connect: Connect) -> None:
    with ScriptedModel(calling("submit_job", method="B3LYP")) as server:
        async with connect(server) as model:
            reply = await model.ask("p", "q", Usage())
    assert reply.calls == ("submit_job",)


async def test_an_empty_answer_is_empty(connect: Connect) -> None:
    empty = as_json(completion({"role": "assistant", "content": None}))
    with ScriptedModel(empty) as server:
        async with connect(server) as model:
            assert (await model.ask("p", "q", Usage())).text == ""


async def test_cost_follows_from_prices(connect: Connect) -> None:
    with ScriptedModel("x") as server:
        async with connect(server, model_prompt_price=2.0, model_completion_price=10.0) as model:
            reply = await model.ask("p", "q", Usage(calls=1, prompt_tokens=900, completion_tokens=80))
    assert reply.usage.cost == pytest.approx((1000 * 2 + 100 * 10) / 1e6)


async def test_nothing_goes_to_a_proxy_or_a_tracer(connect: Connect, monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedModel("x") as elsewhere, ScriptedModel("there") as server:
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "OPENAI_PROXY", "OPENAI_BASE_URL"):
            monkeypatch.setenv(name, elsewhere.url)
        monkeypatch.setenv("LANGSMITH_TRACING", "true")
        monkeypatch.setenv("LANGSMITH_API_KEY", "k")
        monkeypatch.setenv("LANGSMITH_ENDPOINT", elsewhere.url)
        async with connect(server) as model:
            assert (await model.ask("p", "q", Usage())).text == "there"
        assert elsewhere.seen == []


@pytest.mark.parametrize("text", ['{"x": 1}', 'Sure:\n```json\n{"x": 1}\n```\nDone {it}.', '  {"x": 1} }'])
def test_json_is_found_within_prose(text: str) -> None:
    assert read_json(text) == {"x": 1}


@pytest.mark.parametrize("text", ["", "none", '{"x": ', "[1]", "{x: 1}"])
def test_what_holds_no_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        read_json(text)


def test_both_ways_of_no_help_are_model_errors() -> None:
    assert issubclass(OverBudget, ModelError)
    assert issubclass(Asking, ModelError)
