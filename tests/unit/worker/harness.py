"""Running an engine without a supervisor: what the tests of engines share."""

from __future__ import annotations

import dataclasses
import math
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

from tasks.elements import parse_xyz
from tasks.results import Correction
from tasks.specs import ProgramSpec, QuantumSpec
from worker.engines.base import Bench, Command, Engine, Exit, Spec

#: water of the G2 set, as ``ase.build.molecule("H2O")`` has it
WATER = "3\nwater\nO 0 0 0.119262\nH 0 0.763239 -0.477047\nH 0 -0.763239 -0.477047\n"
METHYLAMMONIUM = """8
methylammonium, staggered
N  0.0000  0.0000  0.7140
C  0.0000  0.0000 -0.7990
H  0.0000  0.9560  1.0780
H  0.8279 -0.4780  1.0780
H -0.8279 -0.4780  1.0780
H  0.0000 -1.0330 -1.1360
H  0.8946  0.5165 -1.1360
H -0.8946  0.5165 -1.1360
"""


def start(command: Command, scratch: Path) -> subprocess.Popen[bytes]:
    """Start a command as the supervisor does."""
    with (scratch / command.output).open("ab") as output:
        return subprocess.Popen(
            command.argv,
            cwd=scratch,
            env={**os.environ, **command.environment},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def run(engine: Engine[Spec], bench: Bench[Spec], edit: Callable[[Path], None] | None = None) -> list[Exit]:
    """Prepare and run all commands of an attempt; ``edit`` may change what was prepared."""
    exits = []
    commands = engine.prepare(bench)
    if edit is not None:
        edit(bench.scratch)
    for command in commands:
        exits.append(Exit(code=start(command, bench.scratch).wait(timeout=240)))
        if exits[-1].code != 0:
            break
    return exits


def keep(engine: Engine[Spec], bench: Bench[Spec], folder: Path) -> Path:
    """Copy the newest restart point, as the supervisor does."""
    snapshot = engine.snapshot(bench)
    assert snapshot is not None
    folder.mkdir()
    for file in snapshot.files:
        shutil.copyfile(file, folder / file.name)
    return folder


def corrected(engine: Engine[Spec], bench: Bench[Spec], correction: Correction) -> Bench[Spec]:
    """Give the bench with which the attempt goes on after a correction, as the supervisor does."""
    restart = keep(engine, bench, bench.scratch / f"restart-{len(bench.corrections) + 1}")
    output = bench.scratch / "output.log"
    output.rename(bench.scratch / f"output-{len(bench.corrections) + 1}.log")
    return dataclasses.replace(bench, corrections=(*bench.corrections, correction), restart=restart)


def bench_for(spec: QuantumSpec, scratch: Path, restart: Path | None = None, *, cores: int = 1) -> Bench[QuantumSpec]:
    """Give a bench in a new folder."""
    scratch.mkdir(parents=True)
    return Bench(spec=spec, scratch=scratch, cores=cores, memory_mb=2000, restart=restart)


def program_bench(spec: ProgramSpec, scratch: Path, restart: Path | None = None) -> Bench[ProgramSpec]:
    """Give a bench for a declared program in a new folder."""
    scratch.mkdir(parents=True)
    return Bench(spec=spec, scratch=scratch, cores=2, memory_mb=1000, restart=restart)


def water_shape(xyz: str) -> tuple[float, float]:
    """Give bond length in ångström and angle in degrees of water, oxygen first."""
    oxygen, one, two = (atom[1:] for atom in parse_xyz(xyz))
    a, b, c = math.dist(oxygen, one), math.dist(oxygen, two), math.dist(one, two)
    return a, math.degrees(math.acos((a * a + b * b - c * c) / (2 * a * b)))
