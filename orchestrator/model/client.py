"""One language model behind an OpenAI-compatible endpoint: asked a question, it gives text, or says why not."""

from __future__ import annotations

import asyncio
import ipaddress
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import urlsplit

import structlog

from orchestrator.model.budget import ModelError, add, answer_limit, estimated_tokens
from orchestrator.state import Usage
from tasks.settings import Settings

if TYPE_CHECKING:
    import httpx2
    from langchain_core.messages import AIMessage, AIMessageChunk

log = structlog.get_logger()

#: endpoints that want no key get one all the same, since the client insists on one
_NO_KEY = "none"
#: what an endpoint answers that does not know structured output
_UNKNOWN_FORMAT = (400, 404, 415, 422, 501)
#: the longest answer that is read, in bytes as it comes and in characters of text: no prompt asks for as much
_MOST_BYTES, _MOST_CHARACTERS = 2_000_000, 60_000

#: is given each piece of an answer as it comes
Tell = Callable[[str], Awaitable[None]]


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What the model said, and what the run has used with it.

    Attributes
    ----------
    text
        Empty if it said nothing.
    calls
        Names of the tools that it tried to call; it was given none.
    """

    text: str
    usage: Usage
    calls: tuple[str, ...] = ()


class Asking(ModelError):
    """The language model gave no answer, and this is what the try has used."""

    def __init__(self, message: str, usage: Usage) -> None:
        super().__init__(message)
        self.usage = usage


class TooLong(ValueError):
    """An answer has no end, or none that is worth waiting for."""


class BrokenOff(ValueError):
    """An answer had begun, and never came to its end."""


class Asks(Protocol):
    """What can be asked: a model, or one whose use is booked (``metered``)."""

    @property
    def settings(self) -> Settings:
        """The installation's settings."""

    async def ask(
        self,
        prompt: str,
        question: str,
        usage: Usage,
        *,
        schema: dict[str, Any] | None = None,
        temperature: float = 0,
        tell: Tell | None = None,
    ) -> Reply:
        """Ask one question, as ``Model.ask`` does."""


class Model:
    """A language model; one for all runs of an orchestrator.

    It is asked in the service's loop, so that leases are renewed meanwhile, and a run that is cancelled or lost stops
    waiting for it at once.
    """

    def __init__(self, settings: Settings) -> None:
        # Loading these takes a second or two, and most installations have no model.
        import openai
        from langchain_openai import ChatOpenAI

        self.settings = settings
        #: whether the endpoint knows structured output; found out at the first question
        self._knows_schemas = True
        #: whether it knows answers in pieces that say at their end what was used; found out in the same way
        self._knows_streams = True
        self._http = openai.DefaultAsyncHttpxClient(
            timeout=settings.model_timeout_seconds,
            trust_env=not _is_here(settings.model_url),
            event_hooks={"response": [_bound]},
        )
        self._chat = ChatOpenAI(
            model=settings.model,
            base_url=settings.model_url,
            api_key=lambda: settings.model_key.get_secret_value() or _NO_KEY,
            timeout=settings.model_timeout_seconds,
            # with exponential back-off and jitter, or after what the endpoint asks for
            max_retries=settings.model_retries,
            # only what is told as it comes is asked for in pieces
            disable_streaming=True,
            stream_usage=True,
            use_responses_api=False,
            openai_proxy="",
            http_async_client=self._http,
        )
        self._streaming = self._chat.model_copy(update={"disable_streaming": False})

    async def close(self) -> None:
        """Let go of its connections."""
        await self._http.aclose()

    async def ask(
        self,
        prompt: str,
        question: str,
        usage: Usage,
        *,
        schema: dict[str, Any] | None = None,
        temperature: float = 0,
        tell: Tell | None = None,
    ) -> Reply:
        """Ask one question.

        Parameters
        ----------
        prompt
            What the model is to do: only words of ours.
        question
            What it is about, with all that comes from outside between delimiters.
        usage
            What the run has used so far.
        schema
            JSON schema of the answer, where the endpoint can be held to one; the prompt has to say it as well.
        tell
            Is given each piece of the answer as it comes, or all of it at once from an endpoint that cannot stream;
            what it raises is raised. An answer that breaks off in the middle is not asked for again.

        Raises
        ------
        OverBudget
            If the run has used up its budget; nothing was asked.
        Asking
            If there is no answer: the endpoint is away, too slow, refuses, or answers with nonsense.
        """
        limit = answer_limit(usage, prompt + question, self.settings)
        failed = add(usage, 0, 0, self.settings)
        seconds = self.settings.model_timeout_seconds * (self.settings.model_retries + 1)
        try:
            async with asyncio.timeout(seconds):
                message = await self._answer(prompt, question, schema, limit, temperature, tell)
        except TimeoutError as error:
            raise Asking(f"did not answer within {seconds:g} s", failed) from error
        except _unusable() as error:
            log.warning("model_failed", error=type(error).__name__)
            raise Asking(_reason(error, self.settings), failed) from error
        return self._reply(message, usage, prompt + question)

    async def _answer(
        self,
        prompt: str,
        question: str,
        schema: dict[str, Any] | None,
        limit: int,
        temperature: float,
        tell: Tell | None,
    ) -> AIMessage:
        import openai
        from langsmith import tracing_context

        messages = [("system", prompt), ("human", question)]
        options: dict[str, Any] = {"temperature": temperature, "max_tokens": limit}
        # Nothing about a request goes anywhere but to the endpoint, whatever the environment says.
        with tracing_context(enabled=False):
            if schema is not None and self._knows_schemas:
                shape = {"name": "answer", "schema": schema, "strict": True}
                held: dict[str, Any] = {"response_format": {"type": "json_schema", "json_schema": shape}}
                try:
                    return await self._chat.ainvoke(messages, **options, **held)
                except openai.APIStatusError as error:
                    if error.status_code not in _UNKNOWN_FORMAT:
                        raise
                message = await self._chat.ainvoke(messages, **options)
                self._knows_schemas = False  # without one it works
                return message
            if tell is not None and self._knows_streams:
                try:
                    if (whole := await self._in_pieces(messages, options, tell)) is not None:
                        return whole
                except openai.APIStatusError as error:
                    if error.status_code not in _UNKNOWN_FORMAT:
                        raise
                message = await self._chat.ainvoke(messages, **options)
                self._knows_streams = False
            else:
                message = await self._chat.ainvoke(messages, **options)
            if tell is not None and message.text:
                await tell(str(message.text))
            return message

    async def _in_pieces(
        self, messages: list[tuple[str, str]], options: dict[str, Any], tell: Tell
    ) -> AIMessageChunk | None:
        """Give the answer, told as it came; None if the endpoint sent no pieces at all, but something else."""
        whole: AIMessageChunk | None = None
        length = 0
        pieces = aiter(self._streaming.astream(messages, **options))
        while True:
            try:
                piece = await anext(pieces, None)
            except _unusable() as error:
                if whole is not None and not isinstance(error, TooLong):
                    raise BrokenOff(f"after {length} characters") from error
                if isinstance(error, ValueError) and not isinstance(error, TooLong):
                    return None
                raise
            if piece is None:
                return whole
            whole = piece if whole is None else whole + piece
            text = str(piece.text)
            length += len(text)
            if length > _MOST_CHARACTERS:
                raise TooLong(f"more than {_MOST_CHARACTERS} characters")
            if text:
                await tell(text)

    def _reply(self, message: AIMessage, usage: Usage, asked: str) -> Reply:
        text = str(message.text).strip()
        used = message.usage_metadata
        # An endpoint that does not say what it used is not free of the budget.
        prompt_tokens = used["input_tokens"] if used else estimated_tokens(asked)
        completion_tokens = used["output_tokens"] if used else estimated_tokens(text)
        calls = [call.get("name") or "" for call in (*message.tool_calls, *message.invalid_tool_calls)]
        total = add(usage, max(prompt_tokens, 0), max(completion_tokens, 0), self.settings)
        return Reply(text=text, usage=total, calls=tuple(filter(None, calls)))


def connect_model(settings: Settings) -> Model | None:
    """Give the language model of the settings; None if none is configured. Nothing is asked yet."""
    return Model(settings) if settings.model_url else None


async def _bound(response: httpx2.Response) -> None:
    """Read no more of an answer than any could need: an endpoint that never ends must not fill the memory."""
    import httpx2

    class Bounded(httpx2.AsyncByteStream):
        def __init__(self, stream: httpx2.AsyncByteStream) -> None:
            self.stream = stream

        async def __aiter__(self) -> AsyncIterator[bytes]:
            read = 0
            async for piece in self.stream:
                read += len(piece)
                if read > _MOST_BYTES:
                    raise TooLong(f"more than {_MOST_BYTES} bytes")
                yield piece

        async def aclose(self) -> None:
            await self.stream.aclose()

    if isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = Bounded(response.stream)


def _is_here(url: str) -> bool:
    """Tell whether a URL leads to this host: then a proxy of the environment is never in between."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _unusable() -> tuple[type[Exception], ...]:
    """Give what the client raises for an endpoint that is away, refuses, or answers with what is no completion."""
    import httpx2
    import openai

    return (openai.OpenAIError, httpx2.HTTPError, OSError, ValueError, TypeError, KeyError, AttributeError, LookupError)


def _reason(error: Exception, settings: Settings) -> str:
    """Say why there is no answer, without what the endpoint said: that could hold anything."""
    import openai

    if any(isinstance(one, TooLong) for one in (error, error.__cause__, error.__context__)):
        return "does not come to an end: its answer is longer than any that is read"
    tries = f"{settings.model_retries + 1} tries" if settings.model_retries else "one try"
    if isinstance(error, openai.APITimeoutError):
        return f"did not answer within {settings.model_timeout_seconds:g} s ({tries})"
    if isinstance(error, openai.APIConnectionError):
        return f"cannot be reached at {_address(settings)} ({tries})"
    if isinstance(error, openai.AuthenticationError | openai.PermissionDeniedError):
        return f"refused the key (HTTP {error.status_code}): look at SIMRELAY_MODEL_KEY"
    if isinstance(error, openai.NotFoundError):
        return f"is not known at {_address(settings)} (HTTP 404): look at SIMRELAY_MODEL_URL and SIMRELAY_MODEL"
    if isinstance(error, openai.RateLimitError):
        return f"has no time: too many requests (HTTP 429, {tries})"
    if isinstance(error, openai.APIStatusError):
        return f"failed with HTTP {error.status_code}"
    if isinstance(error, BrokenOff):
        return "broke off in the middle of its answer"
    if isinstance(error, openai.LengthFinishReasonError):
        return "did not come to an end"
    return f"answered with what is no chat completion ({type(error).__name__})"


def _address(settings: Settings) -> str:
    parts = urlsplit(settings.model_url)
    return f"{parts.scheme}://{parts.hostname}{f':{parts.port}' if parts.port else ''}"


def read_json(text: str) -> object:
    """Read the JSON object of an answer, also from within prose or a code fence.

    Raises
    ------
    ValueError
        If there is none.
    """
    start = text.find("{")
    if start < 0:
        raise ValueError("there is no JSON object in it")
    found, _ = json.JSONDecoder().raw_decode(text[start:])
    return found
