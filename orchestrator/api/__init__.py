"""The HTTP API of the service: what the command line, the web page and other clients talk to.

Routes check, ask the store and answer; they decide nothing about jobs or runs.
"""

from __future__ import annotations

from orchestrator.api.app import make_api
from orchestrator.api.context import Api

__all__ = ["Api", "make_api"]
