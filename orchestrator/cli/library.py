"""``simrelay library``: documents of one's own, and answers out of them with citations."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.connect import client, start_if_missing
from orchestrator.cli.output import Json, answer, note, print_json, print_table

if TYPE_CHECKING:
    from orchestrator.library import Record

app = typer.Typer(help="Your documents: PDF, Markdown, text and BibTeX; answers with citations.", no_args_is_help=True)
#: digits of an id that are shown, and name a document
_SHOWN = 12


@app.command()
def add(
    paths: Annotated[list[Path], typer.Argument(metavar="FOLDER|FILE...", help="Folders are taken with all below.")],
    as_json: Json = False,
) -> None:
    """Add documents; what is in the library already is skipped, and what cannot be read is named."""
    from tasks.errors import InputError

    files, others, failed = _files(paths)
    if not files and not failed:
        remedy = "Give PDF, Markdown, text or BibTeX files, or folders that hold some."
        raise InputError("path", ", ".join(map(str, paths)), "holds nothing that the library reads", remedy)
    added: list[Record] = []
    duplicates: list[dict[str, str]] = []
    for unread in failed:
        note(f"not added: {unread['file']}: {unread['error']}")
    with start_if_missing() as service:
        for path in files:
            try:
                done = service.add_document(path)
            except (InputError, OSError) as error:
                failed.append({"file": str(path), "error": str(error)})
                note(f"not added: {path}: {error}")
                continue
            added += done.added
            duplicates += [{"file": str(path), "id": one.id, "there_as": one.name} for one in done.duplicates]
            failed += [{"file": str(path), "error": problem} for problem in done.problems]
            for one in done.duplicates:
                note(f"skipped: {path}: {one.title!r} is in the library already, as {one.name}")
            for problem in done.problems:
                note(f"not added: {path}: {problem}")
    if others:
        note(f"{others} files of other kinds in these folders were left alone")
    if as_json:
        print_json({"added": _plain(added), "duplicates": duplicates, "failed": failed, "left_alone": others})
    else:
        _print_documents(added)
    note(f"{len(added)} documents added, {len(duplicates)} skipped, {len(failed)} not read")
    if failed:
        raise typer.Exit(2)


@app.command("list")
def list_documents(as_json: Json = False) -> None:
    """List the documents."""
    with client() as service:
        documents = service.documents()
    if as_json:
        print_json({"documents": _plain(documents)})
    elif documents:
        _print_documents(documents)
    else:
        note("the library is empty; `simrelay library add FOLDER` adds documents")


@app.command()
def search(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="In words.")],
    as_json: Json = False,
) -> None:
    """Answer a question by quoting the documents, each quote with its source."""
    with client() as service:
        found = service.ask_library(question)
    if as_json:
        print_json(found)
        return
    answer(found.text)
    for source in found.sources or found.nearest:
        answer(f"[{source.number}] {source.citation}")
    for remark in found.notes:
        note(remark)
    note(f"searched by {found.method}")


@app.command()
def remove(
    documents: Annotated[list[str], typer.Argument(metavar="DOCUMENT...", help="Ids, or the beginnings of them.")],
    as_json: Json = False,
) -> None:
    """Remove documents from the library; their files stay in the workspace."""
    with client() as service:
        removed = [service.remove_document(document) for document in documents]
    if as_json:
        print_json({"removed": _plain(removed)})
        return
    for one in removed:
        answer(f"removed {one.id[:_SHOWN]} {one.title}")


@app.command()
def reindex(as_json: Json = False) -> None:
    """Build anew what is searched, with the embeddings that are configured now."""
    with client() as service:
        done = service.reindex_library()
    if as_json:
        print_json(done)
        return
    answer(f"{done['passages']} passages indexed; they are searched by {done['method']}")


def _files(paths: list[Path]) -> tuple[list[Path], int, list[dict[str, str]]]:
    """Give the files to be added, how many others are left alone, and what cannot be read.

    Bibliographies come first, since they describe others. Links to folders are left alone: they may lead in circles.
    """
    from orchestrator.library.documents import KINDS
    from tasks.errors import InputError

    files: list[Path] = []
    others = 0
    failed: list[dict[str, str]] = []

    def closed(error: OSError) -> None:
        failed.append({"file": str(error.filename), "error": f"cannot be read: {error.strerror}"})

    for path in paths:
        if path.is_dir():
            for folder, inside, names in os.walk(path, onerror=closed):
                inside[:] = sorted(name for name in inside if not name.startswith("."))
                others += sum(Path(folder, name).is_symlink() for name in inside)
                seen = [Path(folder, name) for name in sorted(names) if not name.startswith(".")]
                known = [one for one in seen if one.suffix.lower() in KINDS]
                others += len(seen) - len(known)
                files += [one for one in known if one.is_file()]
                odd = "is a link to nothing, or no file with content"
                failed += [{"file": str(one), "error": odd} for one in known if not one.is_file()]
        elif path.is_file():
            files.append(path)
        else:
            raise InputError("path", str(path), "is neither a file nor a folder", "Give one that can be read.")
    return sorted(dict.fromkeys(files), key=lambda one: KINDS.get(one.suffix.lower()) != "bibtex"), others, failed


def _plain(documents: list[Record]) -> list[dict[str, object]]:
    return [one.model_dump(mode="json") for one in documents]


def _print_documents(documents: list[Record]) -> None:
    columns = ("id", "kind", "year", "authors", "title", "pages", "name", "doi")
    print_table(
        columns,
        (
            (
                one.id[:_SHOWN],
                one.kind,
                one.year or "",
                re.sub(r"(.{40}).{2,}", r"\1…", "; ".join(one.authors)),
                one.title,
                one.pages,
                one.name,
                one.doi,
            )
            for one in documents
        ),
        right=("pages", "year"),
    )
