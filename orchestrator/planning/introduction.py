"""What Simrelay says about itself, out of what its agents say about themselves."""

from __future__ import annotations

import re

from orchestrator.state import SUMMARY

_BYE = re.compile(r"\b(?:bye|goodbye|see\s+you|good\s+night|farewell)\b", re.IGNORECASE)
_THANKS = re.compile(r"\b(?:thanks|thank\s+you|thx|cheers|ta)\b", re.IGNORECASE)
_ASKS = re.compile(r"\?|\b(?:who|what|how|help)\b", re.IGNORECASE)


def introduction(text: str) -> str:
    """Answer a greeting, thanks, a goodbye or a question about Simrelay."""
    # The agents read their requests with the planners, so that these cannot know them at import.
    from orchestrator.agents import AGENTS

    if not _ASKS.search(text):
        if _BYE.search(text):
            return "Goodbye. Runs and jobs go on by themselves; `simrelay run list` shows them."
        if _THANKS.search(text):
            return "You are welcome. Ask for the next calculation whenever you like."
    lines = ["I am Simrelay: I plan molecular simulations, have them computed on workers, and report. You can ask for:"]
    for agent in AGENTS.values():
        if agent.name != SUMMARY:
            lines.append(f"- {agent.description} ({agent.name})")
            lines += [f"  - {ability}" for ability in agent.abilities]
    lines.append(
        'For example: "Compare the HOMO and LUMO energies of tetramethylammonium and N,N-dimethylpiperidinium".'
        " `simrelay run --dry-run` shows plan and cost before anything is queued."
    )
    return "\n".join(lines)
