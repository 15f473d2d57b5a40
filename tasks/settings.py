"""The settings of an installation: environment variables with the prefix ``SIMRELAY_``, then defaults."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import Literal, Self

from platformdirs import user_data_path
from pydantic import Field, SecretStr, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from tasks.errors import ConfigurationError

#: what a worker that stops needs to keep checkpoints, post ends and close its pool
_LEAVING_SECONDS = 5.0


def default_home() -> Path:
    """Give the folder of this installation's data if ``SIMRELAY_HOME`` does not name another."""
    return user_data_path("simrelay")


class Settings(BaseSettings):
    """All settings, with their units in their names."""

    # An empty variable is one that is not set: files of variables name more than they give.
    model_config = SettingsConfigDict(
        env_prefix="SIMRELAY_", env_ignore_empty=True, frozen=True, extra="ignore", hide_input_in_errors=True
    )

    home: Path = Field(default_factory=default_home)
    #: Redis 8 of the user's own; empty: the embedded stack's
    redis_url: SecretStr = SecretStr("")
    #: shared folder of jobs and runs; empty: ``<home>/workspace``
    workspace_path: Path | None = Field(default=None, validation_alias="SIMRELAY_WORKSPACE")
    #: node-local folder that engines work in; empty: ``<home>/scratch``
    scratch_path: Path | None = Field(default=None, validation_alias="SIMRELAY_SCRATCH")
    #: first part of every key in Redis
    key_prefix: str = "simrelay:"

    # Leases (DESIGN: beat + renewal time-out + dead-man + kill grace + 2 s <= lease).
    lease_seconds: float = Field(default=45.0, gt=0)
    beat_seconds: float = Field(default=5.0, gt=0)
    renew_timeout_seconds: float = Field(default=5.0, gt=0)
    dead_man_seconds: float = Field(default=25.0, gt=0)
    kill_grace_seconds: float = Field(default=5.0, gt=0)
    #: how long an offer waits for its worker before it is made again
    offer_seconds: float = Field(default=30.0, gt=0)
    #: how long a worker that is told to stop may take, whatever its engines do
    stop_grace_seconds: float = Field(default=60.0, gt=0)
    #: how often a worker that quarantined itself tests whether it works again
    quarantine_test_seconds: float = Field(default=60.0, gt=0)
    #: jobs in a row that fail by a host's fault, after which its worker is quarantined
    #: (fewer jobs count if they do so twice as often)
    quarantine_after: int = Field(default=3, ge=1)
    #: hosts on which a job may fail by the host's fault until that counts as the job's own failure
    fault_hosts: int = Field(default=3, ge=1)
    #: how long results wait in scratch, with the lease renewed, for a workspace that cannot take them
    keep_results_seconds: float = Field(default=86_400.0, ge=0)
    #: how long a worker cut off from Redis goes on computing
    cut_off_grace_seconds: float = Field(default=900.0, gt=0)
    #: how often an engine's checkpoint is copied to the workspace
    checkpoint_interval_seconds: float = Field(default=30.0, gt=0)
    #: how often a running program's output is read for progress
    progress_interval_seconds: float = Field(default=1.0, gt=0)
    #: failures of one job after which it is FAILED
    failure_budget: int = Field(default=3, ge=1)
    #: wait before a failed job is tried again, doubled at each failure
    retry_delay_seconds: float = Field(default=10.0, ge=0)
    #: how long a job may be passed over by smaller ones before a worker is kept free for it
    reserve_after_seconds: float = Field(default=900.0, gt=0)

    #: address that the orchestrator's API listens on, and its port (0: any free one)
    api_host: str = "127.0.0.1"
    api_port: int = Field(default=0, ge=0, le=65535)
    #: URL of a service elsewhere, for the command line
    api_url: str = ""
    #: bearer token of a service elsewhere; empty: read from ``<home>/api-token``
    api_token: SecretStr = SecretStr("")

    #: the largest molecule that is accepted, in atoms
    max_atoms: int = Field(default=400, ge=1)
    #: the most jobs in one batch
    max_batch_jobs: int = Field(default=20_000, ge=1)
    #: the largest file that is taken into the workspace
    max_file_bytes: int = Field(default=500_000_000, ge=1)
    #: what a batch may cost, by estimate, before a person has to approve it where the pipeline has gates
    approval_core_hours: float = Field(default=4.0, ge=0)
    #: how long a person may take to decide before the question is asked anew
    approval_expires_hours: float = Field(default=72.0, gt=0)
    #: what the orchestrator does about failed steps: nothing; say what it would do; do it
    recovery: Literal["off", "shadow", "active"] = "active"
    #: rounds of repair that one step may have before a person is asked, or the step fails
    recovery_rounds: int = Field(default=2, ge=0, le=10)
    #: how far an episode has to be trusted to be recalled
    memory_min_trust: float = Field(default=0.8, ge=0, le=1)

    #: base URL of an OpenAI-compatible endpoint (``https://api.example.org/v1``); empty: no language model is used
    model_url: str = ""
    #: the language model's name at that endpoint
    model: str = ""
    model_key: SecretStr = SecretStr("")
    #: how long one try at an answer may take
    model_timeout_seconds: float = Field(default=60.0, gt=0)
    #: tries after the first, with exponential back-off and jitter, or after what the endpoint asks for
    model_retries: int = Field(default=2, ge=0, le=10)
    #: what a run may use of the language model before it goes on without
    model_budget_calls: int = Field(default=40, ge=0)
    model_budget_tokens: int = Field(default=200_000, ge=0)
    #: prices per million tokens, in whatever currency; None: no cost is shown
    model_prompt_price: float | None = Field(default=None, ge=0)
    model_completion_price: float | None = Field(default=None, ge=0)

    #: key of the Tavily web search; empty: web searches are refused
    tavily_key: SecretStr = SecretStr("")
    tavily_url: str = "https://api.tavily.com"

    #: PubChem's PUG REST, for names that the table does not have, and for CAS numbers; ``off``: nothing is looked up
    pubchem_url: str = "https://pubchem.ncbi.nlm.nih.gov/rest/pug"

    #: OpenAI-compatible endpoint of the library's embeddings (as ``http://host:8000/v1``), its model and key
    embeddings_url: str = ""
    embeddings_model: str = ""
    embeddings_key: SecretStr = SecretStr("")
    #: folder of an ONNX model (``model.onnx``, ``tokenizer.json``) that makes the library's embeddings here instead
    embeddings_folder: Path | None = None
    #: Qdrant server that keeps the library instead of Redis; needs embeddings
    qdrant_url: str = ""
    #: its API key, if it asks for one
    qdrant_key: SecretStr = SecretStr("")
    log_level: str = "INFO"

    @model_validator(mode="after")
    def _model_is_whole(self) -> Self:
        if bool(self.model_url) != bool(self.model):
            missing, given = ("SIMRELAY_MODEL", "SIMRELAY_MODEL_URL")[:: 1 if self.model_url else -1]
            raise ValueError(f"{given} is set, but {missing} is not: a language model needs both")
        urls = ("model_url", "tavily_url", "pubchem_url", "embeddings_url", "qdrant_url")
        for name, url in ((f"SIMRELAY_{name.upper()}", str(getattr(self, name))) for name in urls):
            if url and not url.startswith(("http://", "https://")):
                raise ValueError(f"{name} does not begin with http:// or https://")
        return self

    @field_validator("pubchem_url")
    @classmethod
    def _off_is_nowhere(cls, url: str) -> str:
        return "" if url == "off" else url  # an empty variable is one that is not set

    @model_validator(mode="after")
    def _times_fit(self) -> Self:
        chain = self.beat_seconds + self.renew_timeout_seconds + self.dead_man_seconds + self.kill_grace_seconds + 2
        if chain > self.lease_seconds:
            raise ValueError(
                f"lease_seconds is {self.lease_seconds:g}, but beat + renew time-out + dead-man + kill grace + 2 s"
                f" is {chain:g}: a frozen worker's simulation could outlive its lease. Raise SIMRELAY_LEASE_SECONDS"
                f" to {chain:g} or more"
            )
        return self

    @property
    def workspace(self) -> Path:
        """The shared folder of jobs and runs."""
        return self.workspace_path or self.home / "workspace"

    @property
    def scratch(self) -> Path:
        """The node-local folder that engines work in."""
        return self.scratch_path or self.home / "scratch"

    @property
    def preempt_grace_seconds(self) -> float:
        """How long a program may take to stop on a worker that stops: what hearing, killing and leaving leave of it."""
        return max(0.0, self.stop_grace_seconds - self.beat_seconds - self.kill_grace_seconds - _LEAVING_SECONDS)

    def lease_ms(self) -> int:
        """Length of a lease in milliseconds, the unit of the scripts."""
        return round(self.lease_seconds * 1000)


@lru_cache(maxsize=1)
def load_settings() -> Settings:
    """Read the settings of this process once.

    Raises
    ------
    ConfigurationError
        If a value cannot be used; the message names the variable.
    """
    try:
        return Settings()
    except ValueError as error:
        raise ConfigurationError(f"settings: {error}") from error


def environment(settings: Settings) -> dict[str, str]:
    """Give the variables that make another process read the same settings."""
    out = {k: v for k, v in os.environ.items() if not k.startswith("SIMRELAY_")}
    for name, field in type(settings).model_fields.items():
        value = getattr(settings, name)
        if value is None:
            continue
        if isinstance(value, SecretStr):
            value = value.get_secret_value()
        key = field.validation_alias if isinstance(field.validation_alias, str) else f"SIMRELAY_{name.upper()}"
        out[key] = str(value)
    return out
