"""The corpus as files that a user would add, and the labelled questions on it."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path

from fpdf import FPDF

HERE = Path(__file__).parent


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question, with what answers it: document, page, and words that stand there."""

    id: str
    question: str
    document: str
    page: int
    says: str


def questions() -> list[Question]:
    """Read the questions."""
    return [Question(**json.loads(line)) for line in (HERE / "questions.jsonl").read_text("utf-8").splitlines()]


def paraphrases() -> list[Question]:
    """Read questions in words that the documents do not use."""
    return [Question(**json.loads(line)) for line in (HERE / "paraphrases.jsonl").read_text("utf-8").splitlines()]


def unanswerable() -> list[str]:
    """Read questions that no document of the corpus answers."""
    return [json.loads(line)["question"] for line in (HERE / "unanswerable.jsonl").read_text("utf-8").splitlines()]


def write_corpus(folder: Path) -> list[Path]:
    """Write the corpus into a folder, its PDFs made from their texts; give the files, bibliographies first."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in (HERE / "corpus").iterdir():
        if path.is_file():
            shutil.copy(path, folder / path.name)
    for path in (HERE / "corpus" / "pdf").iterdir():
        title, authors, *lines = path.read_text("utf-8").split("\n")  # not at form feeds
        write_pdf(folder / f"{path.stem}.pdf", "\n".join(lines).split("\f"), title=title, authors=authors)
    return sorted(folder.iterdir(), key=lambda path: (path.suffix != ".bib", path.name))


def write_pdf(path: Path, pages: list[str], *, title: str = "", authors: str = "") -> Path:
    """Write a PDF with one page for each text; a word that is too long for a line is broken as PDFs do."""
    pdf = FPDF()
    pdf.set_font("Helvetica", size=11)
    if title:
        pdf.set_title(title)
    if authors:
        pdf.set_author(authors)
    for page in pages:
        pdf.add_page()
        for paragraph in page.strip().split("\n\n"):
            pdf.multi_cell(0, 6, paragraph.replace("\n", " "), new_x="LMARGIN", new_y="NEXT")
            pdf.ln(4)
    pdf.output(str(path))
    return path
