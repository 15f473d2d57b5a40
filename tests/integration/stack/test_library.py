"""The library as it is typed: a folder of good and bad files, answers with sources, and runs that ask it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.integration.stack.test_stack import Installation
from tests.library.corpus import write_pdf
from tests.programs import programs_toml
from tests.unit.orchestrator.library.test_hostile import own_grandchild

ONE = "Title: On the invented S-07\nAuthors: Ann Bee; Cid Dole\nYear: 2020\n\nMembrane S-07 conducts 118 mS/cm."
BIB = r"""@article{mueller, title = {Rings of piperidinium}, author = {M{\"u}ller, Jos{\'e}}, year = 2001,
  doi = {10.5555/t}, file = {rings.pdf}}
"""
SAID = "“Hofmann elimination opens the ring of piperidinium.” [1]"


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """A stack that runs, with one declared program; nothing of it is left afterwards."""
    installation = Installation(tmp_path_factory.mktemp("library") / "home")
    installation.home.mkdir(mode=0o700)
    (installation.home / "programs.toml").write_text(programs_toml(installation.home))
    (installation.home / "engines.toml").write_text("[engines]\n")
    up = installation.call("up")
    assert up.returncode == 0, up.stderr
    yield installation
    installation.call("down")
    for process in installation.processes():
        process.kill()


@pytest.fixture(scope="module")
def added(installation: Installation, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What `library add` says of a folder with everything that a folder may hold."""
    folder = tmp_path_factory.mktemp("papers")
    (folder / "one.txt").write_text(ONE)
    (folder / "copy of one.md").write_text(ONE)
    (folder / "refs.bib").write_text(BIB)
    write_pdf(folder / "rings.pdf", ["An invented report", "Hofmann elimination opens the ring of piperidinium."])
    write_pdf(folder / "scan.pdf", [""])
    (folder / "evil.pdf").write_bytes(own_grandchild())
    (folder / "empty.txt").touch()
    (folder / "old.txt").write_bytes("Größe".encode("latin-1"))
    (folder / "gone.pdf").symlink_to("nowhere.pdf")
    # It is there, may be opened, and gives an error when it is read, even to root.
    (folder / "unreadable.txt").symlink_to("/proc/self/mem")
    (folder / "circle").symlink_to(".", target_is_directory=True)
    (folder / "table.csv").write_text("a,b")
    done = installation.call("library", "add", str(folder), "--json")
    assert done.returncode == 2, done.stderr
    said: dict[str, Any] = json.loads(done.stdout)
    said["stderr"] = done.stderr
    return said


def test_what_can_be_read_is_added_and_all_else_is_named(added: dict[str, Any]) -> None:
    assert len(added["added"]) == 3
    (twice,) = added["duplicates"]
    assert {Path(twice["file"]).name, twice["there_as"]} == {"one.txt", "copy of one.md"}
    failed = {Path(one["file"]).name: one["error"] for one in added["failed"]}
    assert failed.keys() == {"scan.pdf", "evil.pdf", "empty.txt", "old.txt", "gone.pdf", "unreadable.txt"}
    assert "OCR" in failed["scan.pdf"]
    assert "is not UTF-8" in failed["old.txt"]
    assert added["left_alone"] == 2
    for name in (*failed, Path(twice["file"]).name):
        assert name in added["stderr"]
    assert "3 documents added, 1 skipped, 6 not read" in added["stderr"]


def test_it_is_listed_searched_indexed_anew_and_removed(installation: Installation, added: dict[str, Any]) -> None:
    listed = installation.call("library", "list")
    assert listed.returncode == 0
    assert "José Müller" in listed.stdout and "rings.pdf" in listed.stdout
    asked = installation.call("library", "search", "What opens the ring of piperidinium?")
    assert asked.returncode == 0
    assert SAID in asked.stdout
    assert "[1] Müller (2001), Rings of piperidinium, p. 2, chunk 2, doi:10.5555/t" in asked.stdout
    assert "searched by BM25" in asked.stderr
    nothing = installation.call("library", "search", "perovskite solar cells")
    assert (nothing.returncode, nothing.stdout) == (0, "Nothing found on this in the 3 documents of the library.\n")
    assert installation.json("library", "reindex")["method"] == "BM25"
    assert installation.call("library", "search", "?!").returncode == 2
    assert installation.call("library", "remove", "0123456789ab").returncode == 4
    # What is removed is gone, and may come back.
    spare = installation.home / "spare.txt"
    spare.write_text("A spare text on queues.")
    (record,) = installation.json("library", "add", str(spare))["added"]
    removed = installation.call("library", "remove", record["id"][:12])
    assert removed.stdout == f"removed {record['id'][:12]} A spare text on queues.\n"
    assert len(installation.json("library", "list")["documents"]) == 3


def test_a_run_answers_out_of_the_library_with_numbered_citations(
    installation: Installation, added: dict[str, Any]
) -> None:
    done = installation.call("run", "What do my documents say about the ring of piperidinium?")
    assert done.returncode == 0, done.stderr
    assert SAID in done.stdout
    report = _report(done.stdout)
    assert "Hofmann elimination opens the ring of piperidinium.” \\[1\\]" in report
    assert "| No. | Source | Page | Chunk | DOI |" in report
    assert "| 1 | Müller (2001), Rings of piperidinium | 2 | 2 | 10.5555/t |" in report


def test_a_run_that_finds_nothing_says_so_and_has_not_failed(installation: Installation, added: dict[str, Any]) -> None:
    done = installation.call("run", "What do my documents say about perovskite solar cells?")
    assert done.returncode == 0, done.stderr
    said = "Nothing found on this in the 3 documents of the library."
    assert said in done.stdout
    assert said in _report(done.stdout)


def test_a_web_search_without_a_key_is_refused_and_names_the_setting(installation: Installation) -> None:
    done = installation.call("run", "Search the web for new anion exchange membranes")
    assert done.returncode == 1
    assert "SIMRELAY_TAVILY_KEY" in done.stderr
    assert "nothing was searched" in done.stderr


def _report(said: str) -> str:
    (path,) = [line.split(":", 1)[1].strip() for line in said.splitlines() if line.startswith("report:")]
    return Path(path).read_text()
