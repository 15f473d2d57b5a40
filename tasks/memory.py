"""The memory of recoveries: episodes with their verdicts, and the policy that people make out of those that agree.

It stands in Redis, so that every orchestrator sees the same at once, and it survives restarts. Nothing here knows what
an action does.
"""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from tasks.errors import Conflict, LeaseLost, NotFound
from tasks.listing import MOST_LOOKED_AT, Page
from tasks.records import Moment, Record
from tasks.results import Value
from tasks.scripts import Call, Reply, call
from tasks.specs import canonical_json, spec_hash

#: independent verified successes that a rule of the policy needs
MIN_SUPPORT = 2
#: episodes that are kept; above it the oldest go, but never one that a version of the policy stands on
MOST_EPISODES = 5000
Parameters = dict[str, str | int | float | bool]


class EpisodeStatus(StrEnum):
    """How far an episode got."""

    #: chosen, and not judged yet
    CANDIDATE = "candidate"
    VERIFIED_SUCCESS = "verified_success"
    VERIFIED_FAILURE = "verified_failure"
    #: it could not be judged: its jobs were cancelled, or it was only looked at (shadow)
    REJECTED = "rejected"
    REVOKED = "revoked"


class Evidence(Value):
    """What an episode rests on: decisive lines or the result of one job, by their hash."""

    #: empty: the failure was not one of a job
    job: str = ""
    what: Literal["failure", "repair"]
    sha256: str


class Check(Value):
    """One thing that a validator looked at."""

    name: str
    passed: bool
    text: str = ""


class Scope(Value):
    """Where a failure belongs: nothing in it is of one run only."""

    agent: str
    #: of the jobs: ``optimisation``, ``production``, a program's name, …
    task: str = ""
    engine: str = ""
    #: kind of theory: ``dft``, ``tight_binding``; empty where there is none
    family: str = ""


class Content(Value):
    """What an episode tells; its hash stands beside it."""

    scope: Scope
    error_class: str
    action: str
    parameters: Parameters = Field(default_factory=dict)
    #: what a later reader has to know about results that it gave
    consequence: str = ""
    #: what chose the action: ``memory``, ``policy``, ``diagnosis``, ``person``
    source: str = ""
    run: str
    step: int
    iteration: int = 0
    round: int
    #: jobs that failed (the first of them), and those that were made in their place
    jobs: tuple[str, ...] = ()
    repairs: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    checks: tuple[Check, ...] = ()
    #: which checks these are, as ``other_engine/1``
    validator: str = ""


def _content(value: object) -> object:
    return json.loads(value) if isinstance(value, str) else value


class Episode(Record):
    """One recovery as the memory holds it."""

    id: str
    sequence: int
    run: str
    step: int
    signature: str
    action: str
    status: EpisodeStatus
    trust: float = 0.0
    content: Annotated[Content, BeforeValidator(_content)]
    hash: str
    #: who revoked it, and why
    by: str = ""
    why: str = ""
    created: Moment = Field(default=None, alias="created_ms")
    changed: Moment = Field(default=None, alias="changed_ms")

    @property
    def intact(self) -> bool:
        """Whether its content is the one that was recorded."""
        return content_hash(self.content) == self.hash


def content_hash(content: Content) -> str:
    """Give the hash of an episode's content."""
    return spec_hash(content.model_dump(mode="json"))


def put_episode(
    episode: str,
    epoch: int,
    signature: str,
    content: Content,
    status: EpisodeStatus,
    trust: float = 0.0,
    *,
    most: int = MOST_EPISODES,
) -> Call[str]:
    """Record an episode of a run that is held, or its verdict: ``ok``, or ``same`` if it stood there before.

    ``most``: as many episodes are kept; the oldest that no version of the policy stands on make room.

    Raises
    ------
    LeaseLost
        If the run is no longer held under this epoch.
    Conflict
        If it has another verdict already.
    """
    row = {
        "signature": signature,
        "action": content.action,
        "step": str(content.step),
        "trust": f"{trust:.3f}",
        "hash": content_hash(content),
        "content": canonical_json(content.model_dump(mode="json")),
    }

    def read(reply: Reply) -> str:
        if reply.answer == "fenced":
            raise LeaseLost(f"run {content.run} is held under a newer epoch, or has ended")
        if reply.answer == "refused" and reply.details["status"] != EpisodeStatus.REVOKED:
            raise Conflict(f"episode {episode} is {reply.details['status']} already")
        return reply.answer

    return call("episode_put", content.run, epoch, episode, status.value, json.dumps(row), most, read=read)


def revoke_episode(episode: str, by: str, why: str) -> Call[str]:
    """Take an episode out of what is recalled: ``ok``, or ``already``.

    Raises
    ------
    NotFound
        If there is no such episode.
    """

    def read(reply: Reply) -> str:
        if reply.answer == "unknown":
            raise NotFound(f"there is no episode {episode}")
        return reply.answer

    return call("episode_revoke", episode, by, why, read=read)


def episodes(
    *, signature: str = "", status: str = "", action: str = "", run: str = "", cursor: str = "", count: int = 50
) -> Call[Page[Episode]]:
    """List episodes, newest first, by signature, status, action or run."""
    fields = {"status": status, "action": action, "run": run}
    where = {name: value for name, value in fields.items() if value}
    chosen = f"episodes:{signature}" if signature else "episodes"

    def read(reply: Reply) -> Page[Episode]:
        rows = tuple(Episode.model_validate(row) for row in reply.details["rows"] or ())
        return Page(rows=rows, cursor=reply.details["cursor"])

    return call("page", chosen, "episode", cursor, count, json.dumps(where), MOST_LOOKED_AT, read=read)


def episode(episode_id: str) -> Call[Episode | None]:
    """Read one episode."""

    def read(reply: Reply) -> Episode | None:
        rows = reply.details["rows"] or ()
        return Episode.model_validate(rows[0]) if rows else None

    return call("get", "episode", episode_id, read=read)


class Rule(Value):
    """What the policy says for one signature, and the episodes that it was promoted on."""

    action: str
    parameters: Parameters = Field(default_factory=dict)
    episodes: tuple[str, ...] = ()


class Version(Record):
    """A version of the policy; it never changes."""

    version: int
    #: the one that it was made out of
    before: int = 0
    by: str = ""
    why: str = ""
    created: Moment = Field(default=None, alias="created_ms")


class Noted(Record):
    """A line of the memory's account."""

    #: ``recorded``, ``revoked``, ``dropped``, ``promoted`` or ``rolled_back``
    what: str
    who: str = ""
    why: str = ""
    episode: str = ""
    signature: str = ""
    version: int | None = None
    before: int | None = None
    at: Moment = Field(default=None, alias="at_ms")


class Policy(Value):
    """The policy as it stands: the active version with its rules, all versions, and the newest of the account."""

    active: int = 0
    rules: dict[str, Rule] = Field(default_factory=dict)
    versions: tuple[Version, ...] = ()
    audit: tuple[Noted, ...] = ()


def read_policy(audit: int = 0) -> Call[Policy]:
    """Read the policy, with at most so many lines of the memory's account."""

    def read(reply: Reply) -> Policy:
        rules = {name: Rule.model_validate_json(text) for name, text in (reply.details["rules"] or {}).items()}
        versions = [Version.model_validate_json(text) for text in reply.details["versions"] or ()]
        return Policy(
            active=reply.details["active"],
            rules=rules,
            versions=tuple(sorted(versions, key=lambda one: one.version)),
            audit=tuple(Noted.model_validate_json(text) for text in reply.details["audit"] or ()),
        )

    return call("policy_read", audit, read=read)


def promote(signature: str, rule: Rule, by: str) -> Call[int]:
    """Make a rule out of episodes that agree, in a new active version of the policy; gives its number.

    Raises
    ------
    Conflict
        If they are no verified successes of that action, or of fewer than two runs.
    """

    def read(reply: Reply) -> int:
        if reply.answer == "refused":
            raise Conflict(f"{signature}: {reply.details['why']}")
        return int(reply.details["version"])

    row = canonical_json(rule.model_dump(mode="json"))
    return call("policy_promote", signature, row, json.dumps(list(rule.episodes)), MIN_SUPPORT, by, read=read)


def rollback(version: int, by: str, why: str) -> Call[str]:
    """Make an earlier version of the policy the active one: ``ok``, or ``already``.

    Raises
    ------
    NotFound
        If there is no such version.
    """

    def read(reply: Reply) -> str:
        if reply.answer == "unknown":
            raise NotFound(f"the policy has no version {version}")
        return reply.answer

    return call("policy_rollback", version, by, why, read=read)
