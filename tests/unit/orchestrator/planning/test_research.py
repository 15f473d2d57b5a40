"""Plans for questions to the library and to the web."""

from __future__ import annotations

import pytest

from orchestrator.planning.research import LIBRARY, WEB, looked_for, plan_research
from orchestrator.state import SUMMARY
from tasks.errors import InputError


@pytest.mark.parametrize(
    ("request_text", "query"),
    [
        (
            "What does the literature say about the stability of spirocyclic ammonium cations? Cite your sources.",
            "the stability of spirocyclic ammonium cations?",
        ),
        ("Could you please tell me what limits S-12, thanks!", "what limits S-12"),
        ("search my papers for Hofmann elimination with page numbers", "Hofmann elimination"),
        ("refs on vehicular vs Grotthuss transport of OH-", "refs on vehicular vs Grotthuss transport of OH-"),
    ],
)
def test_politeness_is_not_looked_for(request_text: str, query: str) -> None:
    assert looked_for(request_text, LIBRARY) == query


@pytest.mark.parametrize(
    ("request_text", "query"),
    [
        ("Hello, could you please find the newest price of Nafion for me?", "find the newest price of Nafion"),
        ("Finally, search the web for AEM suppliers, if possible. Thanks a lot!", "AEM suppliers"),
        ("What does the literature say about AEMs?", "What does the literature say about AEMs?"),
        ("Search the web for new anion exchange membranes", "new anion exchange membranes"),
        ("Could you please search the internet for suppliers of KOH?", "suppliers of KOH?"),
        ("Do a web search on Hofmann elimination, thanks", "Hofmann elimination"),
        ("What is new on spiro cations on the web?", "What is new on spiro cations?"),
        ("Find recent prices of nickel foam online", "Find recent prices of nickel foam"),
        ("google safety of hydrazine", "safety of hydrazine"),
        ("Web crawlers and robots", "Web crawlers and robots"),
        ("Search the web", "Search the web"),
    ],
)
def test_the_web_is_asked_without_politeness_and_without_its_name(request_text: str, query: str) -> None:
    assert looked_for(request_text, WEB) == query


def test_a_plan_searches_and_reports() -> None:
    search, report = plan_research("Please tell me what limits S-12.", LIBRARY).steps
    assert (search.agent, search.goal.query) == ("rag_agent", "what limits S-12.")
    assert (report.agent, report.depends_on) == (SUMMARY, (1,))


@pytest.mark.parametrize("agent", [LIBRARY, WEB])
@pytest.mark.parametrize("text", ["", "Please, thanks", "tell me ..."])
def test_nothing_to_look_for_is_said(text: str, agent: str) -> None:
    with pytest.raises(InputError, match="does not say what to look for"):
        plan_research(text, agent)
