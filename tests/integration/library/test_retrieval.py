"""The corpus: what is found and cited, with BM25 and fused with vectors (of a stand-in)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from orchestrator.library import open_library
from tasks.settings import Settings
from tests.library.corpus import paraphrases, questions, unanswerable
from tests.library.report import fill, measure


@pytest.mark.parametrize("hybrid", [False, True], ids=["bm25", "hybrid"])
def test_the_right_page_is_found_and_cited(
    either: Settings, with_model: Callable[..., Settings], tmp_path: Path, hybrid: bool
) -> None:
    with open_library(with_model(either) if hybrid else either) as library:
        assert fill(library, tmp_path / "corpus") >= 30
        figures = measure(library, questions())
        harder = measure(library, paraphrases())
    assert figures.recall >= 0.9, figures.missed
    assert figures.cited >= 0.9, figures.missed
    assert figures.holds >= 0.9, figures.missed
    assert figures.verbatim == 1.0
    assert figures.refused >= 0.9
    assert harder.verbatim == 1.0
    if not hybrid:  # vectors of the stand-in know no synonyms; what those of a real model find is in the README
        assert harder.recall >= 0.7, harder.missed
        assert harder.named >= 0.6, harder.missed


def test_the_questions_are_those_that_were_promised() -> None:
    cases = questions()
    assert len({case.question for case in cases}) == len({case.id for case in cases}) == 60
    assert len(unanswerable()) == 10
    assert len({case.question for case in paraphrases()} - {case.question for case in cases}) == 32
