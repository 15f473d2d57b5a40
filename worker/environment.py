"""The variables that an engine's program gets: the worker's own, without secrets and without a scheduler's."""

from __future__ import annotations

import os

#: set by Slurm, PBS and their MPI launchers; a program that brings its own MPI misreads them
_SCHEDULER = (
    "SLURM_", "SLURMD_", "SRUN_", "PBS_", "LSB_", "PE_HOSTFILE", "FLUX_",
    "PMI_", "PMIX_", "PMIXP_", "OMPI_", "OPAL_", "ORTE_", "PRTE_", "MPIEXEC_", "HYDRA_", "I_MPI_",
)  # fmt: skip


def engine_environment() -> dict[str, str]:
    """Give the variables for an engine's program."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("SIMRELAY_") and not name.startswith(_SCHEDULER)
    }
