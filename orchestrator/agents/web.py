"""The web search agent: what the web says now, through Tavily; labelled, dated, and checked by nobody."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, ClassVar
from urllib.parse import urlsplit

import httpx
from pydantic import BaseModel, ConfigDict, ValidationError

from orchestrator.agents.base import Agent, Context, JobResult, Work
from orchestrator.phrases import counted
from orchestrator.state import Column, Finding, Step, Table
from tasks.settings import Settings, load_settings

#: how long the service may take for one search
TIMEOUT_SECONDS = 20.0
_MOST_RESULTS = 5
#: the longest query that Tavily takes
_LONGEST_QUERY = 400
_LONGEST_SNIPPET = 400
#: a hundred times what five results with snippets are
_LONGEST_ANSWER_BYTES = 2_000_000
_LONGEST_TITLE = 160
#: what is not shown in print, and could hide text or steer a terminal
_HIDDEN = re.compile(r"[\x00-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]+")


class WebResult(BaseModel):
    """One page that was found; its text is data, whatever it says."""

    model_config = ConfigDict(extra="ignore")

    url: str
    title: str = ""
    content: str = ""
    published_date: str | None = None


class WebAgent(Agent):
    """Asks Tavily once, and gives title, address, date and a snippet of each page; needs a key."""

    name: ClassVar[str] = "web_search_agent"
    description: ClassVar[str] = "Current information from the web: news, recent publications, suppliers, safety"
    abilities: ClassVar[tuple[str, ...]] = (
        "search the web, and give the pages found with their dates and the date of the search",
    )
    tools: ClassVar[tuple[str, ...]] = ("Tavily",)

    def plan_jobs(self, step: Step, context: Context) -> Work:
        """Do the whole step at once; doing it again asks again."""
        settings = context.settings or load_settings()
        if not settings.tavily_key.get_secret_value():
            return Work(
                error="web search needs a key of Tavily, and none is set (SIMRELAY_TAVILY_KEY); nothing was searched"
            )
        query = " ".join(_HIDDEN.sub(" ", step.goal.query or context.request).split())
        if len(query) > _LONGEST_QUERY:
            return Work(
                error=f"the web search takes {_LONGEST_QUERY} characters, and this has {len(query)}: shorten it"
            )
        try:
            answer = _search(query, settings)
        except httpx.TimeoutException:
            return Work(error=_failed(f"did not answer within {TIMEOUT_SECONDS:g} s"))
        except httpx.HTTPStatusError as error:
            return Work(error=_failed(_refusal(error.response.status_code)))
        except httpx.HTTPError as error:
            return Work(
                error=_failed(f"cannot be reached at {urlsplit(settings.tavily_url).netloc} ({type(error).__name__})")
            )
        except (ValueError, RecursionError):
            return Work(error=_failed("answered with what is no list of results"))
        return Work(finding=self._finding(step, query, answer, datetime.now(UTC)))

    def interpret(self, step: Step, context: Context, results: Sequence[JobResult]) -> Work:
        """Never needed, since no jobs are submitted; gives the same findings."""
        return self.plan_jobs(step, context)

    def _finding(self, step: Step, query: str, found: Sequence[WebResult], now: datetime) -> Finding:
        when = f"{now:%Y-%m-%d %H:%M} UTC"
        finding = Finding(step=step.number, agent=self.name, stage="found", summary="", level="")
        if not found:
            summary = f"The web search found nothing for “{query}” (asked {when})."
            return finding.model_copy(update={"summary": summary})
        columns = ("No.", "Web result", "Address", "Date of page", "Retrieved")
        rows = tuple(
            (str(n), _shown(one.title, _LONGEST_TITLE) or "(no title)", one.url, _date(one), f"{now:%Y-%m-%d}")
            for n, one in enumerate(found, 1)
        )
        summary = (
            f"The web search gave {counted(len(found), 'result')} for “{query}”, retrieved {when}. They are what the"
            " pages say, and nobody has checked them."
        )
        notes = tuple(
            f"Web result {n}, {urlsplit(one.url).hostname}: {_shown(one.content, _LONGEST_SNIPPET)}"
            for n, one in enumerate(found, 1)
            if one.content.strip()
        )
        table = Table(columns=tuple(Column(title=title) for title in columns), rows=rows)
        return finding.model_copy(update={"summary": summary, "table": table, "notes": notes})


def _search(query: str, settings: Settings) -> list[WebResult]:
    """Ask Tavily; raises HTTPError where it fails, and ValueError where its answer is none."""
    begun = time.monotonic()
    content = b""
    with httpx.stream(
        "POST",
        f"{settings.tavily_url.rstrip('/')}/search",
        json={"query": query, "max_results": _MOST_RESULTS, "search_depth": "basic", "include_answer": False},
        headers={"Authorization": f"Bearer {settings.tavily_key.get_secret_value()}"},
        timeout=TIMEOUT_SECONDS,
        trust_env=urlsplit(settings.tavily_url).hostname not in ("127.0.0.1", "localhost", "::1"),
    ) as response:
        response.raise_for_status()
        for part in response.iter_bytes():
            content += part
            # The client's time-out begins anew with every byte.
            if time.monotonic() - begun > TIMEOUT_SECONDS:
                raise httpx.ReadTimeout("the answer came too slowly")
            if len(content) > _LONGEST_ANSWER_BYTES:
                raise ValueError("too long an answer")
    body: Any = json.loads(content)
    rows = body.get("results") if isinstance(body, dict) else None
    if not isinstance(rows, list):
        raise ValueError("no results")
    found = [one for row in rows[:_MOST_RESULTS] if (one := _result(row))]
    if rows and not found:
        raise ValueError("malformed results")
    return [one for one in found if _is_address(one.url)]


def _result(row: object) -> WebResult | None:
    try:
        return WebResult.model_validate(row)
    except ValidationError:
        return None


def _is_address(url: str) -> bool:
    """Tell whether a URL is one of a page, with nothing in it that is no part of an address."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname) and not re.search(r"[\s<>\"'`|\\]", url)


def _failed(why: str) -> str:
    return f"the web search {why}; this does not mean that there is nothing to find"


def _refusal(status: int) -> str:
    if status in (401, 403):
        return f"refused the key (HTTP {status}): look at SIMRELAY_TAVILY_KEY"
    if status in (429, 432, 433):
        return f"has no searches left for this key now (HTTP {status})"
    return f"failed with HTTP {status}"


def _shown(text: str, longest: int) -> str:
    line = " ".join(_HIDDEN.sub(" ", text).split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def _date(result: WebResult) -> str:
    """Give the date that the page has, as it was given; a dash if none was."""
    return _shown(result.published_date or "", 40) or "—"
