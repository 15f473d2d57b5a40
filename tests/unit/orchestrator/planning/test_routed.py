from __future__ import annotations

import json
from pathlib import Path

import pytest

import tests.routing
from orchestrator.planning.router import route

_LINES = (Path(tests.routing.__file__).parent / "examples.jsonl").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("line", _LINES, ids=[f"{number}" for number in range(1, len(_LINES) + 1)])
def test_a_request_goes_where_it_belongs(line: str) -> None:
    case = json.loads(line)
    found = route(case["request"])
    got = ",".join(found.agents) if found.kind in ("agent", "plan") else found.kind
    nothing = ("ask", "refuse")
    assert got == case["expect"] or (case["expect"] in nothing and got in nothing), found.reason
