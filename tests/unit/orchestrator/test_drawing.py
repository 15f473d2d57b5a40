"""The drawn graph: what is compiled, with the ways of each pipeline, as text and as a picture."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import pytest

from orchestrator.asking import Pipeline
from orchestrator.drawing import compiled, draw_mermaid
from orchestrator.edges import EDGES
from tasks.command import run
from tasks.settings import Settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings of an installation without a Redis."""
    return Settings.model_validate({"home": tmp_path})


def ways(settings: Settings, pipeline: Pipeline) -> set[tuple[str, str]]:
    """Give the ways that are drawn."""
    return set(re.findall(r"(\w+) -\.->? ?(\w+);", draw_mermaid(pipeline, settings)))


@pytest.mark.parametrize("pipeline", Pipeline)
def test_what_is_drawn_is_what_is_compiled(settings: Settings, pipeline: Pipeline) -> None:
    edges = {(edge.source, edge.target) for edge in compiled(pipeline, settings).edges if edge.conditional}
    assert ways(settings, pipeline) == edges
    table = {(node, target) for node, targets in EDGES.items() for target in targets}
    assert edges == table if pipeline is Pipeline.LOOPED else edges < table


def test_only_a_looped_pipeline_reviews_and_a_short_one_asks_for_no_plan(settings: Settings) -> None:
    short, full, looped = (ways(settings, p) for p in (Pipeline.SHORT, Pipeline.FULL, Pipeline.LOOPED))
    assert {("interpret", "review"), ("review", "await_batches"), ("await_batches", "revise")} <= looped
    assert ("revise", "gate") in looped
    assert not any("review" in way for way in short | full)
    assert ("decide", "gate") in full
    assert ("decide", "gate") not in short


def test_the_command_draws_text_and_pictures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIMRELAY_HOME", str(tmp_path / "home"))
    assert run(["graph", "show"]) == 0
    shown = capsys.readouterr().out
    assert "graph TD;" in shown
    assert "review" not in shown
    assert run(["graph", "show", "--looped"]) == 0
    assert "review" in capsys.readouterr().out
    picture = tmp_path / "graph.png"
    assert run(["graph", "show", "--pipeline", "looped", "--format", "png", "--output", str(picture)]) == 0
    content = picture.read_bytes()
    assert content.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", content[16:24])
    assert min(width, height) > 1000


@pytest.mark.parametrize(
    "arguments", [["--looped", "--pipeline", "full"], ["--output", "/nowhere/graph.mmd"], ["--pipeline", "round"]]
)
def test_what_does_not_fit_is_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["graph", "show", *arguments]) == 2
    assert capsys.readouterr().out == ""
