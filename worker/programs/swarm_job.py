"""A particle swarm over cations, from one wait for evaluations to the next.

Run as ``python -m worker.programs.swarm_job job.json``. It goes on from ``state.json``, takes what came back from the
jobs that it waited for out of the job file, and makes as many steps as it can. Where molecules have to be computed it
writes them to ``request.json``, says that it waits, and ends. Its output ends with one of three marks: waiting, ended
normally, stopped.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version

import numpy as np

from tasks.errors import InputError
from tasks.results import Evaluated, Failure, Progress, Ranked, SwarmResult
from tasks.specs import SwarmSpec, spec_hash
from tasks.swarms import Candidate
from worker.programs.common import Desk, JobFailed, run_program, say, write_atomically
from worker.programs.swarm import Swarm
from worker.programs.swarm_molecules import (
    canonical,
    charge,
    descriptors,
    heavy_atoms,
    keep_rdkit_quiet,
    structure,
)
from worker.programs.swarm_report import write_report
from worker.programs.swarm_request import LEVEL, REQUEST_FILE, WAITING_MARK, Request, Returned, SwarmJob
from worker.programs.swarm_state import (
    STATE_FILE,
    State,
    Step,
    Waiting,
    configuration,
    load_state,
    save_state,
)

#: failures of an evaluation job that mean that its time was over
_OUT_OF_TIME = ("walltime",)
#: chance of a coordinate to be drawn anew in a step: choices that all particles agree on are still varied
LOST = 0.1


@dataclass
class Search:
    """One swarm under way."""

    spec: SwarmSpec
    desk: Desk
    state: State
    swarm: Swarm

    def save(self) -> None:
        """Write the restart point."""
        save_state(self.desk.folder, self.state)

    def run(self) -> None:
        """Make all steps that are left."""
        while self.state.iteration < self.spec.steps:
            self.step()

    def step(self) -> None:
        """Evaluate the present positions, take their scores, and move on."""
        smiles = [canonical(self.spec.encoding.decode(position)) for position in self.swarm.positions]
        before = sum(row.new_evaluations for row in self.state.history)
        self._look_at(smiles)
        if self.spec.computed:
            missing = [s for s, one in self.state.evaluated.items() if not one.error and not self._complete(one)]
            if missing:
                self._wait(missing)
        scores = np.array([self._score(one) for one in smiles])
        self.swarm.tell(scores)
        number, known = self.state.iteration + 1, len(self.state.evaluated)
        row = Step(
            step=number,
            max_score=float(scores.max()),
            min_score=float(scores.min()),
            mean_score=float(scores.mean()),
            best_so_far=float(self.swarm.best_scores.max()),
            new_evaluations=known - before,
            evaluations=known,
        )
        self.swarm.move()
        waited = self.state.waiting
        self.state = self.state.with_changes(
            iteration=number, swarm=self.swarm.state(), history=(*self.state.history, row), waiting=None
        )
        self.save()
        if waited and waited.repeated:
            self._validate_recovery(number)
        total = self.spec.steps
        text = f"step {number} of {total}, best score {row.best_so_far:.4f}, {known} molecules"
        say(text)
        self.desk.progress(Progress(text=text, stage="swarm", step=number, total=total))

    def _look_at(self, smiles: Sequence[str | None]) -> None:
        """Take molecules that were not met before: what their formula says of them, or why they are left out."""
        met = dict(self.state.evaluated)
        volume = any(o.property == "volume_cubic_angstrom" for o in self.spec.objectives)
        for one in smiles:
            if one is None or one in met:
                continue
            size = heavy_atoms(one)
            if size > self.spec.max_heavy_atoms:
                met[one] = Evaluated(smiles=one, error=f"has {size} heavy atoms, more than {self.spec.max_heavy_atoms}")
                continue
            try:
                met[one] = Evaluated(smiles=one, values=descriptors(one, self.spec.backbone_smiles, volume))
            except InputError as error:
                met[one] = Evaluated(smiles=one, error=str(error))
        self.state = self.state.with_changes(evaluated=met)

    def _complete(self, one: Evaluated) -> bool:
        return all(name in one.values for name in self.spec.computed)

    def _score(self, smiles: str | None) -> float:
        """Give a candidate's score: 0, the worst, where it is no molecule, too large, or could not be computed."""
        one = self.state.evaluated.get(smiles) if smiles else None
        return 0.0 if one is None or one.error else self.spec.score(one.values)

    # ---- evaluations

    def _wait(self, missing: Sequence[str]) -> None:
        """Ask for evaluations, and end the program: the job is parked until they are there.

        Returns only if none of the molecules has a structure that could be computed.
        """
        structures, met = {}, dict(self.state.evaluated)
        for smiles in missing:
            try:
                structures[smiles] = structure(smiles)
            except InputError as error:
                met[smiles] = Evaluated(smiles=smiles, error=str(error))
        self.state = self.state.with_changes(evaluated=met)
        if not structures:
            return
        waiting = self.state.waiting
        if waiting is None:
            name = f"g{self.state.iteration + 1}"
            waiting = Waiting(name=name, jobs=_divided(list(structures), self.spec.evaluation_jobs))
            self.state = self.state.with_changes(waiting=waiting)
            self.save()
        jobs = [
            tuple(Candidate(smiles=s, xyz=structures[s], charge=charge(s)) for s in group) for group in waiting.jobs
        ]
        request = Request(name=waiting.name, jobs=tuple(jobs))
        write_atomically(self.desk.folder / REQUEST_FILE, request.model_dump_json())
        total, count = self.spec.steps, sum(map(len, waiting.jobs))
        text = f"step {self.state.iteration + 1} of {total}: {count} molecules to be computed"
        self.desk.progress(Progress(text=text, stage="swarm", step=self.state.iteration, total=total))
        say(text)
        say(WAITING_MARK)
        sys.stderr.flush()
        os._exit(0)

    def take(self, returned: Sequence[Returned]) -> None:
        """Take what came back from the jobs that were waited for; another batch's is waited for again.

        Raises
        ------
        JobFailed
            If nothing could be computed, or a step timed out for the second time.
        """
        waiting = self.state.waiting
        if waiting is None or [set(one.smiles) for one in returned] != [set(group) for group in waiting.jobs]:
            return
        met, late = dict(self.state.evaluated), []
        for job in returned:
            found = {one.smiles: one for one in job.evaluated}
            for smiles in job.smiles:
                before = met[smiles]
                if smiles in found:
                    one = found[smiles]
                    met[smiles] = Evaluated(smiles=smiles, values=before.values | one.values, error=one.error)
                elif smiles in job.not_reached or (job.failure and job.failure.error_class in _OUT_OF_TIME):
                    late.append(smiles)
                else:
                    why = job.failure.message if job.failure else "was left out of the result of its job"
                    met[smiles] = Evaluated(smiles=smiles, values=before.values, error=f"was not computed: {why}")
        if all(job.failure and job.failure.error_class not in _OUT_OF_TIME for job in returned):
            raise JobFailed(_nothing(self.state.iteration + 1, returned))
        self.state = self.state.with_changes(evaluated=met)
        if late:
            self._repeat(late, waiting)
        self.save()

    def _repeat(self, late: Sequence[str], waiting: Waiting) -> None:
        """Repeat a step that timed out once, from its checkpoint, with what is left of it."""
        number = self.state.iteration + 1
        if waiting.repeated:
            raise JobFailed(_out_of_time(number, late, self.spec.step_seconds))
        text = f"{len(late)} molecules were not reached within {self.spec.step_seconds} s"
        self._trace("failure_diagnosed", error_class="step_timeout", step=number, message=text,
                    action="RESUME_PSO_CHECKPOINT", attempts_allowed=1)  # fmt: skip
        again = Waiting(name=f"{waiting.name}-again", jobs=_divided(late, self.spec.evaluation_jobs), repeated=True)
        self.state = self.state.with_changes(waiting=again)

    def _validate_recovery(self, number: int) -> None:
        """Count a repeated step as recovered only if one step was gained and the checkpoint reads back whole."""
        try:
            back = load_state(self.desk.folder / STATE_FILE, self.spec)
            problem = "" if back.iteration == number else f"the checkpoint is at step {back.iteration}"
        except InputError as error:
            problem = str(error)
        gained = self.state.iteration - (number - 1)
        passed = gained == 1 and not problem
        self._trace("post_recovery_validation", step=number, passed=passed, steps_gained=gained,
                    checkpoint_verified=not problem, attempts_used=1, problem=problem)  # fmt: skip
        if not passed:
            message = f"The repetition of step {number} is not valid: {problem or f'{gained} steps were gained'}."
            raise JobFailed(Failure(error_class="recovery_invalid", message=message))
        self.state = self.state.with_changes(recovered_steps=self.state.recovered_steps + 1)
        self.save()

    def _trace(self, event: str, **facts: str | int | bool) -> None:
        line = {"event": event, "at": datetime.now(UTC).isoformat(timespec="seconds"), **facts}
        self.state = self.state.with_changes(trace=(*self.state.trace, line))
        say(f"RECOVERY {event}: {facts}")

    # ---- the end

    def ranking(self) -> list[Ranked]:
        """Give all candidates that were computed, best first, equal ones by SMILES."""
        done = [one for one in self.state.evaluated.values() if not one.error]
        names = [o.property for o in self.spec.objectives]
        ranked = [
            Ranked(
                smiles=one.smiles,
                score=self.spec.score(one.values),
                values={name: one.values[name] for name in dict.fromkeys((*names, "molar_mass_g_per_mol"))},
            )
            for one in done
        ]
        return sorted(ranked, key=lambda one: (-one.score, one.smiles))


def _divided(smiles: Sequence[str], jobs: int) -> tuple[tuple[str, ...], ...]:
    """Deal molecules to jobs of about equal work: by size, there and back."""
    count = min(jobs, len(smiles))
    hands: list[list[str]] = [[] for _ in range(count)]
    for place, one in enumerate(sorted(smiles, key=lambda s: (-heavy_atoms(s), s))):
        round_, seat = divmod(place, count)
        hands[seat if round_ % 2 == 0 else count - 1 - seat].append(one)
    return tuple(tuple(hand) for hand in hands)


def _nothing(step: int, returned: Sequence[Returned]) -> Failure:
    first = returned[0].failure
    return Failure(
        error_class="evaluations_failed",
        message=f"No evaluation of step {step} gave a result: {first.message if first else 'no reason is known'}",
        evidence=first.evidence if first else (),
        remedy=(first.remedy if first else "") or "Look at the jobs of that step.",
        permanent=True,
    )


def _out_of_time(step: int, late: Sequence[str], seconds: int) -> Failure:
    return Failure(
        error_class="step_timeout",
        message=f"Step {step} was repeated once after it had timed out, and {len(late)} molecules were again not"
        f" reached within {seconds} s.",
        evidence=tuple(late[:10]),
        remedy="Raise step_seconds or evaluation_jobs, or lower max_heavy_atoms; then go on from its checkpoint.",
        permanent=True,
    )


def begin(spec: SwarmSpec) -> State:
    """Give the state before the first step."""
    swarm = Swarm.begin(spec.particles, spec.encoding.dimensions, spec.seed, **factors(spec))
    wanted = configuration(spec)
    return State(configuration=wanted, configuration_sha256=spec_hash(wanted), swarm=swarm.state())


def factors(spec: SwarmSpec) -> dict[str, float]:
    """Give what moves the swarm of a spec."""
    return {"inertia": spec.inertia, "cognitive": spec.cognitive, "social": spec.social, "lost": LOST}


def calculate(job: SwarmJob, desk: Desk) -> SwarmResult:
    """Make all steps that can be made; ends the process where evaluations have to be waited for."""
    spec, path = job.spec, desk.folder / STATE_FILE
    try:
        descriptors("C[N+](C)(C)C", spec.backbone_smiles)
        state = load_state(path, spec) if path.exists() else begin(spec)
    except InputError as error:
        raise JobFailed(Failure(error_class="bad_input", message=str(error), permanent=True)) from error
    if state.iteration or state.waiting:
        say(f"RESTARTED after step {state.iteration}.")
    search = Search(spec, desk, state, Swarm.restore(state.swarm, **factors(spec)))
    if job.returned is not None:
        search.take(job.returned)
    search.run()
    ranking, state = search.ranking(), search.state
    if not ranking:
        message = "No candidate could be computed."
        reasons = tuple(f"{one.smiles}: {one.error}" for one in list(state.evaluated.values())[:10])
        raise JobFailed(Failure(error_class="evaluations_failed", message=message, evidence=reasons, permanent=True))
    write_report(desk.folder, spec, state, ranking)
    relaxed = "relaxed" if spec.relax else "force-field geometries"
    return SwarmResult(
        ranking=tuple(ranking[: spec.keep]),
        steps=state.iteration,
        particles=spec.particles,
        seed=spec.seed,
        evaluations=len(state.evaluated),
        failed=sum(bool(one.error) for one in state.evaluated.values()),
        recovered_steps=state.recovered_steps,
        configuration_sha256=state.configuration_sha256,
        engine="pso",
        engine_version=f"tblite {version('tblite')}, rdkit {version('rdkit')}",
        level=f"{LEVEL}, {relaxed}" if spec.computed else "RDKit descriptors",
    )


def main() -> None:
    """Run the job that the command line names."""
    keep_rdkit_quiet()
    run_program("swarm", calculate, SwarmJob)


if __name__ == "__main__":
    main()
