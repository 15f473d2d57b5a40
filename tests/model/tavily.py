"""The search of Tavily, answering from a script."""

from __future__ import annotations

from tests.model.scripted import Raw, ScriptedServer, Seen, as_json, in_turn

PAGE = {
    "title": "Stable cations for alkaline membranes",
    "url": "https://example.org/cations",
    "content": "Spiro cations keep 95 % of their charge after 1000 h.",
    "score": 0.9,
    "published_date": "2026-05-01",
}


class ScriptedSearch(ScriptedServer):
    """Gives the same pages to every query, or what the script says."""

    def __init__(self, *script: Raw, pages: tuple[dict[str, object], ...] = (PAGE,)) -> None:
        super().__init__()
        self.script, self.pages = script, pages

    def reply(self, seen: Seen) -> Raw:
        assert seen.path == "/search", seen.path
        if self.script:
            raw: Raw = in_turn(self.script, len(self.seen))
            return raw
        return as_json({"query": seen.body["query"], "results": list(self.pages), "response_time": 0.1})
