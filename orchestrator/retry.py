"""Taking up an ended run again: a new run that begins from the last checkpoint of the old one.

Ended runs never change. What the old one has done, found out and been allowed stays; what failed, was skipped or was
under way is done anew, in batches of the new run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from orchestrator.asking import GateStatus
from orchestrator.people import as_before, touched
from orchestrator.state import SCHEMA_VERSION, RunState, StepStatus, Usage


def taken_up_again(
    ended: RunState, run_id: str, owner: str, request: str, options: Mapping[str, Any]
) -> dict[str, Any]:
    """Give the input of the graph for the new run: a whole state, as JSON has it.

    A run that ended before its first checkpoint left an empty state: then the new one begins anew.
    """
    open_steps = [step.number for step in ended.plan.steps if step.status is not StepStatus.DONE]
    redone = frozenset(number for first in open_steps for number in touched(ended.plan, first))
    # Its frozen batches are named after the old run, and were cancelled with it: nothing of them is waited for.
    again = {"status": StepStatus.PENDING, "error": "", "batches": (), "trouble": ""}
    steps = tuple(step.model_copy(update=again) if step.number in redone else step for step in ended.plan.steps)
    kept = tuple(finding for finding in ended.findings if finding.step not in redone)
    state = ended.model_copy(
        update={
            "schema_version": SCHEMA_VERSION,
            "run_id": run_id,
            "owner": owner,
            "request": request,
            "options": ended.options.model_validate(options),
            "plan": ended.plan.model_copy(update={"steps": steps}),
            "findings": kept,
            "species": tuple(as_before(one, kept, redone) for one in ended.species),
            "gates": tuple(gate for gate in ended.gates if gate.status is GateStatus.APPROVED),
            "questions": tuple(question for question in ended.questions if not question.open),
            # What was tried in vain may work now: whoever takes a run up again has changed something.
            "recoveries": tuple(one for one in ended.recoveries if one.step not in redone),
            "history": [*ended.history, f"takes up {ended.run_id or 'a run that had not begun'}"],
            "answer": "",
            "report": None,
            "figures": (),
            "error": "",
            "stopped": "",
            "finished": False,
            "events": (),
            "told": 0,
            "usage": Usage(),
            "consumed": (),
        }
    )
    return state.model_dump(mode="json")
