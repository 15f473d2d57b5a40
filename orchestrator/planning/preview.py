"""What a request would do, without doing it: decision, steps, exact specs, cost. Nothing is written or queued."""

from __future__ import annotations

from typing import Any

from orchestrator.asking import Options
from orchestrator.chemistry.complete import complete_spec
from orchestrator.chemistry.geometry import embed_apart
from orchestrator.chemistry.molecules import DEFAULT_MAX_ATOMS
from orchestrator.chemistry.swarms import complete_swarm
from orchestrator.inputs import complete_analysis
from orchestrator.planning.asked import Asked
from orchestrator.planning.clusters import cluster_species, with_cluster
from orchestrator.planning.cost import Cost, estimate
from orchestrator.planning.decide import plan_request
from orchestrator.planning.design import usual_candidate
from orchestrator.planning.dynamics import read_dynamics
from orchestrator.planning.molecules import knowing_sources
from orchestrator.planning.specs import is_cluster, spec_for
from orchestrator.state import Plan, Species, Step, molecules_of
from tasks.jobspec import InputFile
from tasks.specs import WavefunctionSpec, dump_spec
from tasks.wavefunctions import SOURCE


def dry_run(
    request_text: str,
    offered: frozenset[str] | None = None,
    max_atoms: int = DEFAULT_MAX_ATOMS,
    options: Options | None = None,
    pubchem_url: str = "",
) -> dict[str, Any]:
    """Say what a run of this request would do.

    Parameters
    ----------
    request_text
        The request in words.
    offered
        Engines that workers have declared; None: not known, and each method's first engine is shown.
    max_atoms
        The largest molecule that is accepted.
    options
        What the caller chose.
    pubchem_url
        Where names are looked up that the table does not have; empty: nowhere.

    Returns
    -------
    dict
        ``request``, ``decision``, ``question`` (what a person would be asked), ``answer`` (of a request that needs no
        agent), ``plan`` (its title), ``species``, ``steps`` (``number``, ``agent``, ``description``, ``depends_on``,
        ``protocol``, ``jobs``, ``estimated_cost``), ``estimated_cost`` (``unknown`` counts the jobs about which nothing
        is known), ``queued`` (always 0). A job has ``spec``, ``estimated_cost``, and ``geometry_from`` where its
        structure comes out of an earlier step: all of the spec but that is then as it will be submitted.

    Raises
    ------
    InputError
        As ``plan_request``.
    """
    planned = plan_request(
        Asked(text=request_text, max_atoms=max_atoms, options=options or Options(), pubchem_url=pubchem_url)
    )
    steps, cost = preview_plan(planned.plan, planned.species, request_text, offered, max_atoms)
    return {
        "request": request_text,
        "decision": planned.decision.model_dump(mode="json"),
        "question": planned.question.model_dump(mode="json") if planned.question else None,
        "answer": planned.answer,
        "plan": planned.plan.title,
        "species": [
            one.model_dump(mode="json", exclude={"geometry", "geometry_level", "error"}) for one in planned.species
        ],
        "steps": steps,
        "estimated_cost": cost,
        "queued": 0,
    }


def preview_plan(
    plan: Plan, species: tuple[Species, ...], request_text: str, offered: frozenset[str] | None, max_atoms: int
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Give what the steps of a plan would submit, and what it would cost together."""
    steps: list[dict[str, Any]] = []
    for step in plan.steps:
        jobs: list[dict[str, Any]] = []
        usual = 0
        seconds = 0.0
        its = molecules_of(step, species)
        if step.goal.swarm is not None:
            spec = complete_swarm(step.goal.swarm)
            cost = estimate(spec)
            jobs.append({"spec": dump_spec(spec), "estimated_cost": _shown(cost)})
        elif step.agent == "qm_agent" and not its and (taken := _taken(step, plan, request_text, max_atoms)):
            jobs.append(_job(step, taken, offered, max_atoms)[0])
        elif step.agent == "qm_agent" and not its:
            # Its molecules come out of an earlier step: a usual one stands for each.
            cost = _usual(step, plan, offered, max_atoms)
            usual = step.goal.candidates
            seconds = (cost.core_seconds or 0.0) * usual
        elif step.agent == "qm_agent":
            for one in its:
                jobs.append(_job(step, one, offered, max_atoms)[0])
        elif step.agent == "md_agent":
            found = its or (_middle(plan),) if step.goal.molecules_step is not None else ()
            with knowing_sources(species):
                simulations = read_dynamics(step.goal.query or request_text, max_atoms, found).specs
            for simulation in with_cluster(simulations, step.goal.cluster):
                cost = estimate(simulation)
                made: dict[str, Any] = {"spec": dump_spec(simulation)}
                if step.goal.geometry_step is not None:
                    made["geometry_from"] = f"step {step.goal.geometry_step}"
                jobs.append({**made, "estimated_cost": _shown(cost)})
        if step.goal.analyses:
            jobs += [_analysis(step, name, offered) for name in [one.name for one in its] or [""]]
        costs = [job["estimated_cost"]["core_seconds"] for job in jobs]
        seconds += sum(cost or 0.0 for cost in costs)
        steps.append(
            {
                "number": step.number,
                "agent": step.agent,
                "description": step.description,
                "depends_on": list(step.depends_on),
                "protocol": step.goal.protocol,
                "jobs": jobs,
                "estimated_cost": {
                    "jobs": usual + len(jobs),
                    "core_seconds": round(seconds, 2),
                    "unknown": costs.count(None),
                },
            }
        )
    count, total, unknown = (
        sum(step["estimated_cost"][key] for step in steps) for key in ("jobs", "core_seconds", "unknown")
    )
    return steps, {
        "jobs": count,
        "core_seconds": round(total, 2),
        "unknown": unknown,
        "core_hours": round(total / 3600, 4),
        "note": estimate_note(count),
    }


def estimate_note(jobs: int) -> str:
    """Say what the total rests on."""
    return "sum over the jobs, within a factor of about three" if jobs else "no simulation is needed"


def _analysis(step: Step, label: str, offered: frozenset[str] | None) -> dict[str, Any]:
    """Show an analysis; its file comes out of an earlier step, or of an earlier job, which the gate looks up."""
    goal = step.goal
    asked: dict[str, object] = {"analyses": goal.analyses, "orbitals": goal.orbitals, "engine": goal.engine}
    asked |= {"isovalue": goal.isovalue} if goal.isovalue is not None else {}
    unknown = InputFile(path="unknown", sha256="0" * 64, size_bytes=0)
    spec = WavefunctionSpec.model_validate({**asked, "label": label, "inputs": {SOURCE: unknown}})
    spec = complete_analysis(spec, offered or frozenset())
    cost = estimate(spec)
    shown = dump_spec(spec)
    del shown["inputs"]
    job: dict[str, Any] = {
        "spec": shown,
        "estimated_cost": {"core_seconds": None, "core_hours": None, "note": cost.note},
    }
    if step.goal.source_job:
        job["source_job"] = step.goal.source_job
    else:
        job["orbitals_from"] = f"step {step.depends_on[-1]}"
    return job


def _job(step: Step, species: Species, offered: frozenset[str] | None, max_atoms: int) -> tuple[dict[str, Any], Cost]:
    # Where its molecules will stand is not known yet; how many atoms they have is.
    xyz = embed_apart(species.smiles) if is_cluster(species) else None
    spec = complete_spec(spec_for(species, step.goal, xyz), offered, max_atoms)
    cost = estimate(spec)
    shown = dump_spec(spec)
    job: dict[str, Any] = {"spec": shown}
    if step.goal.geometry_step is not None:
        del shown["molecule"]["xyz"]
        job["geometry_from"] = f"step {step.goal.geometry_step}"
    job["estimated_cost"] = _shown(cost)
    return job, cost


def _shown(cost: Cost) -> dict[str, Any]:
    return {
        "core_seconds": cost.core_seconds,
        "core_hours": None if cost.core_hours is None else round(cost.core_hours, 4),
        "basis_functions": cost.basis_functions,
        "note": cost.note,
    }


def _usual(step: Step, plan: Plan, offered: frozenset[str] | None, max_atoms: int) -> Cost:
    """Estimate one job of a step whose molecules a swarm will find: the candidate in the middle of its encoding."""
    return _job(step, _middle(plan), offered, max_atoms)[1]


def _taken(step: Step, plan: Plan, request_text: str, max_atoms: int) -> Species | None:
    """Give the cluster that an earlier step will take out of a simulation; None: the step is about no such."""
    source = next((one for one in plan.steps if one.number == step.goal.molecules_step), None)
    if source is None or source.goal.cluster is None:
        return None
    (spec,) = read_dynamics(source.goal.query or request_text, max_atoms).specs
    return cluster_species(source.goal.cluster, spec)


def _middle(plan: Plan) -> Species:
    return usual_candidate(next(s.goal.swarm for s in plan.steps if s.goal.swarm is not None))
