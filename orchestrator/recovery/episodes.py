"""Episodes written and recalled: an action is followed again only if its success was verified and still stands.

What is recalled has the same signature, a verdict, enough trust, a content with the hash that it was recorded with, and
evidence that the store still holds as it was. Successes count against failures of the same action.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence

from orchestrator.recovery.classify import FailureEvent, failure_hash, result_hash, signature
from orchestrator.recovery.record import KEPT_JOBS, Recovery
from orchestrator.recovery.select import Proposal
from orchestrator.recovery.validate import Repaired, Verdict
from tasks import listing, memory
from tasks.memory import Content, Episode, EpisodeStatus, Evidence
from tasks.specs import canonical_json, spec_hash
from tasks.store import AsyncStore

#: episodes of one signature that are looked at, the newest first
_MOST = 50
#: trust in a verdict: every check passed and all evidence stands; less where one of many jobs was looked at only
_VERIFIED, _PARTLY = 0.9, 0.8


def episode_id(run: str, step: int, round_number: int, failure: str) -> str:
    """Give the id of an episode, which follows from what it is about, so that recording it twice is once."""
    return f"{run}-s{step}-r{round_number}-{spec_hash(failure)[:8]}"


def content_of(run: str, recovery: Recovery, event: FailureEvent) -> Content:
    """Give what an episode tells when its action has been chosen."""
    return Content(
        scope=event.scope,
        error_class=recovery.error_class,
        action=recovery.action,
        parameters=recovery.parameters,
        consequence=recovery.consequence,
        source=recovery.source,
        run=run,
        step=recovery.step,
        iteration=recovery.iteration,
        round=recovery.round,
        jobs=recovery.jobs,
        evidence=event.evidence,
    )


def judged(content: Content, verdict: Verdict, jobs: Sequence[Repaired]) -> tuple[Content, EpisodeStatus, float]:
    """Give an episode with its verdict, and how far it is to be trusted."""
    evidence = tuple(
        Evidence(job=job.record.id, what="repair", sha256=result_hash(job.record))
        for job in jobs[:KEPT_JOBS]
    )  # fmt: skip
    evidence += tuple(
        Evidence(job=job.prepared.id, what="repair", sha256=result_hash(job.prepared))
        for job in jobs[:KEPT_JOBS]
        if job.prepared
    )
    told = content.model_copy(
        update={
            "repairs": tuple(job.record.id for job in jobs[:KEPT_JOBS]),
            "evidence": (*content.evidence, *evidence),
            "checks": verdict.checks[: 4 * KEPT_JOBS],
            "validator": verdict.validator,
        }
    )
    if not verdict.judged:
        return told, EpisodeStatus.REJECTED, 0.0
    status = EpisodeStatus.VERIFIED_SUCCESS if verdict.passed else EpisodeStatus.VERIFIED_FAILURE
    return told, status, _VERIFIED if len(jobs) <= KEPT_JOBS else _PARTLY


async def recall(store: AsyncStore, failure: str, min_trust: float) -> list[Proposal]:
    """Give the actions that memory verified for a failure, the best first; those that failed as often are left out.

    Parameters
    ----------
    failure
        Its signature.
    min_trust
        Episodes that are trusted less are not recalled (``Settings.memory_min_trust``).
    """
    page = await store.run(memory.episodes(signature=failure, count=_MOST))
    net: dict[tuple[str, str], int] = defaultdict(int)
    newest: dict[tuple[str, str], Episode] = {}
    for episode in page.rows:
        counts = {EpisodeStatus.VERIFIED_SUCCESS: 1, EpisodeStatus.VERIFIED_FAILURE: -1}.get(episode.status, 0)
        if not counts or await why_not(store, episode, min_trust):
            continue
        key = (episode.action, canonical_json(episode.content.parameters))
        net[key] += counts
        if counts > 0:
            newest.setdefault(key, episode)
    # Sorting keeps the order of what is equal: the newest first.
    best = sorted((key for key in newest if net[key] > 0), key=lambda key: -net[key])
    return [
        Proposal(action=action, source="memory", parameters=json.loads(parameters), by=newest[action, parameters].id)
        for action, parameters in best
    ]


async def why_not(store: AsyncStore, episode: Episode, min_trust: float) -> str:
    """Say why an episode is not recalled; empty: it is."""
    if episode.status not in (EpisodeStatus.VERIFIED_SUCCESS, EpisodeStatus.VERIFIED_FAILURE):
        return f"it is {episode.status.value.replace('_', ' ')}"
    if episode.trust < min_trust:
        return f"it is trusted to {episode.trust:g}, and {min_trust:g} are needed"
    if not episode.intact:
        return "its content is not the one that was recorded"
    told = (signature(episode.content.scope, episode.content.error_class), episode.content.action, episode.content.run)
    if (episode.signature, episode.action, episode.run) != told:
        return "its content tells of another failure, action or run"
    for evidence in episode.content.evidence:
        if not evidence.job:
            continue  # no job failed; the hash of what was said stands in the content
        record = await store.run(listing.job(evidence.job))
        if record is None:
            return f"its evidence, job {evidence.job}, is gone"
        if evidence.what == "repair":
            now = result_hash(record)
        else:
            now = failure_hash(record.failure) if record.failure else ""
        if now != evidence.sha256:
            return f"its evidence, job {evidence.job}, is not what it was"
    return ""
