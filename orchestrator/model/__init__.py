"""What a language model may help with: choosing among agents, reading a request, wording an answer. Never more.

It is asked only where one is configured, within the run's budget, and whatever goes wrong with it leaves the run as it
would be without. What it says is data: a choice among given values, a sentence for the rule-based planner, or prose
that is checked against the findings. Nothing here reads or writes Redis, files, or the state of a run.
"""

from __future__ import annotations

from orchestrator.model.budget import ModelError
from orchestrator.model.client import Model, connect_model
from orchestrator.model.supervise import Helped, plan_with_model
from orchestrator.model.write import Prose, word_answer

__all__ = ["Helped", "Model", "ModelError", "Prose", "connect_model", "plan_with_model", "word_answer"]
