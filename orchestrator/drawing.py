"""The supervisor graph as Mermaid text and as a picture, both of the graph as it is compiled; nothing is asked of the
internet.

Almost every node can lead to almost every other, since steps run side by side. Drawn are the ways that most runs take,
with what leads along them; all others stand in the table below the picture, or in comments of the Mermaid text.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from itertools import pairwise

import redis.asyncio
from langchain_core.runnables.graph import Graph
from langgraph.graph import END, START
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from matplotlib.path import Path as Line

from orchestrator.agents import AGENTS
from orchestrator.apart import Apart
from orchestrator.asking import Pipeline
from orchestrator.drawing_places import BOXES, WAYS, Box, Point
from orchestrator.edges import usual_of
from orchestrator.graph import Supervisor
from orchestrator.planning.decide import plan_request
from tasks.settings import Settings
from tasks.store import AsyncStore

_WIDTH, _HEIGHT, _TABLE_TOP = 16.5, 12.8, 3.6
_NAMES = {START: "start", END: "end"}
_SAYS = {
    "decide": "plan, answer or question",
    "gate": "asks about plan or cost",
    "advance": "agents begin their steps",
    "dispatch": "frozen batches become jobs",
    "await_batches": "waits for jobs and people: the only node that does, at no cost",
    "interpret": "agents look at results",
    "recover": "failed jobs are repaired",
    "review": "asks about the results",
    "revise": "changes the plan as asked",
    "finish": "says how it ended",
}
#: nodes where people are asked, or have spoken
_OF_PEOPLE = {"gate", "review", "revise"}
_LINE, _PEOPLE, _FILL, _PEOPLE_FILL = "#55606f", "#b5472f", "#eef2f7", "#fbeeea"


def compiled(pipeline: Pipeline, settings: Settings) -> Graph:
    """Give the graph of a pipeline as LangGraph compiles it; nothing is connected or run."""
    supervisor = Supervisor(
        settings=settings,
        store=AsyncStore(redis.asyncio.Redis(), settings),
        agents=AGENTS,
        plan=plan_request,
        apart=Apart(),
    )
    return supervisor.graph(pipeline).compile().get_graph()


def draw_mermaid(pipeline: Pipeline, settings: Settings) -> str:
    """Give the graph of a pipeline as Mermaid text; the less usual ways are comments, one for each node."""
    graph = compiled(pipeline, settings)
    usual = usual_of(pipeline)
    lines = ["flowchart TD"]
    for name in graph.nodes:
        label = _named(name) + (f"<br/>{says}" if (says := _SAYS.get(name)) else "")
        lines.append(f'    {_plain(name)}(["{label}"])' if name in _NAMES else f'    {_plain(name)}["{label}"]')
    for edge in graph.edges:
        if (edge.source, edge.target) in usual:
            why = usual[edge.source, edge.target]
            arrow = f'-. "{why}" .->' if why else "-.->" if edge.conditional else "-->"
            lines.append(f"    {_plain(edge.source)} {arrow} {_plain(edge.target)}")
    lines.append("    %% besides, where steps that run side by side leave something else to be done next:")
    for name in graph.nodes:
        if others := [e.target for e in graph.edges if e.source == name and (name, e.target) not in usual]:
            lines.append(f"    %% {_plain(name)} -.-> {' & '.join(map(_plain, others))}")
    people = ",".join(name for name in graph.nodes if name in _OF_PEOPLE)
    lines.append(f"    classDef people fill:{_PEOPLE_FILL},stroke:{_PEOPLE}")
    lines.append(f"    class {people} people")
    return "\n".join(lines) + "\n"


def draw_png(pipeline: Pipeline, settings: Settings, dpi: int = 110) -> bytes:
    """Give the graph of a pipeline as a picture (PNG).

    Ways to or from a node where people are asked, or have spoken, are red; below stand all ways that are compiled.
    """
    graph = compiled(pipeline, settings)
    figure = Figure(figsize=(_WIDTH, _HEIGHT), facecolor="white")
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, _WIDTH), ylim=(0, _HEIGHT))
    axes.set_axis_off()
    axes.text(0.3, _HEIGHT - 0.3, f"Supervisor graph, {pipeline.value} pipeline", fontsize=14, va="top")
    for name in graph.nodes:
        if name in BOXES:
            _draw_box(axes, name, BOXES[name])
    for (source, target), why in usual_of(pipeline).items():
        _draw_way(axes, WAYS[source, target], why, of_people=bool({source, target} & _OF_PEOPLE))
    _draw_table(axes, graph, pipeline)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=dpi)
    return buffer.getvalue()


def _plain(name: str) -> str:
    """Give a node's name for Mermaid, where ``end`` is a word of the language."""
    return name.strip("_") + "_" if name in _NAMES else name


def _named(name: str) -> str:
    return _NAMES.get(name, name.replace("_", " "))


def _draw_box(axes: Axes, name: str, box: Box) -> None:
    of_people = name in _OF_PEOPLE
    patch = FancyBboxPatch(
        (box.x - box.width / 2, box.y - box.height / 2),
        box.width,
        box.height,
        boxstyle="round,pad=0,rounding_size=0.12",
        facecolor=_PEOPLE_FILL if of_people else _FILL,
        edgecolor=_PEOPLE if of_people else _LINE,
        linewidth=1.3,
        zorder=3,
    )
    axes.add_patch(patch)
    says, y = _SAYS.get(name, ""), box.y
    if says:
        axes.text(box.x, y - 0.15, says, ha="center", va="center", fontsize=9.5, zorder=4)
        y += 0.15
    axes.text(box.x, y, _named(name), ha="center", va="center", fontsize=11, weight="bold", zorder=4)


def _draw_way(axes: Axes, points: Sequence[Point], why: str, *, of_people: bool) -> None:
    """Draw an arrow along its points, with what leads along it beside the longest stretch of it."""
    color = _PEOPLE if of_people else _LINE
    conditional = bool(why)
    axes.add_patch(
        FancyArrowPatch(
            path=Line(points),
            arrowstyle="-|>",
            mutation_scale=14,
            color=color,
            linewidth=1.3,
            linestyle=(0, (5, 2)) if conditional else "-",
            joinstyle="round",
            zorder=2,
        )
    )
    (x0, y0), (x1, y1) = max(pairwise(points), key=lambda two: abs(two[0][0] - two[1][0]) + abs(two[0][1] - two[1][1]))
    if y0 == y1:
        axes.text((x0 + x1) / 2, y0 + 0.06, why, ha="center", va="bottom", fontsize=9.5, color=color, zorder=4)
    else:
        axes.text(
            x0 + 0.08,
            y0 + (y1 - y0) * (0.5 if abs(y1 - y0) < 3 else 0.25),
            why,
            ha="left",
            va="center",
            fontsize=9.5,
            color=color,
            zorder=4,
        )


def _draw_table(axes: Axes, graph: Graph, pipeline: Pipeline) -> None:
    """Tabulate all ways: rows are where they begin, columns where they lead."""
    ways, usual = {(edge.source, edge.target) for edge in graph.edges}, usual_of(pipeline)
    rows = [name for name in graph.nodes if name != END]
    columns = [name for name in graph.nodes if name != START]
    title = "All ways that are compiled, from row to column:  ● drawn above   ○ where steps run side by side"
    axes.text(0.3, _TABLE_TOP, title, fontsize=10.5, va="center")
    left, width, height = 2.3, 1.25, 0.25
    for column, name in enumerate(columns):
        axes.text(left + column * width, _TABLE_TOP - 0.35, _named(name), ha="center", va="center", fontsize=9.5)
    for row, source in enumerate(rows):
        y = _TABLE_TOP - 0.35 - (row + 1) * height
        axes.text(0.3, y, _named(source), va="center", fontsize=9.5)
        axes.plot((0.3, left + (len(columns) - 0.5) * width), (y + height / 2,) * 2, color="#d5dae1", linewidth=0.6)
        for column, target in enumerate(columns):
            if (source, target) in ways:
                mark = "●" if (source, target) in usual else "○"
                axes.text(left + column * width, y, mark, ha="center", va="center", fontsize=9.5)
