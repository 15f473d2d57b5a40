"""Reading what GROMACS writes: the newest step of a stage, and why a program gave up."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from tasks.results import Failure
from worker.engines.base import Exit
from worker.engines.output import evidence, failure_from_log, killing_signal, tail

_STEP = re.compile(r"^\s*(\d+)\s+[\d.]+\s*$")
_ERROR_HEADS = (
    "Fatal error:",
    "Error in user input:",
    "Inconsistency in user input:",
    "ERROR ",
    "File input/output error:",
    "Internal error (bug):",
)
_BLOW_UP = (
    "LINCS WARNING",
    "can not be settled",
    "Too many LINCS warnings",
    "inconsistent shifts",
    "moved more than the distance",
    "Step size too small, or no change in energy",
    "which is not finite",
    "which is extremely high",
    "potential energy is nan",
)
_SMALL_BOX = (
    "longer than half the shortest box vector",
    "shorter than twice the cut-off",
    "longer than the smallest box diagonal",
    "box size in direction",
)
_DAMAGED = (
    "heckpoint file corrupted",
    "heckpoint file is corrupted",
    "hecksum wrong for file",
    "not present or not named as the output files",
    "Start of file magic number mismatch",
    "not a valid checkpoint",
    "truncated checkpoint",
    "heckpoint file/state",
    "Attempted to read a checkpoint file",
    "Cannot read/write checkpoint",
    "is corrupted",
    "Can't read checkpoint",
)


def version(text: str) -> str:
    """Give the version that ``gmx -version`` names; empty if it names none."""
    match = re.search(r"GROMACS version:\s+(\d[\w.]*)", text)
    return match[1] if match else ""


def newest_step(log: Path) -> int | None:
    """Give the last step that a log tells of; None: none yet."""
    lines = tail(log)
    for number in range(len(lines) - 1, 0, -1):
        if lines[number - 1].split() == ["Step", "Time"] and (match := _STEP.match(lines[number])):
            return int(match[1])
    return None


def diagnose(log: Path, exits: Sequence[Exit], own_files: bool = False) -> Failure:
    """Say why a command of GROMACS ended without its goal.

    Parameters
    ----------
    log
        The output of all commands.
    own_files
        Whether the topology is the user's: what ``grompp`` refuses is then in it, and would be refused again.
    """
    lines = tail(log)
    text = "\n".join(lines)
    code = next((exit.code for exit in exits if exit.code), 0)
    if any(mark in text for mark in _DAMAGED):
        return Failure(
            error_class="checkpoint_damaged",
            message="The checkpoint, or a file that it goes on with, is damaged.",
            evidence=_telling(lines, _DAMAGED),
            remedy="Go on from the checkpoint before.",
        )
    if any(mark in text for mark in _SMALL_BOX):
        return Failure(
            error_class="box_too_small",
            message="The box is, or has become, smaller than twice the cut-off.",
            evidence=_telling(lines, _SMALL_BOX),
            remedy="Take more molecules, or a smaller cutoff_nm.",
            permanent=True,
        )
    if code and (any(mark in text for mark in _BLOW_UP) or killing_signal(code) in (6, 8, 11)):
        return Failure(
            error_class="blow_up",
            message="The simulation blew up: atoms moved too far in one step.",
            evidence=_telling(lines, _BLOW_UP) or evidence(lines),
            remedy="Take a smaller time_step_fs or more minimisation_steps; look for overlapping atoms.",
            permanent=True,
        )
    if "Received the TERM signal" in text or "Received the INT signal" in text:
        return Failure(error_class="killed", message="GROMACS was told to stop (SIGTERM), and wrote a checkpoint.")
    if reason := _reason(lines):
        refused = own_files and "gmx grompp" in text.rpartition("Program:")[2]
        return Failure(
            error_class="bad_input" if refused else "program_failed",
            message=f"GROMACS gave up: {' '.join(reason)[:300]}",
            evidence=tuple(reason[:8]),
            remedy="Correct coordinates and topology: GROMACS must accept them together."
            if refused
            else "Read the output.",
            permanent=refused,
        )
    return failure_from_log(log, exits)


def _telling(lines: Sequence[str], marks: Sequence[str]) -> tuple[str, ...]:
    return evidence([line for line in lines if any(mark in line for mark in marks)], 6)


def _reason(lines: Sequence[str]) -> list[str]:
    """Give the lines under the last heading of an error, up to where GROMACS names its website."""
    heads = [number for number, line in enumerate(lines) if line.startswith(_ERROR_HEADS)]
    if not heads:
        return []
    first = next((number for number in heads if lines[number].startswith("ERROR ")), heads[-1])
    found = []
    for line in lines[first:]:
        if line.startswith(("For more information", "-----")):
            break
        if line.strip():
            found.append(line.strip())
    return found
