"""Which files of a folder `library add` takes: none twice, none in circles, and what cannot be read is named."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from orchestrator.cli.library import _files
from tasks.errors import InputError


def test_folders_are_taken_with_all_below_bibliographies_first(tmp_path: Path) -> None:
    for name in ("b.pdf", "deep/er/a.MD", "deep/z.bib", "table.csv", ".hidden.txt", ".git/c.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    files, others, failed = _files([tmp_path, tmp_path / "b.pdf"])
    assert [str(one.relative_to(tmp_path)) for one in files] == ["deep/z.bib", "b.pdf", "deep/er/a.MD"]
    assert (others, failed) == (1, [])


def test_links_in_circles_end_and_what_is_no_file_is_named(tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "good.txt").write_text("x")
    (folder / "linked.txt").symlink_to("good.txt")
    (folder / "again").symlink_to("..", target_is_directory=True)
    (folder / "gone.pdf").symlink_to("nowhere.pdf")
    (folder / "self.md").symlink_to("self.md")
    os.mkfifo(folder / "pipe.txt")
    files, others, failed = _files([folder])
    assert [one.name for one in files] == ["good.txt", "linked.txt"]
    assert others == 1
    assert [Path(one["file"]).name for one in failed] == ["gone.pdf", "pipe.txt", "self.md"]
    assert all(one["error"] == "is a link to nothing, or no file with content" for one in failed)


def test_a_folder_that_may_not_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "closed").mkdir()
    (tmp_path / "good.txt").write_text("x")
    real = os.scandir

    def scandir(path: str) -> object:
        if Path(path).name == "closed":
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    # Root may read everything, so the refusal has to be made.
    monkeypatch.setattr(os, "scandir", scandir)
    files, _, failed = _files([tmp_path])
    assert [one.name for one in files] == ["good.txt"]
    assert failed == [{"file": str(tmp_path / "closed"), "error": "cannot be read: Permission denied"}]


def test_a_path_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is neither a file nor a folder"):
        _files([tmp_path / "nowhere"])
