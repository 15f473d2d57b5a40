"""Which action is tried next: what memory has verified, then what the policy says, then a diagnosis by error class.

Never one that was tried for this step before, never one that does not fit, and never one outside of the allow-list.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from orchestrator.recovery.actions import MAKERS, Change, Means
from orchestrator.recovery.classify import FailureEvent
from orchestrator.recovery.record import Action, Recovery
from tasks.errors import InputError
from tasks.memory import Parameters

Source = Literal["memory", "policy", "diagnosis", "person"]

_A = Action
#: by error class, the most promising first; what changes the meaning of a result comes last
DIAGNOSIS: Mapping[str, tuple[Action, ...]] = {
    "scf_not_converged": (_A.GEOMETRY, _A.ENGINE, _A.COARSER),
    "optimisation_not_converged": (_A.RESUME, _A.GEOMETRY, _A.ENGINE, _A.COARSER),
    "imaginary_mode": (_A.GEOMETRY, _A.ENGINE),
    "out_of_memory": (_A.RESOURCES, _A.ENGINE, _A.COARSER),
    "walltime": (_A.RESOURCES, _A.COARSER),
    "step_timeout": (_A.RESUME, _A.RESOURCES),
    "killed": (_A.RESUME, _A.RESOURCES),
    "program_failed": (_A.RESUME, _A.ENGINE, _A.GEOMETRY),
    "no_result": (_A.RESUME, _A.ENGINE),
    "not_started": (_A.ENGINE,),
    "mpi_start": (_A.ENGINE,),
    "restart_unreadable": (_A.ENGINE,),
    "no_analytical_hessian": (_A.ENGINE,),
    "bad_input": (_A.ENGINE,),
    "host": (_A.RESUME,),
    "disk_full": (_A.RESUME,),
    "internal": (_A.RESUME, _A.ENGINE),
    "poison": (_A.RESUME, _A.RESOURCES, _A.ENGINE),
}
#: for what is in no table: nothing that changes a result
_UNKNOWN = (_A.RESUME, _A.ENGINE)


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """An action that something speaks for: an episode, a rule of the policy, a diagnosis, or a person."""

    action: str
    source: Source
    parameters: Parameters = field(default_factory=dict)
    #: id of the episode, or the version of the policy
    by: str = ""


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What is done about a failure: the action, what chose it, and what is computed in place of which job."""

    event: FailureEvent
    proposal: Proposal
    changes: Mapping[str, Change]

    @property
    def action(self) -> Action:
        """The action."""
        return Action(self.proposal.action)

    @property
    def parameters(self) -> Parameters:
        """What it changed."""
        return next(iter(self.changes.values())).parameters

    @property
    def consequence(self) -> str:
        """What a reader has to know about the results."""
        return "; ".join(dict.fromkeys(change.consequence for change in self.changes.values() if change.consequence))


def diagnose(event: FailureEvent) -> list[Proposal]:
    """Give what usually helps against a failure of that class, in order."""
    order = DIAGNOSIS.get(event.error_class, _UNKNOWN)
    return [Proposal(action=action, source="diagnosis") for action in order]


def tried_for(event: FailureEvent, recoveries: Sequence[Recovery]) -> frozenset[str]:
    """Give the actions that these recoveries took for any of the jobs."""
    roots = {one.root for one in event.failed}
    return frozenset(r.action for r in recoveries if r.round and roots & set(r.jobs))


def choose(
    event: FailureEvent, proposals: Iterable[Proposal], tried: frozenset[str], means: Means
) -> Choice | None:  # fmt: skip
    """Give the first proposal that is allowed, was not tried, and fits at least one of the jobs; None: none does."""
    for proposal in proposals:
        if proposal.action in tried or proposal.action not in MAKERS:
            continue
        if changes := _made(event, Action(proposal.action), means, proposal.parameters):
            return Choice(event=event, proposal=proposal, changes=changes)
    return None


def remaining(event: FailureEvent, tried: frozenset[str], means: Means) -> list[Action]:
    """Give all allowed actions that fit and were not tried, for a person to choose from."""
    return [action for action in MAKERS if action not in tried and _made(event, action, means, {})]


def _made(event: FailureEvent, action: Action, means: Means, wanted: Parameters) -> dict[str, Change]:
    changes = {}
    for failed in event.failed:
        try:
            change = MAKERS[action](failed, means, wanted)
        except InputError:
            continue  # what it would be is no valid job
        if change is not None:
            changes[failed.root] = change
    return changes
