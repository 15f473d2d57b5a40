"""Passages: short enough, nothing lost, each on one page and where it says."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.library.chunks import SIZE, sentences, split

TEXT = st.text(alphabet="ab .\n", max_size=6000) | st.text(
    alphabet=st.characters(categories=("L", "P", "Zs")), max_size=300
)


#: paragraphs of every length, which is what makes passages end here or there
PARAGRAPHS = st.lists(st.integers(1, 2 * SIZE).map("z".__mul__), max_size=8).map("\n\n".join)


@given(st.lists(TEXT | PARAGRAPHS, max_size=3))
def test_nothing_is_lost_and_every_passage_is_where_it_says(pages: list[str]) -> None:
    chunks = split(pages)
    assert [chunk.number for chunk in chunks] == list(range(1, len(chunks) + 1))
    covered = dict.fromkeys(range(1, len(pages) + 1), 0)
    for chunk in chunks:
        page = pages[chunk.page - 1]
        assert page[chunk.start : chunk.start + len(chunk.text)] == chunk.text
        assert 0 < len(chunk.text) <= SIZE
        assert not page[covered[chunk.page] : chunk.start].strip(), "a gap between passages"
        covered[chunk.page] = max(covered[chunk.page], chunk.start + len(chunk.text))
    for number, page in enumerate(pages, 1):
        assert not page[covered[number] :].strip()


def test_paragraphs_stay_together_and_short_ones_are_repeated() -> None:
    paragraphs = [f"Paragraph {number}. " + "x" * (150 if number == 3 else 480) for number in range(1, 6)]
    first, second, *_ = split(["\n\n".join(paragraphs)])
    assert first.text.endswith(paragraphs[2])
    assert second.text.startswith("Paragraph 3.")


def test_a_short_paragraph_between_long_ones_is_no_trap() -> None:
    long = "y" * (SIZE - 2)
    text = f"short\n\n{long}\n\nshort\n\n{long}"
    assert [chunk.text for chunk in split([text])] == ["short", long, "short", long]


def test_sentences_end_where_they_end() -> None:
    text = (
        "# Head\n\nAs Bee et al. (2020) say, S-07 takes 0.5 mL at 80 °C. It swells at 300 K, says A. Dole, cf. Fig. 3."
        " Does it? Yes.\n- one\n- two"
    )
    assert sentences(text) == [
        "Head",
        "As Bee et al. (2020) say, S-07 takes 0.5 mL at 80 °C.",
        "It swells at 300 K, says A. Dole, cf. Fig. 3.",
        "Does it?",
        "Yes.",
        "one",
        "two",
    ]
