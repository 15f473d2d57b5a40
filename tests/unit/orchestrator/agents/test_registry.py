"""Every agent says what it is for, what it can do and with what, under its own name."""

from __future__ import annotations

import pytest

from orchestrator.agents import AGENTS, Agent
from orchestrator.state import SUMMARY


@pytest.mark.parametrize("agent", AGENTS.values(), ids=list(AGENTS))
def test_an_agent_describes_itself(agent: Agent) -> None:
    assert AGENTS[agent.name] is agent
    assert agent.name.endswith("_agent")
    assert agent.description and not agent.description.endswith(".")
    assert agent.tools or agent.name == SUMMARY
