"""The agents: one file each, behind the one interface of ``base``. They never touch Redis.

Adding one is one file and one entry in ``AGENTS``.
"""

from __future__ import annotations

from orchestrator.agents.base import Agent, Context, JobResult, Work
from orchestrator.agents.chemistry import ChemistryAgent
from orchestrator.agents.hem import DesignAgent
from orchestrator.agents.literature import LiteratureAgent
from orchestrator.agents.md import DynamicsAgent
from orchestrator.agents.qm import QuantumAgent
from orchestrator.agents.summary import SummaryAgent
from orchestrator.agents.wavefunction import WavefunctionAgent
from orchestrator.agents.web import WebAgent

AGENTS: dict[str, Agent] = {
    agent.name: agent
    for agent in (
        ChemistryAgent(),
        DesignAgent(),
        QuantumAgent(),
        DynamicsAgent(),
        WavefunctionAgent(),
        WebAgent(),
        LiteratureAgent(),
        SummaryAgent(),
    )
}

__all__ = ["AGENTS", "Agent", "Context", "JobResult", "Work"]
