"""The labelled requests as records."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Part = Literal["development", "development_2", "development_3", "held_out", "held_out_2"]
Category = Literal[
    "chemistry",
    "hem",
    "qm",
    "md",
    "wavefunction",
    "literature",
    "web",
    "greeting",
    "hostile",
    "mixed",
    "multi_step",
    "ambiguous",
]
AgentName = Literal[
    "chemistry_agent",
    "hem_agent",
    "qm_agent",
    "md_agent",
    "multiwfn_agent",
    "rag_agent",
    "web_search_agent",
]
Answer = Literal["respond", "ask", "refuse"]


@dataclass(frozen=True, kw_only=True)
class Case:
    """One labelled request; the README says what each label means."""

    id: str
    request: str
    category: Category
    #: the agent whose work it is (of a plan, the first), or what else is right
    expect: AgentName | Answer
    #: the agents of a good plan in order; None: one agent's work, or none's
    plan: tuple[AgentName, ...] | None
    #: whether a right answer starts jobs
    simulates: bool


def load(name: Part) -> tuple[Case, ...]:
    """Read one part of the set.

    Raises
    ------
    TypeError
        A line has a field too many or too few.
    """
    lines = (Path(__file__).parent / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return tuple(_case(json.loads(line)) for line in lines)


def _case(fields: dict[str, object]) -> Case:
    plan = fields.pop("plan")
    return Case(**fields, plan=None if plan is None else tuple(plan))  # type: ignore[arg-type]
