"""The supervisor graph as Mermaid text and as a picture, both of the graph as it is compiled; nothing is asked of the
internet.
"""

from __future__ import annotations

import io
import math

import redis.asyncio
from langchain_core.runnables.graph import Edge, Graph
from langgraph.graph import END, START
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

from orchestrator.agents import AGENTS
from orchestrator.apart import Apart
from orchestrator.asking import Pipeline
from orchestrator.graph import Supervisor
from orchestrator.planning.decide import plan_request
from tasks.settings import Settings
from tasks.store import AsyncStore

#: around an ellipse, clockwise from the top, so that no way passes behind a node; others follow after these
_ORDER = ("decide", "advance", "dispatch", "await_batches", "interpret", "finish", "review", "revise", "gate")
_WIDTH, _HEIGHT = 13.0, 10.4
_MIDDLE, _RADII = (6.5, 5.0), (4.7, 3.7)
_BOX, _SMALL_BOX = (2.6, 0.8), (0.9, 0.44)
_NAMES = {START: "start", END: "end"}
_SAYS = {
    "decide": "plan, answer or question",
    "gate": "asks about plan or cost",
    "advance": "agents begin their steps",
    "dispatch": "frozen batches become jobs",
    "await_batches": "waits for jobs and people",
    "interpret": "agents look at results",
    "recover": "failed jobs are repaired",
    "review": "asks about the results",
    "revise": "changes the plan as asked",
    "finish": "says how it ended",
}
#: nodes where people are asked, or have spoken
_OF_PEOPLE = {"gate", "review", "revise"}
_LINE, _PEOPLE, _FILL, _PEOPLE_FILL = "#6b7686", "#b5472f", "#eef2f7", "#fbeeea"


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
    """Give the graph of a pipeline as Mermaid text."""
    return compiled(pipeline, settings).draw_mermaid()


def draw_png(pipeline: Pipeline, settings: Settings, dpi: int = 120) -> bytes:
    """Give the graph of a pipeline as a picture (PNG).

    Ways to or from a node where people are asked, or have spoken, are red.
    """
    graph = compiled(pipeline, settings)
    figure = Figure(figsize=(_WIDTH, _HEIGHT), facecolor="white")
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, _WIDTH), ylim=(0, _HEIGHT))
    axes.set_axis_off()
    boxes = {name: _box(name, place) for name, place in _places(list(graph.nodes)).items()}
    for name, box in boxes.items():
        axes.add_patch(box)
        says = _SAYS.get(name, "")
        label = _NAMES.get(name, name.replace("_", " "))
        axes.text(*_centre(box), f"{label}\n{says}" if says else label, ha="center", va="center", fontsize=10, zorder=4)
    for edge in graph.edges:
        axes.add_patch(_arrow(edge, boxes[edge.source], boxes[edge.target]))
    axes.text(0.3, _HEIGHT - 0.35, f"supervisor graph, {pipeline.value} pipeline", fontsize=12, va="top")
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=dpi)
    return buffer.getvalue()


def _places(names: list[str]) -> dict[str, tuple[float, float]]:
    """Give where the middle of each node stands, in inches from the left and from below."""
    round_about = [name for name in _ORDER if name in names]
    round_about += [name for name in names if name not in (*_ORDER, START, END)]
    places = {}
    for number, name in enumerate(round_about):
        angle = math.pi / 2 - 2 * math.pi * number / len(round_about)
        places[name] = (_MIDDLE[0] + _RADII[0] * math.cos(angle), _MIDDLE[1] + _RADII[1] * math.sin(angle))
    top, last = places["decide"], places["finish"]
    return {**places, START: (top[0], top[1] + 1.1), END: (last[0], last[1] - 1.0)}


def _box(name: str, place: tuple[float, float]) -> FancyBboxPatch:
    width, height = _SMALL_BOX if name in _NAMES else _BOX
    of_people = name in _OF_PEOPLE
    return FancyBboxPatch(
        (place[0] - width / 2, place[1] - height / 2),
        width,
        height,
        boxstyle="round,pad=0,rounding_size=0.12",
        facecolor=_PEOPLE_FILL if of_people else _FILL,
        edgecolor=_PEOPLE if of_people else _LINE,
        linewidth=1.2,
        zorder=3,
    )


def _centre(box: FancyBboxPatch) -> tuple[float, float]:
    return box.get_x() + box.get_width() / 2, box.get_y() + box.get_height() / 2


def _arrow(edge: Edge, source: FancyBboxPatch, target: FancyBboxPatch) -> FancyArrowPatch:
    color = _PEOPLE if {edge.source, edge.target} & _OF_PEOPLE else _LINE
    (x, y), end, bend = _centre(source), _centre(target), 0.1
    again = source is target
    if again:  # a bow on the side that looks away from the middle
        x += math.copysign(_BOX[0] / 2, x - _MIDDLE[0])
        (x, y), end, bend = (x, y - 0.2), (x, y + 0.2), math.copysign(1.4, x - _MIDDLE[0])
    return FancyArrowPatch(
        (x, y),
        end,
        arrowstyle="-|>",
        mutation_scale=13,
        connectionstyle=f"arc3,rad={bend}",
        patchA=None if again else source,
        patchB=None if again else target,
        shrinkA=1,
        shrinkB=2,
        color=color,
        linewidth=1.1,
        linestyle=(0, (4, 2)) if edge.conditional else "-",
        zorder=2,
    )
