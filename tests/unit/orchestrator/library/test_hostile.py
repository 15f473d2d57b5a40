"""Files that harm whoever reads them: each is given up with its name and the reason, within time and memory."""

from __future__ import annotations

import re
import time
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from pypdf import PdfReader, PdfWriter

from orchestrator.library import Library, catalogue, documents
from orchestrator.limited import Limits
from tasks.errors import InputError
from tests.library.corpus import write_pdf
from tests.library.shelf import Shelf

TIGHT = Limits(seconds=4, memory_bytes=150 << 20)
GOOD = "A good text on the invented S-07."


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Library:
    """A library with tight limits."""
    monkeypatch.setattr(catalogue, "LIMITS", TIGHT)
    return Library(Shelf())


def pdf(*objects: bytes) -> bytes:
    """Write a PDF of numbered objects, the first of which is its catalogue."""
    out, places = b"%PDF-1.7\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    head = b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    trailer = b"trailer\n<</Size %d/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, len(out))
    return out + head + table + trailer


def showing(content: bytes, pages: int = 1) -> bytes:
    """Write a PDF of pages that all show one compressed stream."""
    packed = zlib.compress(content, 9)
    kids = b" ".join(b"%d 0 R" % number for number in range(5, 5 + pages))
    font = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"
    page = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 3 0 R/Resources<</Font<</F 4 0 R>>>>>>"
    return pdf(
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[%s]/Count %d>>" % (kids, pages),
        b"<</Length %d/Filter/FlateDecode>>stream\n%s\nendstream" % (len(packed), packed),
        font,
        *[page] * pages,
    )


def text_of(length: int) -> bytes:
    return b"BT /F 9 Tf (" + b"a" * length + b") Tj ET"


def nested() -> bytes:
    """Nest page trees more deeply than any stack is."""
    nodes = [b"<</Type/Pages/Kids[%d 0 R]/Count 1>>" % number for number in range(3, 20_003)]
    return pdf(b"<</Type/Catalog/Pages 2 0 R>>", *nodes, b"<</Type/Page/MediaBox[0 0 9 9]>>")


def own_grandchild() -> bytes:
    """Let a page tree hold itself."""
    return pdf(b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[2 0 R 2 0 R]/Count 2>>")


def brackets() -> bytes:
    """Nest arrays more deeply than any stack is."""
    return showing(b"BT " + b"[" * 200_000 + b"] TJ ET")


def bomb() -> bytes:
    """Pack one stream of 400 MB into 0.4 MB."""
    return showing(b"\0" * (400 << 20))


def fat() -> bytes:
    """Show the same 30 MB of text on forty pages."""
    return showing(text_of(30 << 20), pages=40)


def slow() -> bytes:
    """Show three million letters, one after the other."""
    return showing(b"BT /F 9 Tf " + b"(a) Tj 1 0 Td " * 3_000_000 + b"ET")


@pytest.mark.parametrize("make", [nested, own_grandchild, brackets, bomb, fat, slow])
def test_a_pdf_made_to_harm_is_given_up_by_name_and_the_rest_goes_on(
    library: Library, tmp_path: Path, make: Callable[[], bytes]
) -> None:
    path = tmp_path / "evil.pdf"
    path.write_bytes(make())
    begun = time.monotonic()
    with pytest.raises(InputError) as raised:
        library.add(path, path.name)
    assert time.monotonic() - begun < TIGHT.seconds + 3
    assert raised.value.value == "evil.pdf"
    assert re.search("given up|is no PDF that can be read|characters or more", raised.value.problem), raised.value
    (tmp_path / "good.txt").write_text(GOOD)
    assert [one.name for one in library.add(tmp_path / "good.txt", "good.txt").added] == ["good.txt"]


@pytest.mark.parametrize(
    ("make", "limits", "said"),
    [
        (slow, TIGHT, "was given up: reading it took more than 4 s"),
        (fat, Limits(seconds=60, memory_bytes=60 << 20), "was given up: reading it needs more than 60 MB of memory"),
    ],
)
def test_it_says_what_was_too_much(
    library: Library,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    make: Callable[[], bytes],
    limits: Limits,
    said: str,
) -> None:
    monkeypatch.setattr(catalogue, "LIMITS", limits)
    path = tmp_path / "evil.pdf"
    path.write_bytes(make())
    with pytest.raises(InputError) as raised:
        library.add(path, path.name)
    assert said in str(raised.value)
    assert "split it" in raised.value.remedy


def test_a_password_is_asked_for_only_where_one_is_needed(library: Library, tmp_path: Path) -> None:
    plain = PdfReader(write_pdf(tmp_path / "plain.pdf", [GOOD]))
    for name, password in (("locked.pdf", "secret"), ("printable.pdf", "")):
        writer = PdfWriter(clone_from=plain)
        writer.encrypt(password, owner_password="owner", algorithm="RC4-128")
        writer.write(tmp_path / name)
    with pytest.raises(InputError, match=r"locked\.pdf' is encrypted\. Save it without a password\."):
        library.add(tmp_path / "locked.pdf", "locked.pdf")
    (added,) = library.add(tmp_path / "printable.pdf", "printable.pdf").added
    assert added.title == GOOD


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("paper.txt", b"%PDF-1.7\n%\xe2\xe3", "is a PDF by its content. Give it the ending .pdf."),
        ("notes.pdf", b"Only text.", "is no PDF that can be read"),
        ("word.md", b"PK\x03\x04\x14\0\x06\0", "is binary"),
        ("old.txt", "Größe der Poren".encode("latin-1"), "is not UTF-8 text (byte 3)"),
        ("old.txt", "Größe der Poren".encode("latin-1"), "iconv --from-code WINDOWS-1252"),
        ("odd.txt", "\ufeffGröße".encode("utf-16-le") + b"x", "is not UTF-16 text"),
        ("unmarked.txt", "Größe".encode("utf-16-le"), "is not UTF-8 text"),
        ("spaces.txt", b" \n\t ", "holds no text"),
        ("accents.bib", b'@article{a, title = {"', "holds no BibTeX entry that can be read"),
    ],
)
def test_wrong_endings_and_encodings_are_told(
    library: Library, tmp_path: Path, name: str, content: bytes, said: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError) as raised:
        library.add(path, name)
    assert said in str(raised.value)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_text_that_tells_its_encoding_is_read(library: Library, tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("Title: Größe der Poren\n\nµ ≈ 3 Å".encode(encoding))
    (added,) = library.add(path, path.name).added
    assert added.title == "Größe der Poren"


def test_a_text_that_is_too_long_is_told_and_not_read(
    library: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "long.txt"
    with path.open("wb") as stream:
        stream.truncate(50_000_000_000)
    with pytest.raises(InputError, match=r"holds 50,000,000,000 bytes\. At most 10,000,000 characters"):
        library.add(path, path.name)
    monkeypatch.setattr(documents, "MOST_CHARACTERS", 100)
    path.write_text("a" * 101)
    with pytest.raises(InputError, match="holds 101 characters"):
        library.add(path, path.name)
    many = write_pdf(tmp_path / "many.pdf", [GOOD] * 9)
    with pytest.raises(InputError, match=r"holds 1\d\d characters or more"):
        library.add(many, many.name)


LATEX = r"""
@article{erdos, author = {Erd{\H o}s, P{\'a}l and {\O}rsted, H. and Fran\c{c}ois, J. and Ha\v{c}ek, I. and {\AA}s, B.},
  title = {{\"U}ber $\alpha$-{M}ethyl \& 50\,\% of {H$_2$O}}, year = {1999}, file = {:gone\:with/paper.pdf:PDF}}
"""


def test_a_bibliography_with_accents_of_latex_and_a_file_that_is_not_there(library: Library, tmp_path: Path) -> None:
    path = tmp_path / "a.bib"
    path.write_text(LATEX)
    (added,) = library.add(path, "a.bib").added
    assert added.authors == ("Pál Erdős", "H. Ørsted", "J. François", "I. Haček", "B. Ås")
    assert added.title == "Über α-Methyl & 50 % of H2O"
    assert added.name == "paper.pdf"
