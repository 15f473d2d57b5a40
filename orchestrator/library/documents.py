"""Reading files: PDF page by page, Markdown, text, and BibTeX, whose entries are documents of their own."""

from __future__ import annotations

import codecs
import hashlib
import importlib
import logging
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from orchestrator.library.store import Kind
from tasks.errors import InputError

#: ending of a file -> what it is
KINDS: dict[str, Kind] = {
    ".pdf": "pdf",
    ".md": "markdown",
    ".markdown": "markdown",
    ".txt": "text",
    ".text": "text",
    ".bib": "bibtex",
    ".bibtex": "bibtex",
}
_MOST_PAGES = 2000
#: what one document may hold, in characters: some 4,000 pages
MOST_CHARACTERS = 10_000_000
#: marks of order of bytes, which tell an encoding for certain; the longer ones first
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_DOI = re.compile(r"\b10\.\d{4,9}/[-._;()/:A-Za-z0-9]+")
#: a year that says of itself that it is that of publication; any other year in a text may be anything
_PUBLISHED = re.compile(
    r"(?:©|\(c\)|copyright|published(?:\s+online)?:?|first published:?)"
    r"[^\n\d]{0,20}(?:\d{1,2}\s+\w+\s+)?((?:19|20)\d\d)\b",
    re.IGNORECASE,
)
_HEADER = re.compile(r"(title|authors?|year|date|doi)\s*:\s*(.+)", re.IGNORECASE)
_NO_TITLE = re.compile(r"untitled|microsoft word|\.(?:docx?|tex|dvi|indd|pdf)$|^[\W\d]*$", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Document:
    """A document that was read.

    Attributes
    ----------
    sha256
        Of the file's bytes; of a BibTeX entry, of its fields.
    pages
        Text of each page; what has no pages is one.
    file
        Of a BibTeX entry: the name of the file that it describes, if it says so.
    """

    name: str
    kind: Kind
    title: str
    sha256: str
    pages: tuple[str, ...]
    authors: tuple[str, ...] = ()
    year: int | None = None
    doi: str = ""
    file: str = ""


@dataclass(frozen=True, kw_only=True)
class Reading:
    """What a file held; problems: what of it could not be read, one line each."""

    documents: tuple[Document, ...]
    problems: tuple[str, ...] = ()


@dataclass
class _Facts:
    """What is known of a document besides its text, empty where nothing says it."""

    title: str = ""
    authors: tuple[str, ...] = ()
    year: int | None = None
    doi: str = ""
    #: what each of these was called in the file
    given: Mapping[str, object] = field(default_factory=dict)


def read(path: Path, name: str) -> Reading:
    """Read a file.

    Parameters
    ----------
    name
        What its user calls it; its ending says what it is.

    Raises
    ------
    InputError
        If it is of another kind, cannot be read, or holds no text.
    """
    kind = kind_of(name)
    if kind != "pdf" and path.stat().st_size > 4 * MOST_CHARACTERS:
        raise _too_long(name, path.stat().st_size, "bytes")
    content = path.read_bytes()
    if kind != "pdf" and content.startswith(b"%PDF-"):
        raise InputError("file", name, "is a PDF by its content", "Give it the ending .pdf.")
    if kind == "bibtex":
        return _read_bibtex(_decoded(content, name), name)
    if kind == "pdf":
        pages, facts = _read_pdf(path, name)
    else:
        text = _decoded(content, name)
        facts, body = _front_matter(text) if kind == "markdown" else _header(text)
        pages = (clean(body),)
    if not any(page.strip() for page in pages):
        remedy = "If it is a scan, have it recognised (OCR) first." if kind == "pdf" else "Give a file with text."
        raise InputError("file", name, "holds no text", remedy)
    if (length := sum(map(len, pages))) > MOST_CHARACTERS:
        raise _too_long(name, length, "characters")
    start = "\n".join(pages[:2])
    doi = _DOI.search(facts.doi) or _DOI.search(start)
    year = facts.year or next((int(match[1]) for match in _PUBLISHED.finditer(start)), None)
    document = Document(
        name=name,
        kind=kind,
        title=_shown(facts.title or _first_line(pages, kind) or Path(name).stem),
        authors=facts.authors,
        year=year,
        doi=doi[0].rstrip(".,;:)") if doi else "",
        sha256=hashlib.sha256(content).hexdigest(),
        pages=pages,
    )
    return Reading(documents=(document,))


def load_parsers(kind: Kind) -> None:
    """Load what reads files of a kind, so that a process forked from this one need not."""
    for module in {"pdf": ("pypdf",), "bibtex": ("bibtexparser.entrypoint", "bibtexparser.middlewares")}.get(kind, ()):
        importlib.import_module(module)


def kind_of(name: str) -> Kind:
    """Tell what a file is by its name; raises InputError if the library does not read such files."""
    kind = KINDS.get(Path(name).suffix.lower())
    if kind is None:
        raise InputError("file", name, "is of a kind that the library does not read", f"Give {', '.join(KINDS)}.")
    return kind


def clean(text: str) -> str:
    """Give text without control characters, which could steer a terminal, and with one kind of line end."""
    text = unicodedata.normalize("NFC", text.replace("\r\n", "\n").replace("\r", "\n").replace("\f", "\n"))
    kept = (c if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Co") else "" for c in text)
    return "".join(kept)


def _too_long(name: str, size: int, unit: str) -> InputError:
    remedy = f"At most {MOST_CHARACTERS:,} characters of text are taken: split it."
    return InputError("file", name, f"holds {size:,} {unit}", remedy)


def _decoded(content: bytes, name: str) -> str:
    encoding = next((named for mark, named in _MARKS.items() if content.startswith(mark)), "utf-8")
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        problem = f"is not {encoding.removesuffix('-sig').upper()} text (byte {error.start + 1})"
        remedy = "Save it as UTF-8; from an old Western encoding: iconv --from-code WINDOWS-1252 --to-code UTF-8."
        raise InputError("file", name, problem, remedy) from None
    if "\0" in text:
        raise InputError("file", name, "is binary, not text", "Give a text file, or one with the ending that it has.")
    return text


def _shown(text: str) -> str:
    line = " ".join(clean(text).split())
    return line if len(line) <= 300 else f"{line[:299]}…"


def _first_line(pages: Sequence[str], kind: Kind) -> str:
    lines = [line.strip() for line in pages[0].splitlines() if line.strip()]
    if kind == "markdown":
        headings = [line.lstrip("#").strip() for line in lines if re.match(r"#{1,2}\s", line)]
        lines = headings or lines
    return lines[0] if lines else ""


def _year(value: object) -> int | None:
    match = re.search(r"\b(1[5-9]|20)\d\d\b", str(value))
    return int(match[0]) if match else None


def _names(value: object) -> tuple[str, ...]:
    parts = value if isinstance(value, list) else re.split(r"\s*;\s*|\s+and\s+|\s*,\s+(?=\w+\.?\s+\w)", str(value))
    return tuple(name for part in parts if (name := _shown(str(part))))


def _facts(given: Mapping[str, object]) -> _Facts:
    known = {str(key).lower(): value for key, value in given.items() if value}
    names = known.get("authors") or known.get("author")
    return _Facts(
        title=_shown(str(known.get("title", ""))),
        authors=_names(names) if names else (),
        year=_year(known.get("year") or known.get("date") or ""),
        doi=str(known.get("doi", "")),
    )


def _front_matter(text: str) -> tuple[_Facts, str]:
    """Take the YAML at the head of a Markdown file apart from its text; what is no YAML is text."""
    match = re.match(r"---[ \t]*\n(.*?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", text, re.DOTALL)
    if not match:
        return _Facts(), text
    try:
        given = yaml.safe_load(match[1])
    except yaml.YAMLError:  # a title with a colon is enough
        rows = (row for line in match[1].splitlines() if (row := _HEADER.fullmatch(line.strip())))
        given = {row[1].lower(): row[2].strip("[]\"' ") for row in rows}
    return (_facts(given), text[match.end() :]) if isinstance(given, dict) else (_Facts(), text)


def _header(text: str) -> tuple[_Facts, str]:
    """Take lines as ``Title: …`` at the head of a text apart from it."""
    lines = text.lstrip().splitlines()
    found: dict[str, object] = {}
    while lines and (match := _HEADER.fullmatch(lines[0].strip())):
        found[match[1].lower()] = match[2]
        lines.pop(0)
    return _facts(found), "\n".join(lines) if found else text


def _read_pdf(path: Path, name: str) -> tuple[tuple[str, ...], _Facts]:
    from pypdf import PdfReader
    from pypdf.errors import DependencyError, PyPdfError

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        reader = PdfReader(path)
        if reader.is_encrypted and not reader.decrypt(""):
            raise InputError("file", name, "is encrypted", "Save it without a password.")
        if len(reader.pages) > _MOST_PAGES:
            problem = f"has {len(reader.pages)} pages"
            raise InputError("file", name, problem, f"At most {_MOST_PAGES} are taken: split it.")
        pages, length = [], 0
        for page in reader.pages:
            text = page.extract_text()
            # Before anything else is done with it: a page may show the same text a thousand times.
            if (length := length + len(text)) > MOST_CHARACTERS:
                raise _too_long(name, length, "characters or more")
            pages.append(_joined(clean(text)))
        meta = reader.metadata
        title, author = (str(meta.title or ""), str(meta.author or "")) if meta else ("", "")
        doi = " ".join(str(meta.get(key, "")) for key in ("/doi", "/DOI", "/Subject", "/Keywords")) if meta else ""
    except DependencyError as error:
        raise InputError("file", name, f"cannot be decrypted ({error})", "Save it without encryption.") from None
    except InputError:
        raise
    # pypdf meets whatever a damaged file holds, and raises accordingly.
    except (PyPdfError, ValueError, LookupError, TypeError, AttributeError, RecursionError, OSError) as error:
        why = " ".join(str(error).split())[:200] or type(error).__name__
        raise InputError(
            "file", name, f"is no PDF that can be read ({why})", "Save or print it as a PDF anew."
        ) from None
    facts = _Facts(title="" if _NO_TITLE.search(title) else _shown(title), doi=doi)
    facts.authors = _names(author) if author.strip() else ()
    return tuple(pages), facts


def _joined(text: str) -> str:
    """Join the words that a PDF breaks at the ends of its lines."""
    return re.sub(r"(?<=[a-zäöüß])-\n(?=[a-zäöüß])", "", text)


def _read_bibtex(text: str, name: str) -> Reading:
    """Read a bibliography; its entries are documents, made of title, abstract, keywords and note."""
    from bibtexparser.entrypoint import parse_string
    from bibtexparser.middlewares import LatexDecodingMiddleware, SeparateCoAuthors, SplitNameParts

    layers = [LatexDecodingMiddleware(keep_math_mode=False), SeparateCoAuthors(), SplitNameParts()]
    logging.getLogger("bibtexparser").setLevel(logging.CRITICAL)
    parsed = parse_string(text, append_middleware=layers)
    problems = [f"line {(block.start_line or 0) + 1}: {_why(block.error)}" for block in parsed.failed_blocks]
    documents = []
    for entry in parsed.entries:
        fields = {key.lower(): one.value for key, one in entry.fields_dict.items()}
        title = _shown(_plain(fields.get("title")))
        if not title:
            problems.append(_shown(f"entry {entry.key}: has no title"))
            continue
        parts = [title, *(_plain(fields.get(key)) for key in ("abstract", "keywords", "note", "annote"))]
        raw = repr((entry.entry_type, sorted((key, str(value)) for key, value in fields.items())))
        file = re.split(r"[/\\]", re.sub(r":[A-Za-z/]*$", "", str(fields.get("file", ""))).lstrip(":"))[-1]
        names = fields.get("author") or fields.get("editor") or ()
        doi = _DOI.search(f"{fields.get('doi', '')} {fields.get('url', '')}")
        documents.append(
            Document(
                name=_shown(entry.key),
                kind="bibtex",
                title=title,
                authors=tuple(_shown(_person(one)) for one in names),
                year=_year(fields.get("year") or fields.get("date") or ""),
                doi=doi[0].rstrip(".,;:)") if doi else "",
                sha256=hashlib.sha256(raw.encode()).hexdigest(),
                pages=(clean("\n\n".join(part for part in parts if part)),),
                file=_shown(file),
            )
        )
    if not documents:
        why = f" ({problems[0]})" if problems else ""
        raise InputError("file", name, f"holds no BibTeX entry that can be read{why}", "See its first lines.")
    return Reading(documents=tuple(documents), problems=tuple(problems))


def _plain(value: object) -> str:
    # Subscripts of formulae (H_2O) are what is left of mathematics.
    return re.sub(r"[{}]|(?<=[A-Za-z)])_(?=\d)", "", str(value or "")).strip()


def _person(name: object) -> str:
    parts = [getattr(name, part, []) for part in ("first", "von", "last", "jr")]
    return _plain(" ".join(word for part in parts for word in part) or name)


def _why(error: object) -> str:
    return _shown(str(error))[:160]
