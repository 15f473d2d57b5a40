"""The drawn graph: what is compiled, with the ways of each pipeline, as text and as a picture."""

from __future__ import annotations

import re
import struct
from itertools import combinations, pairwise
from pathlib import Path

import pytest
from langgraph.graph import END, START

from orchestrator.asking import Pipeline
from orchestrator.drawing import compiled, draw_mermaid
from orchestrator.drawing_places import BOXES, WAYS, Box, Point
from orchestrator.edges import EDGES, usual_of
from tasks.command import run
from tasks.settings import Settings


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Settings of an installation without a Redis."""
    return Settings.model_validate({"home": tmp_path})


def ways(settings: Settings, pipeline: Pipeline) -> set[tuple[str, str]]:
    """Give the ways of the Mermaid text: the drawn ones, and those in its comments."""
    text = draw_mermaid(pipeline, settings).replace("end_", END)
    found = set(re.findall(r'^    (\w+) -\.(?: "[^"]+" \.|-)-?> (\w+)$', text, re.MULTILINE))
    for source, targets in re.findall(r"^    %% (\w+) -\.-> (.+)$", text, re.MULTILINE):
        found |= {(source, target) for target in targets.split(" & ")}
    return found


def corners_of(box: Box) -> tuple[Point, Point]:
    """Give the lower left and the upper right corner."""
    half = box.width / 2, box.height / 2
    return (box.x - half[0], box.y - half[1]), (box.x + half[0], box.y + half[1])


def meet(one: tuple[Point, Point], other: tuple[Point, Point]) -> bool:
    """Tell whether two level or upright lines, or rectangles by opposite corners, have a point in common."""
    return all(
        min(one[0][i], one[1][i]) <= max(other[0][i], other[1][i])
        and min(other[0][i], other[1][i]) <= max(one[0][i], one[1][i])
        for i in (0, 1)
    )


def touches(corners: tuple[Point, Point], point: Point) -> bool:
    """Tell whether a point lies at the edge of a box, to the width of a line."""
    near = 0.03
    (left, low), (right, high) = corners
    inside = left + near < point[0] < right - near and low + near < point[1] < high - near
    return meet(((left - near, low - near), (right + near, high + near)), (point, point)) and not inside


@pytest.mark.parametrize("pipeline", Pipeline)
def test_what_is_drawn_is_what_is_compiled(settings: Settings, pipeline: Pipeline) -> None:
    edges = {(edge.source, edge.target) for edge in compiled(pipeline, settings).edges if edge.conditional}
    assert ways(settings, pipeline) == edges
    table = {(node, target) for node, targets in EDGES.items() for target in targets}
    assert edges == table if pipeline is Pipeline.LOOPED else edges < table


@pytest.mark.parametrize("pipeline", Pipeline)
def test_the_usual_ways_are_compiled_labelled_and_have_their_places(settings: Settings, pipeline: Pipeline) -> None:
    graph = compiled(pipeline, settings)
    usual = usual_of(pipeline)
    assert usual.keys() <= {(edge.source, edge.target) for edge in graph.edges}
    assert graph.nodes.keys() <= BOXES.keys()
    assert usual.keys() <= WAYS.keys()
    assert all(why for way, why in usual.items() if not {START, END} & set(way))
    # Every node can be come to, and left, along what is drawn.
    assert {source for source, _ in usual} == graph.nodes.keys() - {END}
    assert {target for _, target in usual} == graph.nodes.keys() - {START}


@pytest.mark.parametrize("pipeline", Pipeline)
def test_no_two_lines_of_the_picture_cross_and_none_passes_behind_a_node(pipeline: Pipeline) -> None:
    usual = usual_of(pipeline)
    stretches = [(way, stretch) for way in usual for stretch in pairwise(WAYS[way])]
    assert all(one[0] == other[0] or one[1] == other[1] for _, (one, other) in stretches), "all are level or upright"
    crossing = [(one, other) for (one, a), (other, b) in combinations(stretches, 2) if one != other and meet(a, b)]
    assert crossing == []
    corners = {name: corners_of(BOXES[name]) for way in usual for name in way}
    behind = [(way, name) for way, a in stretches for name, b in corners.items() if name not in way and meet(a, b)]
    assert behind == []
    for source, target in usual:
        first, *_, last = WAYS[source, target]
        assert touches(corners[source], first)
        assert touches(corners[target], last)


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
    assert shown.startswith("flowchart TD\n")
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
