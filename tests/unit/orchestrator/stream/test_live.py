"""Texts told while they are written: what a reader makes of them, also where a text is begun again or replaced."""

from __future__ import annotations

import pytest

from orchestrator.state import Event
from orchestrator.stream.live import TOGETHER_SECONDS, LiveText
from tests.model.reading import texts_of


class Teller:
    """Keeps events, and a clock that a test moves."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.events: list[Event] = []
        self.now = 0.0
        monkeypatch.setattr(LiveText, "_clock", lambda _: self.now)

    async def __call__(self, event: Event) -> None:
        self.events.append(event)

    def text(self, attempt: int = 1) -> LiveText:
        return LiveText(self, {"of": "answer", "id": "answer-0"}, f"text:answer-0:{attempt}")

    @property
    def read(self) -> dict[str, str]:
        return texts_of(event.data for event in self.events)


@pytest.fixture
def teller(monkeypatch: pytest.MonkeyPatch) -> Teller:
    """Give a teller."""
    return Teller(monkeypatch)


async def test_pieces_that_come_close_together_are_told_together(teller: Teller) -> None:
    text = teller.text()
    words = [f"word{number}" for number in range(100)]
    for number in range(1, 101):
        await text.grow(" ".join(words[:number]))
        teller.now += TOGETHER_SECONDS / 10
    await text.end(" ".join(words))
    assert 9 <= len(teller.events) <= 11
    assert teller.read == {"answer-0": " ".join(words)}
    assert len({event.key for event in teller.events}) == len(teller.events)


async def test_a_text_that_is_begun_again_replaces_what_was_told_of_it(teller: Teller) -> None:
    first = teller.text(1)
    await first.grow("It was beg")
    again = teller.text(2)
    await again.grow("Another")
    await again.end("Another beginning.")
    assert teller.read == {"answer-0": "Another beginning."}
    assert [event.data["offset"] for event in teller.events] == [0, 0, 7]
    assert len({event.key for event in teller.events}) == 3


async def test_a_text_that_is_refused_is_replaced(teller: Teller) -> None:
    text = teller.text()
    await text.grow("All is well")
    await text.end("Own words.")
    assert teller.read == {"answer-0": "Own words."}


async def test_an_end_is_told_once_and_also_of_a_text_that_never_was(teller: Teller) -> None:
    text = teller.text()
    await text.grow("Done.")
    await text.end("Done.")
    assert len(teller.events) == 1
    await teller.text(2).end("")
    assert teller.read == {"answer-0": ""}
