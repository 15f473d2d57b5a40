from __future__ import annotations

from pathlib import Path

from tasks import workspace as files
from worker.engines.base import Snapshot
from worker.staging import CheckpointStager


def test_a_file_that_did_not_change_since_the_last_checkpoint_is_linked_not_copied(tmp_path: Path) -> None:
    scratch, folder = tmp_path / "scratch", tmp_path / "workspace" / "jobs" / "a1"
    scratch.mkdir()
    folder.mkdir(parents=True)
    still, moving = scratch / "run.tpr", scratch / "run.cpt"
    still.write_bytes(b"large")
    stager = CheckpointStager(tmp_path / "workspace", folder, 0, files.idle)
    staged = []
    for number in range(4):
        (scratch / "new").write_bytes(b"checkpoint %d" % number)
        (scratch / "new").replace(moving)
        staged.append(stager.stage(Snapshot(files=(still, moving), text="")))
        assert stager.stage(Snapshot(files=(still, moving), text="")) is None
    assert [one.number for one in staged if one] == [1, 2, 3, 4]
    newest = staged[-1]
    assert newest
    for artifact in newest.files:
        assert files.intact(artifact, tmp_path / "workspace")
    # Only the newest two are kept, and they share what did not change.
    kept = sorted((folder / "checkpoints").iterdir())
    assert [path.name for path in kept] == ["000003", "000004"]
    assert len({(path / "run.tpr").stat().st_ino for path in kept}) == 1
    assert len({(path / "run.cpt").stat().st_ino for path in kept}) == 2
