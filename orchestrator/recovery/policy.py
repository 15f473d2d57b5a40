"""The policy: rules that people promoted out of episodes that agree. A rule holds as long as its episodes do."""

from __future__ import annotations

from collections import defaultdict

from orchestrator.recovery.actions import MAKERS
from orchestrator.recovery.episodes import why_not
from orchestrator.recovery.select import Proposal
from tasks import memory
from tasks.errors import Conflict
from tasks.memory import MIN_SUPPORT, Episode, EpisodeStatus, Rule
from tasks.specs import canonical_json
from tasks.store import AsyncStore

_MOST = 200


async def resolve(store: AsyncStore, signature: str, min_trust: float) -> list[Proposal]:
    """Give what the active policy says for a signature: one action, or none."""
    policy = await store.run(memory.read_policy())
    rule = policy.rules.get(signature)
    if rule is None or await _support(store, rule, min_trust) < MIN_SUPPORT:
        return []
    return [Proposal(action=rule.action, source="policy", parameters=rule.parameters, by=f"version {policy.active}")]


async def _support(store: AsyncStore, rule: Rule, min_trust: float) -> int:
    runs = set()
    for name in rule.episodes:
        episode = await store.run(memory.episode(name))
        success = episode is not None and episode.status is EpisodeStatus.VERIFIED_SUCCESS
        if episode and success and not await why_not(store, episode, min_trust):
            runs.add(episode.run)
    return len(runs)


async def promote(store: AsyncStore, signature: str, by: str, min_trust: float) -> tuple[int, Rule]:
    """Make a rule out of the verified successes of a signature; gives the new version of the policy.

    Raises
    ------
    Conflict
        If they do not agree on one allowed action, or are of fewer than two runs.
    """
    page = await store.run(memory.episodes(signature=signature, status=EpisodeStatus.VERIFIED_SUCCESS, count=_MOST))
    agreeing: dict[tuple[str, str], list[Episode]] = defaultdict(list)
    for episode in page.rows:
        if not await why_not(store, episode, min_trust):
            agreeing[episode.action, canonical_json(episode.content.parameters)].append(episode)
    if len({action for action, _ in agreeing}) > 1:
        actions = ", ".join(sorted({action for action, _ in agreeing}))
        raise Conflict(f"{signature}: its verified successes do not agree: {actions}; revoke what does not hold")
    ranked = sorted(agreeing.values(), key=lambda rows: -len({row.run for row in rows}))
    runs = len({row.run for row in ranked[0]}) if ranked else 0
    if runs < MIN_SUPPORT:
        raise Conflict(
            f"{signature}: {runs} independent verified successes that agree, and {MIN_SUPPORT} are needed"
            " (see `simrelay memory list`)"
        )
    first = ranked[0][0]
    if first.action not in MAKERS:
        raise Conflict(f"{signature}: {first.action} is no action that is allowed")
    episodes = tuple(sorted(row.id for row in ranked[0]))
    rule = Rule(action=first.action, parameters=first.content.parameters, episodes=episodes)
    return await store.run(memory.promote(signature, rule, by)), rule
