"""Web searches: what is asked of the web is what is looked for, without politeness and without the web's name."""

from __future__ import annotations

import pytest

from orchestrator.planning.research import plan_research, read_query
from tasks.errors import InputError


@pytest.mark.parametrize(
    ("request_", "query"),
    [
        ("Search the web for new anion exchange membranes", "New anion exchange membranes"),
        ("Could you please search the internet for suppliers of KOH?", "Suppliers of KOH?"),
        ("Do a web search on Hofmann elimination, thanks", "Hofmann elimination"),
        ("What is new on spiro cations on the web?", "What is new on spiro cations?"),
        ("Find recent prices of nickel foam online", "Find recent prices of nickel foam"),
        ("google safety of hydrazine", "Safety of hydrazine"),
        ("Web crawlers and robots", "Web crawlers and robots"),
        ("Search the web", "Search the web"),
    ],
)
def test_what_is_looked_for(request_: str, query: str) -> None:
    assert read_query(request_) == query


def test_a_plan_searches_and_reports() -> None:
    plan = plan_research("Search the web for spiro cations", "web_search_agent")
    assert [(one.agent, one.goal.query) for one in plan.steps] == [
        ("web_search_agent", "Spiro cations"),
        ("summary_agent", ""),
    ]
    assert plan.steps[0].description == "Search the web for: Spiro cations"


def test_nothing_to_look_for_is_refused() -> None:
    with pytest.raises(InputError, match="does not say what to look for"):
        plan_research("please", "web_search_agent")
