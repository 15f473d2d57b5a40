"""From the words of a request to a plan: what is asked, whether it is complex, which agent, which steps, at what cost.

Everything here is dry: no Redis, no job, no language model. What the rules cannot decide they refuse (``Abstained``).
"""

from __future__ import annotations

from orchestrator.planning.cost import Cost, estimate
from orchestrator.planning.decide import make_plan, plan_request
from orchestrator.planning.planners import Abstained
from orchestrator.planning.preview import dry_run
from orchestrator.planning.request import Request, read_request

__all__ = ["Abstained", "Cost", "Request", "dry_run", "estimate", "make_plan", "plan_request", "read_request"]
