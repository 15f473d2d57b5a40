"""How well requests are routed: ``python -m tests.routing.report [PART …]``; without one, the development parts."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

from orchestrator.planning import plan_request
from orchestrator.planning.asked import Asked
from orchestrator.planning.router import Route, route
from tasks.errors import InputError
from tests.routing.cases import Case, Part, load

DEVELOPMENT: tuple[Part, ...] = ("development", "development_2", "development_3")

#: agents whose work is jobs
SIMULATING = frozenset({"qm_agent", "md_agent", "hem_agent", "multiwfn_agent"})
#: labels of requests for which nothing may start
NOTHING = frozenset({"ask", "refuse"})
#: whose jobs belong to the work of an agent: they prepare it, or verify what comes out of it
BELONGING = {"multiwfn_agent": {"qm_agent"}, "hem_agent": {"qm_agent", "multiwfn_agent"}}


@dataclass(frozen=True, kw_only=True)
class Judged:
    """One request and where it went."""

    case: Case
    route: Route
    #: the agents whose jobs the plan of the request would start; empty: it was asked about, refused or needs none
    started: frozenset[str] = frozenset()

    @property
    def got(self) -> str:
        """The first agent, or ``respond``, ``refuse``, ``ask``."""
        return self.route.agents[0] if self.route.kind in ("agent", "plan") else self.route.kind

    @property
    def answered(self) -> bool:
        """Whether the router decided something."""
        return self.got not in NOTHING

    @property
    def right(self) -> bool:
        """Whether it is what the label says; where nothing may start, nothing did."""
        return not self.answered if self.case.expect in NOTHING else self.got == self.case.expect

    @property
    def abstained(self) -> bool:
        """Whether it decided nothing about a request that has a right answer."""
        return not self.answered and self.case.expect not in NOTHING

    @property
    def plan(self) -> tuple[str, ...] | None:
        """The agents of its plan in order; None: no plan of several."""
        return self.route.agents if self.route.kind == "plan" else None

    @property
    def leads_wrongly(self) -> bool:
        """Whether it is wrong, and its words lead to an agent that simulates."""
        return self.answered and not self.right and bool(SIMULATING & set(self.route.agents))

    @property
    def starts_unasked(self) -> bool:
        """Whether its plan has jobs that nobody asked for."""
        wanted: set[str] = {self.case.expect, *(self.case.plan or ())}
        wanted |= {other for agent in wanted for other in BELONGING.get(agent, ())}
        return bool(self.started - wanted) or (bool(self.started) and not self.case.simulates)


@dataclass(frozen=True, kw_only=True)
class Report:
    """The figures of one part of the set."""

    judged: Sequence[Judged]

    @property
    def accuracy(self) -> float:
        """The share that is right among what was answered."""
        answered = [one for one in self.judged if one.answered]
        return sum(one.right for one in answered) / len(answered)

    @property
    def abstention(self) -> float:
        """The share that was not decided of what has a right answer."""
        answerable = [one for one in self.judged if one.case.expect not in NOTHING]
        return sum(one.abstained for one in answerable) / len(answerable)

    @property
    def kept(self) -> float:
        """The share of requests for which nothing may start, and nothing did."""
        nothing = [one for one in self.judged if one.case.expect in NOTHING]
        return sum(one.right for one in nothing) / len(nothing)

    @property
    def leading_wrongly(self) -> int:
        """How many are wrong, with words that lead to an agent that simulates."""
        return sum(one.leads_wrongly for one in self.judged)

    @property
    def starting_unasked(self) -> int:
        """How many become a plan with jobs that nobody asked for."""
        return sum(one.starts_unasked for one in self.judged)

    @property
    def plans_found(self) -> float:
        """The share of plans whose agents are right, in their order."""
        plans = [one for one in self.judged if one.case.plan is not None]
        return sum(one.plan == one.case.plan for one in plans) / len(plans)

    @property
    def plan_recognition(self) -> float:
        """The share of requests of which it is right that they need a plan, and which, or that they need none."""
        fair = [one for one in self.judged if one.case.plan is not None or one.answered]
        return sum(one.plan == one.case.plan for one in fair) / len(fair)

    def confusion(self) -> Counter[tuple[str, str]]:
        """Give how often a label got an outcome."""
        return Counter((one.case.expect, one.got) for one in self.judged)

    def text(self) -> str:
        """Give all of it for people."""
        lines = [
            f"requests                               {len(self.judged)}",
            f"right among answered                   {self.accuracy:.1%}",
            f"abstained (of those with an answer)    {self.abstention:.1%}",
            f"nothing started where nothing may      {self.kept:.1%}",
            f"wrong words lead to a simulating agent {self.leading_wrongly}",
            f"plans with jobs that nobody asked for  {self.starting_unasked}",
            f"plans with the right agents            {self.plans_found:.1%}",
            f"plan recognition (plans and none)      {self.plan_recognition:.1%}",
            "",
        ]
        confusion = self.confusion()
        names = sorted({name for pair in confusion for name in pair})
        width = max(map(len, names))
        lines.append("label \\ outcome".ljust(width) + "".join(name.removesuffix("_agent").rjust(11) for name in names))
        for label in names:
            row = "".join(str(confusion[label, name] or "·").rjust(11) for name in names)
            lines.append(label.ljust(width) + row)
        return "\n".join(lines)


def judge(*parts: Part) -> Report:
    """Route and plan every request of some parts."""
    cases = [case for part in parts for case in load(part)]
    return Report(
        judged=[Judged(case=case, route=route(case.request), started=_started(case.request)) for case in cases]
    )


def _started(request: str) -> frozenset[str]:
    """Give the agents whose jobs the plan of a request holds, as ``simrelay run`` would make it without a model."""
    try:
        plan = plan_request(Asked(text=request)).plan
    except InputError:
        return frozenset()
    return frozenset(step.agent for step in plan.steps) & SIMULATING


def main() -> None:
    """Print the report of each part that is named, or of the development parts."""
    known: tuple[Part, ...] = get_args(Part)
    if unknown := set(sys.argv[1:]) - set(known):
        raise SystemExit(f"{', '.join(sorted(unknown))}: no such part; known are {', '.join(known)}")
    named = tuple(part for part in known if part in sys.argv[1:])
    print("\n\n".join(f"{part}\n{judge(part).text()}" for part in named or DEVELOPMENT))


if __name__ == "__main__":
    main()
