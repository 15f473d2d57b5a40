"""The client of the service: typed, and patient while the service restarts.

Everything that it sends may be sent twice, since ids are chosen here: so it tries again after any lost connection.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar
from urllib.parse import quote

import httpx
from pydantic import BaseModel, ValidationError

from orchestrator import views
from orchestrator.endpoint import live_endpoint
from orchestrator.following import STREAM_TIMEOUT, follow_events
from orchestrator.library import Added, Answer, Record
from orchestrator.problems import BadInput, Problem
from orchestrator.stack.secrets import API_TOKEN
from orchestrator.stack.state import running
from tasks import errors
from tasks.errors import InputError, SimrelayError, Unreachable
from tasks.settings import Settings

M = TypeVar("M", bound=BaseModel)
Query = Mapping[str, str | int | Sequence[str]]

#: checking a large batch takes its time
_ANSWER_SECONDS = 3600.0
_CONNECT_SECONDS = 5.0
_FIRST_PAUSE_SECONDS = 0.1
_LONGEST_PAUSE_SECONDS = 2.0
_KINDS = {kind.__name__: kind for kind in (errors.NotFound, errors.Conflict, errors.Refused, errors.LeaseLost)}


class NoService(Unreachable):
    """No service runs in the installation's folder."""


class Client:
    """Talks to one service.

    Parameters
    ----------
    find
        Gives the service's URL; asked again after a lost connection, since a restart may change it.
    token
        The bearer token.
    patience_seconds
        How long to try again while the service does not answer.
    transport
        Another way to reach it than the network.
    """

    def __init__(
        self,
        find: Callable[[], str],
        token: str,
        *,
        patience_seconds: float = 10.0,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.find, self.patience_seconds = find, patience_seconds
        self._has_answered = False
        self._http = httpx.Client(
            headers={"Authorization": f"Bearer {token}"},
            timeout=httpx.Timeout(_ANSWER_SECONDS, connect=_CONNECT_SECONDS),
            transport=transport,
            trust_env=False,
        )

    @classmethod
    def of(cls, settings: Settings, *, patience_seconds: float = 10.0) -> Client:
        """Make the client of this installation's service: the one that the settings name, else the local one."""

        def find() -> str:
            if settings.api_url:
                return settings.api_url.rstrip("/")
            endpoint = live_endpoint(settings.home)
            if not endpoint and running(settings.home):
                raise Unreachable("the local stack runs, but its orchestrator does not; see `simrelay status`")
            if not endpoint:
                raise NoService(f"no service runs in {settings.home}; `simrelay up` starts one on this host")
            return endpoint.url

        token = settings.api_token.get_secret_value() or _token(settings.home / API_TOKEN)
        return cls(find, token, patience_seconds=patience_seconds)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.close()

    # ---- runs

    def create_run(self, body: Mapping[str, Any]) -> views.Created:
        """Make a run, or attach to the unfinished one for the same request."""
        return self._post("/runs", views.Created, body)

    def retry_run(self, run: str, body: Mapping[str, Any]) -> views.Created:
        """Take up a run that failed or was cancelled, as a new one."""
        return self._post(f"/runs/{run}/retry", views.Created, body)

    def preview(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Say what a run would do; nothing is queued."""
        return self._ask("POST", "/runs", {}, {**body, "dry_run": True})

    def run(self, run: str) -> views.RunView:
        """Read one run."""
        return self._get(f"/runs/{run}", views.RunView)

    def runs(self, **query: str | int) -> views.RunPage:
        """List runs by owner or state."""
        return self._get("/runs", views.RunPage, query)

    def cancel_run(self, run: str) -> views.Answered:
        """Ask a run to end."""
        return self._post(f"/runs/{run}/cancel", views.Answered)

    def decide_gate(self, run: str, body: Mapping[str, Any]) -> views.Answered:
        """Approve, reject or revise what a run waits for."""
        return self._post(f"/runs/{run}/verdict", views.Answered, body)

    def answer_question(self, run: str, body: Mapping[str, Any]) -> views.Answered:
        """Answer a question of a run."""
        return self._post(f"/runs/{run}/answer", views.Answered, body)

    def event_page(self, run: str, *, after: int = 0, limit: int = 1000) -> views.EventPage:
        """Read the events of a run that follow a number."""
        return self._get(f"/runs/{run}/events", views.EventPage, {"after": after, "limit": limit})

    def events(self, run: str, *, after: int = 0) -> Iterator[views.EventView]:
        """Give the events of a run that follow a number, as they happen, each once, until the run has ended."""
        return follow_events(partial(self._stream, f"/runs/{run}/events"), after, self.patience_seconds)

    def agents(self) -> list[views.AgentView]:
        """List the agents."""
        return [views.AgentView.model_validate(row) for row in self._ask("GET", "/agents", {})["agents"]]

    # ---- jobs

    def jobs(self, ranges: Sequence[str] = (), **query: str | int) -> views.JobPage:
        """List or search jobs."""
        return self._get("/jobs", views.JobPage, {**query, "range": tuple(ranges)})

    def job(self, job: str) -> views.JobDetail:
        """Read one job with its attempts."""
        return self._get(f"/jobs/{job}", views.JobDetail)

    def log(self, job: str, *, lines: int = 50, attempt: int = 0) -> views.Log:
        """Read the end of a job's output."""
        return self._get(f"/jobs/{job}/log", views.Log, {"lines": lines, "attempt": attempt})

    def why(self, job: str) -> views.Why:
        """Ask why a job has not started."""
        return self._get(f"/jobs/{job}/why", views.Why)

    def change_jobs(self, verb: str, body: Mapping[str, Any]) -> views.Changed:
        """Hold, release, retry, rerun or cancel jobs, or only list which ones that would be (``dry_run``)."""
        return self._post(f"/jobs/{verb}", views.Changed, body)

    # ---- batches

    def submit_batch(self, body: Mapping[str, Any]) -> views.BatchAnswer:
        """Submit a batch, or only check it (``dry_run``)."""
        return self._post("/batches", views.BatchAnswer, body)

    def batches(self, **query: str | int) -> views.BatchPage:
        """List batches."""
        return self._get("/batches", views.BatchPage, query)

    def batch(self, batch: str) -> views.BatchView:
        """Read one batch."""
        return views.BatchView.model_validate(self._ask("GET", f"/batches/{batch}", {})["batch"])

    def results(self, batch: str) -> list[views.ResultRow]:
        """Read what came out of all jobs of a batch, in the order of their submission."""
        rows: list[views.ResultRow] = []
        cursor = ""
        while True:
            page = self._ask("GET", f"/batches/{batch}/results", {"cursor": cursor, "count": 500})
            rows += [views.ResultRow.model_validate(row) for row in page["results"]]
            cursor = page["cursor"]
            if not cursor:
                return sorted(rows, key=lambda row: row.index)

    def cancel_batch(self, batch: str) -> views.BatchAnswer:
        """Cancel what has not ended of a batch."""
        return self._post(f"/batches/{batch}/cancel", views.BatchAnswer)

    # ---- files

    def put_file(self, path: Path) -> views.FileView:
        """Put a local file into the workspace."""
        return views.FileView.model_validate(self._ask("PUT", f"/files/{quote(path.name, safe='')}", {}, path))

    # ---- the memory of recoveries

    def episodes(self, **query: str | int) -> views.EpisodePage:
        """List episodes by signature, status, action or run."""
        return self._get("/memory/episodes", views.EpisodePage, query)

    def episode(self, episode: str) -> views.EpisodeDetail:
        """Read one episode, and why it is not recalled."""
        return self._get(f"/memory/episodes/{episode}", views.EpisodeDetail)

    def recall(self, **query: str | int) -> views.Recalled:
        """Ask what memory and policy would try for a failure."""
        return self._get("/memory/recall", views.Recalled, query)

    def revoke_episode(self, episode: str, body: Mapping[str, Any]) -> views.Decided:
        """Take an episode out of what is recalled."""
        return self._post(f"/memory/episodes/{episode}/revoke", views.Decided, body)

    def policy(self, *, audit: int = 0) -> views.PolicyView:
        """Read the policy, with so many lines of the memory's account."""
        return self._get("/policy", views.PolicyView, {"audit": audit})

    def promote(self, body: Mapping[str, Any]) -> views.Promoted:
        """Make a rule out of episodes that agree."""
        return self._post("/policy/promote", views.Promoted, body)

    def roll_back(self, body: Mapping[str, Any]) -> views.Decided:
        """Make an earlier version of the policy the active one."""
        return self._post("/policy/rollback", views.Decided, body)

    # ---- the library

    def add_document(self, path: Path) -> Added:
        """Add a local file to the library."""
        return Added.model_validate(self._ask("POST", "/library/documents", {"name": path.name}, path))

    def documents(self) -> list[Record]:
        """List the documents of the library."""
        return [Record.model_validate(row) for row in self._ask("GET", "/library/documents", {})["documents"]]

    def remove_document(self, document: str) -> Record:
        """Remove a document by its id, or the beginning of it."""
        return Record.model_validate(self._ask("DELETE", f"/library/documents/{quote(document, safe='')}", {}))

    def ask_library(self, question: str) -> Answer:
        """Answer a question out of the library."""
        return self._get("/library/answer", Answer, {"question": question})

    def reindex_library(self) -> dict[str, Any]:
        """Build anew what is searched; give how many passages that were, and how they are searched."""
        return self._ask("POST", "/library/reindex", {})

    # ---- the installation

    def workers(self) -> list[views.WorkerView]:
        """List live workers."""
        return [views.WorkerView.model_validate(row) for row in self._ask("GET", "/workers", {})["workers"]]

    def drain_worker(self, worker: str, *, finish_current: bool) -> views.WorkerAnswer:
        """Have a worker take no more work, give back or finish what it runs, and end."""
        return self._post(f"/workers/{worker}/drain", views.WorkerAnswer, {"finish_current": finish_current})

    def resume_worker(self, worker: str) -> views.WorkerAnswer:
        """Let a worker take work again."""
        return self._post(f"/workers/{worker}/resume", views.WorkerAnswer)

    def status(self) -> views.StatusView:
        """Count jobs and runs by state."""
        return self._get("/status", views.StatusView)

    def schema(self) -> dict[str, Any]:
        """Read the schemas of a run's state and of a job's spec."""
        return self._ask("GET", "/schema", {})

    # ---- how

    def _get(self, path: str, model: type[M], query: Query | None = None) -> M:
        return model.model_validate(self._ask("GET", path, query or {}))

    def _post(self, path: str, model: type[M], body: Mapping[str, Any] | None = None) -> M:
        return model.model_validate(self._ask("POST", path, {}, body))

    def _ask(
        self, method: str, path: str, query: Query, body: Mapping[str, Any] | Path | None = None
    ) -> dict[str, Any]:
        """Ask, and ask again while nobody answers.

        Raises
        ------
        Unreachable
            If nobody answered within the patience.
        SimrelayError
            What the service said was wrong, as the class of error that it was there.
        """
        deadline = time.monotonic() + self.patience_seconds
        pause = _FIRST_PAUSE_SECONDS
        asked = {name: list(v) if isinstance(v, tuple) else v for name, v in query.items() if v not in ("", ())}
        while True:
            try:
                answer = self._send(method, self.find() + path, asked, body)
                self._has_answered = True
                if answer.status_code < 502:
                    return _read(answer)
                raise _read_error(answer)
            except (httpx.TransportError, Unreachable) as error:
                # What has answered before is restarting; what has not is not there.
                hopeless = isinstance(error, NoService) and not self._has_answered
                if hopeless or time.monotonic() + pause > deadline:
                    raise _unreachable(error) from error
            time.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE_SECONDS)

    @contextmanager
    def _stream(self, path: str, after: int) -> Iterator[httpx.Response]:
        """Open a stream of events that follow a number; raises what the service says is wrong."""
        headers = {"Accept": "text/event-stream", "Last-Event-ID": str(after)}
        with self._http.stream("GET", self.find() + path, headers=headers, timeout=STREAM_TIMEOUT) as answer:
            if answer.is_error:
                answer.read()
                raise _read_error(answer)
            yield answer

    def _send(self, method: str, url: str, query: Query, body: Mapping[str, Any] | Path | None) -> httpx.Response:
        """Send one request, with JSON or with a file's content."""
        if not isinstance(body, Path):
            return self._http.request(method, url, params=dict(query), json=body)
        with body.open("rb") as content:
            return self._http.request(method, url, params=dict(query), content=content)


def _unreachable(error: Exception) -> Unreachable:
    return error if isinstance(error, Unreachable) else Unreachable(f"the service does not answer: {error}")


def _token(path: Path) -> str:
    try:
        return path.read_text().strip()
    except FileNotFoundError:
        return ""


def _read(answer: httpx.Response) -> dict[str, Any]:
    if answer.is_error:
        raise _read_error(answer)
    try:
        data = answer.json()
    except ValueError as error:
        raise SimrelayError(f"{answer.request.url} is no Simrelay service: its answer is not JSON") from error
    if not isinstance(data, dict):
        raise SimrelayError(f"{answer.request.url} is no Simrelay service: its answer is not an object")
    return data


def _read_error(answer: httpx.Response) -> SimrelayError:
    try:
        data = answer.json()
        message, kind = str(data["error"]), data["kind"]
        problems = [Problem.model_validate(one) for one in data.get("problems") or ()]
    except (ValueError, KeyError, TypeError, ValidationError):
        return SimrelayError(f"{answer.request.url} answered {answer.status_code}")
    if problems:
        return BadInput(problems)
    if kind == "InputError":
        return InputError(data["field"], data["value"], data["problem"], data["remedy"])
    if kind == "Unreachable":
        return Unreachable(message)
    error = _KINDS.get(kind, SimrelayError)(message)
    error.exit_code = int(data.get("exit_code", error.exit_code))
    return error
