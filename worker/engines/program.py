"""Any command-line program that the operator has declared in ``programs.toml`` (see ``tasks.programs``)."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from tasks.programs import ProgramDeclaration, find_program, load_programs, render, validate_parameters
from tasks.results import Failure, ProgramResult, Progress
from tasks.settings import load_settings
from tasks.specs import ProgramSpec
from worker.engines.base import Bench, Collected, Command, Engine, Exit, Offer, Snapshot
from worker.engines.output import LOG_FILE, evidence, failure_from_log, last_line, tail
from worker.engines.quantum import thread_environment
from worker.loading import check_trouble, loading_trouble

#: name of the file of declarations in the installation's home
PROGRAMS_FILE = "programs.toml"


class Program(Engine[ProgramSpec]):
    """Declared programs.

    Parameters
    ----------
    offer
        The host's entry for this engine.
    declarations
        The host's programs by name.
    """

    name: ClassVar[str] = "program"

    def __init__(self, offer: Offer, declarations: Mapping[str, ProgramDeclaration]) -> None:
        super().__init__(offer)
        self.declarations = declarations

    @classmethod
    def detect(cls) -> Offer | None:
        """Look for declared programs in the installation's home that this host has."""
        declared = load_programs(load_settings().home / PROGRAMS_FILE)
        there = tuple(name for name, program in sorted(declared.items()) if shutil.which(program.command[0]))
        return Offer(engine=cls.name, version="", command=(), tasks=there) if there else None

    def trouble(self) -> str:
        """Say what is wrong with the first declared program that cannot be started here.

        Where a program's declaration names a check, that is run; of all others the libraries are looked for.
        """
        for name, program in sorted(self.declarations.items()):
            found = loading_trouble(program.command[0])
            if not found and program.check:
                found = check_trouble(program.check, {**self.offer.environment, **program.environment})
            if found:
                return f"program {name}: {found}"
        return ""

    def stop_grace(self, spec: ProgramSpec) -> float:
        """Give the seconds that the program needs to write a checkpoint and stop after SIGTERM."""
        return self._declaration(spec).stop_grace_seconds

    def prepare(self, bench: Bench[ProgramSpec]) -> Sequence[Command]:
        """Check the parameters, lay out the checkpoint, and give the one command."""
        declaration = self._declaration(bench.spec)
        parameters = validate_parameters(bench.spec, declaration)
        restarts = bench.restart is not None and bool(declaration.checkpoint)
        if bench.restart is not None:
            restarts = restarts and all((bench.restart / name).is_file() for name in declaration.checkpoint)
            for name in declaration.checkpoint if restarts else ():
                shutil.copyfile(bench.restart / name, bench.scratch / name)
        argv = render(declaration, parameters, cores=bench.cores, memory_mb=bench.memory_mb, restart=restarts)
        environment = {**self.offer.environment, **thread_environment(bench.cores), **declaration.environment}
        return (Command(argv=argv, environment=environment, output=LOG_FILE),)

    def progress(self, bench: Bench[ProgramSpec]) -> Progress | None:
        """Read the newest line of the output that tells progress."""
        pattern = self._declaration(bench.spec).progress
        if pattern is None:
            return None
        matches = (re.search(pattern, line) for line in reversed(tail(bench.scratch / LOG_FILE)))
        match = next(filter(None, matches), None)
        if match is None:
            return None
        groups = match.groupdict()
        return Progress(
            text=(groups.get("text") or match.string).strip()[:400],
            stage=bench.spec.program,
            step=_whole(groups.get("step")),
            total=_whole(groups.get("total")),
        )

    def snapshot(self, bench: Bench[ProgramSpec]) -> Snapshot | None:
        """Name the declared checkpoint files, once all of them are there and none is empty.

        A program may be writing them: who copies must compare size and time of change before and after.
        """
        files = tuple(bench.scratch / name for name in self._declaration(bench.spec).checkpoint)
        if not files or not all(file.is_file() and file.stat().st_size for file in files):
            return None
        progress = self.progress(bench)
        return Snapshot(files=files, text=progress.text if progress else "checkpoint of the program")

    def ended_well(self, bench: Bench[ProgramSpec], exits: Sequence[Exit]) -> bool:
        """Look for the declared line of success and the declared results; an exit code other than 0 spoils them."""
        if any(exit.code != 0 for exit in exits):
            return False
        declaration = self._declaration(bench.spec)
        (found,) = _last_matches(bench.scratch / LOG_FILE, [declaration.success])
        return found is not None and not self._missing(bench)

    def diagnose(self, bench: Bench[ProgramSpec], exits: Sequence[Exit]) -> Failure:
        """Say what the program left out, or how it ended."""
        log = bench.scratch / LOG_FILE
        (found,) = _last_matches(log, [self._declaration(bench.spec).success])
        if found is not None and (missing := self._missing(bench)) and not any(exit.code for exit in exits):
            return Failure(
                error_class="program_failed",
                message=f"The program did not leave {', '.join(missing)}, which its declaration names as results.",
                evidence=evidence(tail(log)),
                remedy="Correct the program's declaration, or read its output.",
            )
        return failure_from_log(log, exits)

    def collect(self, bench: Bench[ProgramSpec]) -> Collected:
        """Read the declared values from the output; the roles of result files are their names."""
        declaration = self._declaration(bench.spec)
        log = bench.scratch / LOG_FILE
        found = _last_matches(log, list(declaration.values.values()))
        values = {
            name: match[1].strip() for name, match in zip(declaration.values, found, strict=True) if match and match[1]
        }
        files = {name: bench.scratch / name for name in declaration.results}
        return Collected(result=ProgramResult(values=values, last_line=last_line(log)), files={**files, "log": log})

    def _declaration(self, spec: ProgramSpec) -> ProgramDeclaration:
        return find_program(spec.program, self.declarations)

    def _missing(self, bench: Bench[ProgramSpec]) -> list[str]:
        return [name for name in self._declaration(bench.spec).results if not (bench.scratch / name).is_file()]


def _whole(text: str | None) -> int | None:
    return int(text) if text and text.strip().isdecimal() else None


def _last_matches(log: Path, patterns: Sequence[str]) -> list[re.Match[str] | None]:
    """Give the last match of each pattern, line by line, so that the size of a log does not matter."""
    found: list[re.Match[str] | None] = [None] * len(patterns)
    compiled = [re.compile(pattern) for pattern in patterns]
    if not log.exists():
        return found
    with log.open(encoding="utf-8", errors="replace") as stream:
        for line in stream:
            for index, pattern in enumerate(compiled):
                found[index] = pattern.search(line.rstrip("\n")) or found[index]
    return found
