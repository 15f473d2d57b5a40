"""The engine for GROMACS without GROMACS: stages, restart points, and what its outputs tell.

The lines of output are ours, after those that GROMACS 2022 writes (Reference Manual, mdrun and error messages).
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tasks.dynamics import DynamicsSpec
from tasks.errors import InputError
from tasks.results import Correction, Failure
from worker.corrections.blow_up import blow_up
from worker.corrections.damaged_checkpoint import damaged_checkpoint
from worker.corrections.small_box import small_box
from worker.engines.base import Bench, Exit, Offer
from worker.engines.gromacs import Gromacs
from worker.engines.gromacs_log import diagnose, newest_step
from worker.engines.gromacs_restart import checkpoint_key, freeze, lay_out, pieces, whole_structure

GRO = "water\n    3\n    1SOL     OW    1   0.1   0.2   0.3\n    1SOL    HW1    2   0.1   0.2   0.3\n"
WHOLE = f"{GRO}    1SOL    HW2    3   0.1   0.2   0.3\n   2.0   2.0   2.0\n"


@pytest.fixture
def engine() -> Gromacs:
    return Gromacs(Offer(engine="gromacs", version="2022.5", command=("gmx",)))


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIMRELAY_HOME", str(tmp_path / "home"))


def bench(scratch: Path, *corrections: Correction, restart: Path | None = None, **changes: Any) -> Bench[DynamicsSpec]:
    scratch.mkdir(exist_ok=True)
    data = {"system": {"water": 216, "edge_nm": 1.9}, "cutoff_nm": 0.8, "production_ps": 100, **changes}
    spec = DynamicsSpec.model_validate(data)
    return Bench(spec=spec, scratch=scratch, cores=2, memory_mb=500, restart=restart, corrections=corrections)


def words(engine: Gromacs, on: Bench[DynamicsSpec]) -> list[str]:
    """Prepare, and give each command by the word that tells which it is."""
    known = ("dynamics_build", "dynamics_analysis", "grompp", "mdrun")
    found = []
    for command in engine.prepare(on):
        word = next(word for word in known if any(word in part for part in command.argv))
        stage = command.argv[command.argv.index("-deffnm") + 1] if word == "mdrun" else ""
        found.append(f"{word} {stage}".strip())
    return found


def at_stage(scratch: Path, stage: str, finished: str = "", checkpoint: bytes = b"newest") -> None:
    """Make the files of a run that is within a stage."""
    (scratch / "build.json").write_text("{}")
    (scratch / "system.gro").write_text(WHOLE)
    (scratch / "topol.top").write_text("[ system ]\n")
    if finished:
        (scratch / f"{finished}.gro").write_text(WHOLE)
    (scratch / f"{stage}.tpr").write_bytes(b"run input")
    (scratch / f"{stage}.cpt").write_bytes(checkpoint)
    for suffix in ("xtc", "edr", "log"):
        (scratch / f"{stage}.{suffix}").write_bytes(suffix.encode() * 1000)


def test_all_stages_are_one_chain_from_building_to_analysing(engine: Gromacs, tmp_path: Path) -> None:
    assert words(engine, bench(tmp_path / "scratch")) == [
        "dynamics_build",
        *("grompp", "mdrun minimisation", "grompp", "mdrun nvt", "grompp", "mdrun npt", "grompp", "mdrun production"),
        "dynamics_analysis",
    ]
    mdp = (tmp_path / "scratch" / "production.mdp").read_text()
    assert "nsteps = 50000\n" in mdp and "dt = 0.002\n" in mdp and "nstxout-compressed = 500\n" in mdp
    assert "pcoupl = C-rescale" in mdp and "gen-vel = no" in mdp
    assert "gen-vel = yes" in (tmp_path / "scratch" / "nvt.mdp").read_text()


def test_stages_of_no_length_are_left_out(engine: Gromacs, tmp_path: Path) -> None:
    on = bench(tmp_path / "scratch", nvt_ps=0, npt_ps=0, minimisation_steps=0, ensemble="NVT")
    assert words(engine, on) == ["dynamics_build", "grompp", "mdrun production", "dynamics_analysis"]
    mdp = (tmp_path / "scratch" / "production.mdp").read_text()
    assert "gen-vel = yes" in mdp and "pcoupl = no" in mdp


def test_a_spec_that_was_not_completed_is_refused(engine: Gromacs, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="was not completed before submission"):
        engine.prepare(bench(tmp_path / "scratch", system={"water": 216}))


def test_a_finished_stage_is_never_run_again_and_the_next_goes_on(engine: Gromacs, tmp_path: Path) -> None:
    first = bench(tmp_path / "first")
    engine.prepare(first)
    assert engine.snapshot(first) is None
    at_stage(first.scratch, "npt", finished="nvt")
    snapshot = engine.snapshot(first)
    assert snapshot is not None
    kept = tmp_path / "kept"
    kept.mkdir()
    for path in snapshot.files:
        (kept / path.name).write_bytes(path.read_bytes())
    again = bench(tmp_path / "again", restart=kept)
    assert words(engine, again) == ["mdrun npt", "grompp", "mdrun production", "dynamics_analysis"]
    assert (again.scratch / "npt.xtc").read_bytes() == b"xtc" * 1000
    assert (again.scratch / "npt.cpt").read_bytes() == b"newest"
    # Nothing is beyond the restart point yet: a copy of it would look like progress.
    assert engine.snapshot(again) is None


def test_a_damaged_checkpoint_gives_way_to_the_one_before_and_then_to_a_new_beginning(
    engine: Gromacs, tmp_path: Path
) -> None:
    on = bench(tmp_path / "scratch")
    engine.prepare(on)
    at_stage(on.scratch, "npt", finished="nvt")
    (on.scratch / "npt_prev.cpt").write_bytes(b"before")
    snapshot = engine.snapshot(on)
    assert snapshot
    kept = tmp_path / "kept"
    kept.mkdir()
    for path in snapshot.files:
        (kept / path.name).write_bytes(path.read_bytes())
    failure = Failure(error_class="checkpoint_damaged", message="")
    first = engine.correct(on, failure)
    assert first and first.changes == {"damaged_checkpoint": checkpoint_key(on.scratch / "npt.cpt")}
    corrected = bench(tmp_path / "second", first, restart=kept)
    assert words(engine, corrected)[0] == "mdrun npt"
    assert (corrected.scratch / "npt.cpt").read_bytes() == b"before"
    second = engine.correct(corrected, failure)
    assert second
    anew = bench(tmp_path / "third", first, second, restart=kept)
    assert words(engine, anew)[:2] == ["grompp", "mdrun npt"]
    assert not (anew.scratch / "npt.cpt").exists()


def test_a_corrected_time_step_begins_the_stage_anew_and_keeps_those_before(engine: Gromacs, tmp_path: Path) -> None:
    on = bench(tmp_path / "scratch")
    engine.prepare(on)
    at_stage(on.scratch, "npt", finished="nvt")
    snapshot = engine.snapshot(on)
    assert snapshot
    correction = engine.correct(on, Failure(error_class="blow_up", message=""))
    assert correction and correction.changes == {"time_step_fs": 1.0}
    restart = tmp_path / "kept"
    restart.mkdir()
    for path in snapshot.files:
        (restart / path.name).write_bytes(path.read_bytes())
    again = bench(on.scratch, correction, restart=restart)
    assert words(engine, again)[:2] == ["grompp", "mdrun npt"]
    assert "dt = 0.001\n" in (again.scratch / "npt.mdp").read_text()
    assert not (again.scratch / "npt.xtc").exists()


def test_an_nvt_that_blew_up_is_first_minimised_again(engine: Gromacs, tmp_path: Path) -> None:
    on = bench(tmp_path / "scratch")
    engine.prepare(on)
    at_stage(on.scratch, "nvt", finished="minimisation")
    snapshot = engine.snapshot(on)
    assert snapshot
    restart = tmp_path / "kept"
    restart.mkdir()
    for path in snapshot.files:
        (restart / path.name).write_bytes(path.read_bytes())
    correction = engine.correct(on, Failure(error_class="blow_up", message=""))
    assert correction and correction.changes["minimisation_tolerance"] == 100
    again = bench(on.scratch, correction, restart=restart)
    assert words(engine, again)[:2] == ["grompp", "mdrun minimisation"]
    assert "emtol = 100\n" in (again.scratch / "minimisation.mdp").read_text()


def test_corrections_have_caps() -> None:
    tried: list[Correction] = []
    step = 2.0
    while correction := blow_up(tried, "nvt", step, 1000):
        tried.append(correction)
        step = float(correction.changes.get("time_step_fs", step))
    assert [sorted(one.changes) for one in tried] == [
        ["minimisation_steps", "minimisation_tolerance"],
        ["time_step_fs"],
        ["time_step_fs"],
    ]
    assert step == 0.5
    wider = small_box([], packing=True, cutoff_nm=1.0)
    assert wider and wider.changes == {"box_scale": 1.1}
    assert small_box([wider, wider], packing=True, cutoff_nm=1.0) is None
    assert small_box([], packing=False, cutoff_nm=0.8) is None
    once = damaged_checkpoint([], "npt", "key")
    assert once and damaged_checkpoint([once], "npt", "key") is None


def test_growing_files_are_kept_as_few_pieces_that_never_change(tmp_path: Path) -> None:
    path, content = tmp_path / "production.xtc", b""
    (tmp_path / "production.tpr").write_bytes(b"tpr")
    copied = 0
    known: dict[str, int] = {}
    for number in range(64):
        content += bytes([number]) * (1000 + number)
        path.write_bytes(content)
        (tmp_path / "new").write_bytes(b"checkpoint %d" % number)
        (tmp_path / "new").replace(tmp_path / "production.cpt")
        frozen = freeze(tmp_path, "production", [tmp_path / "production.tpr"])
        parts = [file for file in frozen if file.name.startswith("production.xtc")]
        assert b"".join(part.read_bytes() for part in parts) == content
        copied += sum(p.stat().st_size for p in parts if known.get(p.name) != p.stat().st_ino)
        known = {p.name: p.stat().st_ino for p in parts}
    assert len(pieces(tmp_path / "keep", "production.xtc")) <= 7
    # Each byte is copied about once for each doubling (6), not once for each restart point (32 times on average).
    assert copied < 8 * len(content)
    target = tmp_path / "elsewhere"
    target.mkdir()
    lay_out(tmp_path / "keep", target)
    assert (target / "production.xtc").read_bytes() == content


@pytest.mark.parametrize(("text", "whole"), [(WHOLE, True), (GRO, False), (WHOLE[:-5], False), ("", False)])
def test_a_structure_that_was_cut_off_is_no_end_of_a_stage(tmp_path: Path, text: str, whole: bool) -> None:
    (tmp_path / "npt.gro").write_text(text)
    assert whole_structure(tmp_path / "npt.gro") is whole


def test_progress_tells_stage_step_and_total(engine: Gromacs, tmp_path: Path) -> None:
    on = bench(tmp_path / "scratch")
    engine.prepare(on)
    log = on.scratch / "production.log"
    log.write_text("           Step           Time\n           1000        2.00000\n\n   Energies (kJ/mol)\n")
    progress = engine.progress(on)
    assert progress and (progress.stage, progress.step, progress.total) == ("production", 1000, 50_000)
    assert progress.text.startswith("production 2 of 100 ps")
    log.write_text("           Step           Time\n           6000       12.00000\n")
    later = engine.progress(on)
    assert later and "ns/day, ends about" in later.text
    assert newest_step(tmp_path / "nothing.log") is None


HEAD = "\n-------------------------------------------------------\nProgram:     gmx {program}, version 2022.5\n\n"
FATAL = HEAD + "Fatal error:\n{text}\n\nFor more information and tips for troubleshooting, please check the website\n"


@pytest.mark.parametrize(
    ("output", "code", "expected"),
    [
        ("Step 12, time 0.024 (ps)  LINCS WARNING\nrelative constraint deviation after LINCS:\n", -11, "blow_up"),
        ("step 3: One or more water molecules can not be settled.\n", 139, "blow_up"),
        ("starting mdrun 'water'\n", -11, "blow_up"),
        (FATAL.format(program="mdrun", text="Checkpoint file corrupted/truncated, or maybe out of disk"), 1,
         "checkpoint_damaged"),
        (FATAL.format(program="mdrun", text="Checksum wrong for file 'production.xtc'."), 1, "checkpoint_damaged"),
        (FATAL.format(program="grompp", text="The cut-off length is longer than half the shortest box vector"), 1,
         "box_too_small"),
        ("Received the TERM signal, stopping within 20 steps\n", 1, "killed"),
        (FATAL.format(program="mdrun", text="No such moleculetype X"), 1, "program_failed"),
        ("", -9, "killed"),
    ],
)  # fmt: skip
def test_failures_are_told_apart_by_what_was_written(tmp_path: Path, output: str, code: int, expected: str) -> None:
    log = tmp_path / "output.log"
    log.write_text(output)
    assert diagnose(log, [Exit(code=0), Exit(code=code)]).error_class == expected


def test_what_grompp_refuses_in_the_user_s_topology_is_bad_input(tmp_path: Path) -> None:
    log = tmp_path / "output.log"
    log.write_text(FATAL.format(program="grompp", text="number of coordinates (3) does not match topology (6)"))
    failure = diagnose(log, [Exit(code=1)], own_files=True)
    assert (failure.error_class, failure.permanent) == ("bad_input", True)
    assert "does not match topology" in failure.message
    assert diagnose(log, [Exit(code=1)]).error_class == "program_failed"


def test_an_exit_code_of_zero_alone_is_no_success(engine: Gromacs, tmp_path: Path) -> None:
    on = bench(tmp_path / "scratch")
    engine.prepare(on)
    result = {
        "molecules": {"water": 1},
        "atoms": 3,
        "frames": 2,
        "production_ps": 1,
        "temperature_kelvin": {"value": 300},
        "density_g_per_cm3": {"value": 1},
        "edge_nm": 1,
    }
    exits = [Exit(code=0)]
    assert not engine.ended_well(on, exits)
    (on.scratch / "result.json").write_text(json.dumps(result))
    (on.scratch / "output.log").write_text("SIMRELAY ANALYSIS ENDED NORMALLY\n")
    assert not engine.ended_well(on, exits)
    (on.scratch / "production.gro").write_text(WHOLE)
    assert engine.ended_well(on, exits)
    assert not engine.ended_well(on, [Exit(code=0), Exit(code=1)])
