"""What passes between a swarm's program and its engine: evaluations asked for, and what came back."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from tasks.results import Evaluated, Failure
from tasks.specs import SwarmSpec
from tasks.swarms import Candidate

REQUEST_FILE = "request.json"
#: what evaluations are computed with
LEVEL = "GFN2-xTB (ALPB water)"
WAITING_MARK = "SIMRELAY SWARM WAITS FOR EVALUATIONS"


class Returned(BaseModel):
    """What came back from one evaluation job."""

    model_config = ConfigDict(frozen=True)

    smiles: tuple[str, ...]
    evaluated: tuple[Evaluated, ...] = ()
    not_reached: tuple[str, ...] = ()
    #: None: it succeeded
    failure: Failure | None = None


class SwarmJob(BaseModel):
    """The job file."""

    model_config = ConfigDict(frozen=True)

    spec: SwarmSpec
    #: None: nothing was waited for yet
    returned: tuple[Returned, ...] | None = None


class Request(BaseModel):
    """Jobs that the swarm has to wait for."""

    model_config = ConfigDict(frozen=True)

    name: str
    jobs: tuple[tuple[Candidate, ...], ...]
