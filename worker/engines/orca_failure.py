"""What failed in an ORCA run: its error class, the lines that tell it, and what to try."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from tasks.results import Failure
from worker.engines.orca_output import OrcaOutput
from worker.engines.output import evidence

#: modes beyond this count as imaginary, in cm⁻¹; what is smaller is within the noise of integration grids
IMAGINARY_LIMIT_PER_CM = -20.0

_MPI_START = (
    "mpirun: not found",
    "mpirun: command not found",
    "error while loading shared libraries",
    "not enough slots available",
    "detected an attempt to run as root",
    "mpirun was unable to",
    "ORTE was unable to",
    "PRTE was unable to",
    "MPI_INIT failed",
    "ORTE_ERROR_LOG",
    "PMIX ERROR",
    "daemon has unexpectedly failed",
)
_ITERATION = re.compile(r"^\s*\d+\s+-\d+\.\d{6,}\s+-?\d")
_NEEDED = re.compile(r"(?:MaxCore to more than|Memory needed[^:]*):\s+([\d.]+) MB")
_MODULE = re.compile(r"ORCA finished by error termination in (.+)")
_NUMERICAL = re.compile(
    r"(?:not (?:yet )?(?:implemented|available|possible|supported)).*(?:hessian|frequenc|second deriv)"
    r"|(?:hessian|frequenc|second deriv).*(?:not (?:yet )?(?:implemented|available|possible|supported))",
    re.IGNORECASE,
)
_NO_ORBITALS = re.compile(
    r"no orbitals found|gbw.*(?:corrupt|damaged|cannot|could not|not read|mismatch)", re.IGNORECASE
)


def needed_mb(lines: Sequence[str]) -> float | None:
    """Give the memory that each process wants, in MB, as ORCA's own message says it; None if none does."""
    found = [float(match[1]) for line in lines if (match := _NEEDED.search(line))]
    return max(found, default=None)


def imaginary_modes(out: OrcaOutput) -> tuple[float, ...]:
    """Give the frequencies that are imaginary beyond noise, in cm⁻¹ and negative."""
    return tuple(value for value in out.step.frequencies_per_cm or () if value < IMAGINARY_LIMIT_PER_CM)


def reached_the_scf(log: Sequence[str]) -> bool:
    """Tell whether any SCF cycle was done, among these lines."""
    return any(_ITERATION.match(line) for line in log)


def told_failure(out: OrcaOutput, log: Sequence[str]) -> Failure | None:
    """Give the failure that the output tells of; None if it tells of none.

    Parameters
    ----------
    log
        The last lines of the output, also those of MPI.
    """
    marks = out.marks
    for told in (_input, _memory, _mpi, _killed, _scf, _optimisation, _missing_feature, _orbitals, _termination):
        if failure := told(out, marks, log):
            return failure
    return None


def imaginary_failure(modes: Sequence[float]) -> Failure:
    """Give the failure of an optimisation that ended at a saddle point."""
    listed = ", ".join(f"{value:.1f}" for value in modes)
    return Failure(
        error_class="imaginary_mode",
        message=f"The optimised geometry is no minimum: {len(modes)} imaginary mode{'s' if len(modes) > 1 else ''}.",
        evidence=(f"imaginary modes in cm^-1: {listed}",),
        remedy="Begin from another geometry, without the symmetry of this one.",
        permanent=True,
    )


def _having(lines: Sequence[str], *words: str) -> list[str]:
    return [line for line in lines if any(word in line for word in words)]


def _input(out: OrcaOutput, marks: Sequence[str], log: Sequence[str]) -> Failure | None:
    if not _having(marks, "INPUT ERROR", "UNRECOGNIZED OR DUPLICATED KEYWORD", "-> impossible"):
        return None
    return Failure(
        error_class="bad_input",
        message="ORCA refused its input.",
        evidence=evidence(marks, 6),
        remedy="Check charge, multiplicity, elements and basis set; this version of ORCA may lack a keyword.",
        permanent=True,
    )


def _memory(out: OrcaOutput, marks: Sequence[str], log: Sequence[str]) -> Failure | None:
    told = _having(marks, "Not enough memory available", "Memory available", "Memory needed", "increase MaxCore")
    told = told or _having(log, "bad_alloc", "Cannot allocate memory", "Unable to allocate")
    if not told:
        return None
    needed = needed_mb(told)
    # Of what a job is given, ORCA plans with 75 % (see orca_input).
    much = f"to at least {math.ceil(needed / 0.75)} MB for each core" if needed else "or ask for fewer cores"
    return Failure(
        error_class="out_of_memory",
        message="ORCA needs more memory than it was given.",
        evidence=evidence(told, 6),
        remedy=f"Raise resources.memory {much}.",
        permanent=True,
    )


def _mpi(out: OrcaOutput, marks: Sequence[str], log: Sequence[str]) -> Failure | None:
    told = _having(log, *_MPI_START)
    if not told or reached_the_scf(log):
        return None
    return Failure(
        error_class="mpi_start",
        message="ORCA could not start its parallel processes.",
        evidence=evidence(told, 6),
        remedy="Check PATH and LD_LIBRARY_PATH of engines.orca in engines.toml: they must find the Open MPI that "
        "this ORCA was built for.",
    )


def _killed(out: OrcaOutput, marks: Sequence[str], log: Sequence[str]) -> Failure | None:
    told = [line for line in log if re.search(r"exited on signal (?:9|15)\b|Killed|Terminated by signal", line)]
    if not told:
        return None
    message = "A process of ORCA was killed. If nobody did it, the system was probably out of memory."
    return Failure(error_class="killed", message=message, evidence=evidence(told, 4))


def _scf(out: OrcaOutput, marks: Sequence[str], log: Sequence[str]) -> Failure | None:
    if not out.unconverged and not _having(marks, "SCF NOT CONVERGED"):
        return None
    return Failure(
        error_class="scf_not_converged",
        message="The self-consistent field did not converge.",
        evidence=evidence(_having(marks, "SCF NOT CONVERGED") or ["FINAL SINGLE POINT ENERGY not fully converged"], 4),
        remedy="Check charge, multiplicity and geometry; a tight-binding optimisation beforehand often helps.",
        permanent=True,
    )


def _optimisation(out: OrcaOutput, marks: Sequence[str], log: Sequence[str]) -> Failure | None:
    told = _having(marks, "The optimization did not converge")
    if not told and not (out.terminated and out.optimisation and not out.optimised):
        return None
    energy = out.step.energy_hartree
    last = [f"last energy {energy:.8f} Eh after {out.optimisation_steps} steps"] if energy is not None else []
    return Failure(
        error_class="optimisation_not_converged",
        message="The geometry did not converge within its steps.",
        evidence=evidence([*told, *last], 6),
        remedy="Go on from the last geometry, or optimise with GFN2-xTB beforehand.",
        permanent=True,
    )


def _missing_feature(out: OrcaOutput, marks: Sequence[str], log: Sequence[str]) -> Failure | None:
    told = [line for line in (*marks, *log) if _NUMERICAL.search(line)]
    if not told or out.step.frequencies_per_cm:
        return None
    return Failure(
        error_class="no_analytical_hessian",
        message="This version of ORCA has no analytical second derivatives for this method.",
        evidence=evidence(told, 4),
        remedy="Take another method or solvent model for frequencies.",
        permanent=True,
    )


def _orbitals(out: OrcaOutput, marks: Sequence[str], log: Sequence[str]) -> Failure | None:
    told = [line for line in (*marks, *log) if _NO_ORBITALS.search(line)]
    if not told or reached_the_scf(log):
        return None
    message = "The orbitals of the restart point could not be read."
    return Failure(error_class="restart_unreadable", message=message, evidence=evidence(told, 4))


def _termination(out: OrcaOutput, marks: Sequence[str], log: Sequence[str]) -> Failure | None:
    if not marks:
        return None
    found = next((match for line in marks if (match := _MODULE.search(line))), None)
    where = f" in {found[1]}" if found else ""
    return Failure(
        error_class="program_failed",
        message=f"ORCA ended with an error{where}.",
        evidence=evidence(list(dict.fromkeys([*marks[:6], *(line.strip() for line in evidence(log, 6))]))),
        remedy="Read the output.",
    )
