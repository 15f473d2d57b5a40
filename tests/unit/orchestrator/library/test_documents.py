"""Reading files: what is known of a document, its pages, and files that cannot be read."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from orchestrator.library.documents import clean, read
from tasks.errors import InputError
from tests.library.corpus import write_pdf


def written(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_a_pdf_is_read_page_by_page_with_what_it_says_of_itself(tmp_path: Path) -> None:
    pages = ["First page of the invented report. doi: 10.5555/ab.12-3. Published: 4 May 2021", "Second page."]
    path = write_pdf(tmp_path / "a.pdf", pages, title="An invented report", authors="Ann Bee; Cid Dole")
    (document,) = read(path, "a.pdf").documents
    assert (document.kind, document.title, document.authors) == ("pdf", "An invented report", ("Ann Bee", "Cid Dole"))
    assert (document.year, document.doi) == (2021, "10.5555/ab.12-3")
    assert document.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert [page.strip() for page in document.pages] == pages


def test_what_a_pdf_does_not_say_is_not_made_up(tmp_path: Path) -> None:
    path = write_pdf(tmp_path / "b.pdf", ["A heading\n\nIn 1987 nothing happened."])
    (document,) = read(path, "b.pdf").documents
    assert (document.title, document.authors, document.year, document.doi) == ("A heading", (), None, "")


@pytest.mark.parametrize(
    ("name", "content", "title", "authors", "year", "doi"),
    [
        (
            "a.md",
            "---\ntitle: On X\nauthors: [Ann Bee, Cid Dole]\nyear: 2020\ndoi: https://doi.org/10.5555/x.1\n---\n\nText.",
            *("On X", ("Ann Bee", "Cid Dole"), 2020, "10.5555/x.1"),
        ),
        (
            "no yaml.md",
            "---\ntitle: On X: more\nauthors: [Ann Bee, Cid Dole]\nyear: 2020\n---\n\nText.",
            *("On X: more", ("Ann Bee", "Cid Dole"), 2020, ""),
        ),
        ("b.md", "# Head\n\nText, see 10.5555/y.2.", "Head", (), None, "10.5555/y.2"),
        ("c.md", "--- no front matter\n\nText.", "--- no front matter", (), None, ""),
        (
            "d.txt",
            "Title: On Z\nAuthors: Bee, Ann; Dole, Cid\nYear: 1999\n\nText.",
            "On Z",
            ("Bee, Ann", "Dole, Cid"),
            1999,
            "",
        ),
        ("e.TXT", "\ufeffFirst line\nmore", "First line", (), None, ""),
    ],
)
def test_text_is_read(
    tmp_path: Path, name: str, content: str, title: str, authors: tuple[str, ...], year: int | None, doi: str
) -> None:
    (document,) = read(written(tmp_path, name, content), name).documents
    assert (document.title, document.authors, document.year, document.doi) == (title, authors, year, doi)
    assert "title:" not in document.pages[0].lower()


BIB = r"""
@article{bee2020, author = {Bee, Ann and M{\"u}ller, Jos{\'e}}, title = {On the invented {S-07}}, year = 2020,
  doi = {10.5555/x.1}, abstract = {It conducts.}, file = {:papers/bee.pdf:PDF}}
@book{dole, title = {Second}, editor = {Cid Dole}, date = {1998-05}}
@misc{untitled, note = {nothing}}
@article{broken, title = {no end
"""


def test_a_bibliography_is_a_document_an_entry_and_what_is_broken_is_named(tmp_path: Path) -> None:
    reading = read(written(tmp_path, "a.bib", BIB), "a.bib")
    first, second = reading.documents
    assert (first.name, first.title, first.authors) == ("bee2020", "On the invented S-07", ("Ann Bee", "José Müller"))
    assert (first.year, first.doi, first.file) == (2020, "10.5555/x.1", "bee.pdf")
    assert "It conducts." in first.pages[0]
    assert (second.title, second.authors, second.year) == ("Second", ("Cid Dole",), 1998)
    assert len(reading.problems) == 2
    assert any("untitled: has no title" in problem for problem in reading.problems)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.docx", b"x", "is of a kind that the library does not read"),
        ("a.txt", b"", "holds no text"),
        ("a.txt", b"caf\xe9", "is not UTF-8 text (byte 4)"),
        ("a.md", b"a\0b", "is binary"),
        ("a.pdf", b"", "is no PDF that can be read"),
        ("a.pdf", b"%PDF-1.7 nonsense", "is no PDF that can be read"),
        ("a.bib", b"no entries", "holds no BibTeX entry"),
    ],
)
def test_what_cannot_be_read_is_said_with_a_remedy(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    with pytest.raises(InputError) as raised:
        read(written(tmp_path, name, content), name)
    assert said in str(raised.value)
    assert raised.value.remedy


def test_a_pdf_without_text_is_probably_a_scan(tmp_path: Path) -> None:
    path = write_pdf(tmp_path / "scan.pdf", [""])
    with pytest.raises(InputError, match="OCR"):
        read(path, "scan.pdf")


def test_a_damaged_pdf_is_no_traceback(tmp_path: Path) -> None:
    whole = write_pdf(tmp_path / "a.pdf", ["Some text."] * 3).read_bytes()
    for cut in range(50, len(whole), 97):
        path = written(tmp_path, "cut.pdf", whole[:cut])
        try:
            read(path, "cut.pdf")
        except InputError:
            continue


def test_control_characters_are_left_out() -> None:
    assert clean("a\x1b[31mb\u202ec\x00\r\nd\u00ade") == "a[31mbc\nde"
