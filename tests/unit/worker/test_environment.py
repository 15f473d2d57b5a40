"""The variables of an engine's program: nothing of a surrounding scheduler or MPI, and no secret."""

from __future__ import annotations

import pytest

from worker.environment import engine_environment


@pytest.mark.parametrize(
    "name",
    [
        "SIMRELAY_REDIS_URL", "SLURM_NTASKS", "SLURM_JOB_ID", "PBS_NODEFILE", "LSB_HOSTS", "PE_HOSTFILE",
        "PMI_RANK", "PMIX_NAMESPACE", "OMPI_COMM_WORLD_RANK", "OMPI_MCA_btl", "OPAL_PREFIX", "PRTE_MCA_ras",
        "I_MPI_ROOT",
    ],
)  # fmt: skip
def test_a_program_that_brings_its_own_mpi_sees_none_around_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "x")
    monkeypatch.setenv("LANG", "C")
    assert name not in engine_environment()
    assert engine_environment()["LANG"] == "C"
