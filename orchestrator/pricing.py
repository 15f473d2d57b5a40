"""What frozen jobs will cost, by estimate: of a step's work together, and job by job for whoever has to approve it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from orchestrator import steps
from orchestrator.agents.base import Work
from orchestrator.planning.cost import estimate
from orchestrator.state import Manifest
from tasks.specs import dump_spec

#: kinds of jobs that have no level of theory, in words; a declared program is known by its name
_KINDS = {"swarm": "swarm", "wavefunction": "analysis of orbitals", "dynamics": "simulation",
          "evaluation": "properties of molecules", "program": ""}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Priced:
    """One job as a gate shows it: what it is, and what it costs; None: not known."""

    words: str
    core_seconds: float | None


def priced(work: Work) -> Work:
    """Add what the specs cost together; not known as soon as one is not."""
    costs = [estimate(spec).core_seconds for spec in work.specs]
    known = [cost for cost in costs if cost is not None]
    return replace(work, core_seconds=round(sum(known), 2) if len(known) == len(costs) else None)


def priced_jobs(manifest: Manifest, workspace: Path) -> list[Priced]:
    """Give each job of a frozen manifest with its cost.

    Raises
    ------
    Conflict
        If the file is not the one that was frozen.
    """
    jobs = steps.read_manifest(manifest, workspace)
    return [Priced(words=job_words(dump_spec(job.spec)), core_seconds=estimate(job.spec).core_seconds) for job in jobs]


def job_words(spec: Mapping[str, Any]) -> str:
    """Say in a few words what a job is, from its spec as plain values, which may lack what earlier steps give."""
    molecule = spec.get("molecule") or {}
    name = spec.get("label") or molecule.get("name") or molecule.get("smiles") or spec.get("program") or ""
    parts = [str(name)] if name else []
    if method := spec.get("method"):
        level = f"{method}/{spec['basis']}" if spec.get("basis") else str(method)
        solvent = f" in {spec['solvent']}" if spec.get("solvent") else ""
        parts.append(f"{str(spec.get('task', '')).replace('_', ' ')} with {level}{solvent}".strip())
    else:
        kind = _KINDS.get(str(spec.get("kind")), "")
        parts += [kind] if kind or not parts else []
    engine = spec.get("engine")
    return ", ".join(filter(None, [*parts, engine if engine not in ("auto", *_KINDS) else None]))
