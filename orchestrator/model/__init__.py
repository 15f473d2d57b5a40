"""What a language model may help with: choosing among agents, reading a request, wording an answer. Never more.

It is asked only where one is configured, within the run's budget, and whatever goes wrong with it leaves the run as it
would be without. What it says is data: a choice among given values, a sentence for the rule-based planner, or prose
that is checked against the findings. Nothing here reads or writes files or the state of a run, and Redis only to book
what a run uses (``metered``).
"""

from __future__ import annotations

from orchestrator.model.budget import ModelError
from orchestrator.model.client import Asks, Model, connect_model
from orchestrator.model.metered import Metered
from orchestrator.model.supervise import Helped, plan_with_model

__all__ = ["Asks", "Helped", "Metered", "Model", "ModelError", "connect_model", "plan_with_model"]
