"""An OpenAI-compatible server that answers from a script: good answers, bad ones, and none."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from tests.model.scripted import Raw, ScriptedServer, Seen, as_json, in_turn

#: what each completion says that it used
PROMPT_TOKENS, COMPLETION_TOKENS = 100, 20
SLOW = Raw(slow=True)


class ScriptedModel(ScriptedServer):
    """A chat completion for every request: what the script says next, in one piece or streamed.

    Parameters
    ----------
    script
        Texts, or answers as they go over the wire; the last goes on for ever.
    schemas
        Whether it knows structured output; else it refuses it.
    usage
        Whether it tells what it used.
    """

    def __init__(self, *script: str | Raw, schemas: bool = True, usage: bool = True) -> None:
        super().__init__()
        self.script: Sequence[str | Raw] = script
        self.schemas, self.usage = schemas, usage
        self._answered = 0

    def reply(self, seen: Seen) -> Raw:
        assert seen.path.endswith("/chat/completions"), seen.path
        if "response_format" in seen.body and not self.schemas:
            return failing(400, "response_format is not supported")
        self._answered += 1
        said = in_turn(self.script, self._answered)
        if isinstance(said, Raw):
            return said
        message = {"role": "assistant", "content": said}
        return self._streamed(said) if seen.body.get("stream") else as_json(self._completion(message))

    def _completion(self, message: dict[str, Any], reason: str = "stop") -> dict[str, Any]:
        body = completion(message, reason)
        return body if self.usage else {**body, "usage": None}

    def _streamed(self, text: str) -> Raw:
        pieces = [text[i : i + 7] for i in range(0, len(text), 7)]
        chunks: list[dict[str, Any]] = [_chunk({"role": "assistant", "content": ""})]
        chunks += [_chunk({"content": piece}) for piece in pieces]
        chunks += [_chunk({}, "stop"), {**_chunk({}), "choices": [], "usage": _usage()}]
        lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
        return Raw("".join([*lines, "data: [DONE]\n\n"]).encode(), headers={"content-type": "text/event-stream"})


def completion(message: dict[str, Any], reason: str = "stop") -> dict[str, Any]:
    """Give the body of a completion."""
    choice = {"index": 0, "message": message, "finish_reason": reason}
    return {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "scripted",
        "choices": [choice],
        "usage": _usage(),
    }


def streaming(
    text: str, *, pause_seconds: float = 0.0, size: int = 7, stuck: bool = False, cut: bool = False, end: bool = True
) -> Raw:
    """Give an answer in pieces with a pause after each; without an end it stops where the text does."""
    pieces = [_chunk({"content": text[i : i + size]}) for i in range(0, len(text), size)]
    last = [_chunk({}, "stop"), {**_chunk({}), "choices": [], "usage": _usage()}] if end else []
    lines = [f"data: {json.dumps(chunk)}\n\n".encode() for chunk in [*pieces, *last]]
    return Raw(
        headers={"content-type": "text/event-stream"},
        pieces=(*lines, b"data: [DONE]\n\n") if end else tuple(lines),
        pause_seconds=pause_seconds,
        stuck=stuck,
        cut=cut,
    )


def calling(tool: str, **arguments: object) -> Raw:
    """Give an answer that tries to call a tool."""
    call = {"id": "t1", "type": "function", "function": {"name": tool, "arguments": json.dumps(arguments)}}
    return as_json(completion({"role": "assistant", "content": None, "tool_calls": [call]}, "tool_calls"))


def failing(status: int, message: str = "no", **headers: str) -> Raw:
    """Give an answer that is an error."""
    return as_json({"error": {"message": message, "type": "error"}}, status, **headers)


def deciding(next_agent: str, response: str = "", reasoning: str = "It says so.") -> str:
    """Give a decision about the agent."""
    return json.dumps({"next_agent": next_agent, "reasoning": reasoning, "response": response})


def reading(sentence: str, *, possible: bool = True) -> str:
    """Give a request in other words."""
    return json.dumps({"possible": possible, "sentence": sentence, "reasoning": "It says so."})


def _usage() -> dict[str, int]:
    total = PROMPT_TOKENS + COMPLETION_TOKENS
    return {"prompt_tokens": PROMPT_TOKENS, "completion_tokens": COMPLETION_TOKENS, "total_tokens": total}


def _chunk(delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "scripted", "choices": [choice]}
