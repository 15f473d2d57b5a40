"""What a swarm leaves for people: best solutions and history as CSV, the recovery trace, and two figures."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tasks.results import Ranked
from tasks.specs import SwarmSpec
from tasks.swarms import PROPERTIES
from worker.programs.common import write_atomically
from worker.programs.swarm_state import State

BEST_FILE = "best_solutions.csv"
HISTORY_FILE = "best_fitness_history.csv"
TRACE_FILE = "recovery_trace.jsonl"
PROGRESS_FIGURE = "progress.png"
STRUCTURES_FIGURE = "top_structures.png"
_DRAWN = 8


def write_report(folder: Path, spec: SwarmSpec, state: State, ranking: Sequence[Ranked]) -> None:
    """Write all files of a swarm that is at its end."""
    names = [o.property for o in spec.objectives]
    rows = [
        [number, one.smiles, f"{one.score:.6f}", *(f"{one.values[name]:.6g}" for name in names)]
        for number, one in enumerate(ranking, 1)
    ]
    write_atomically(folder / BEST_FILE, _csv(["rank", "smiles", "score", *names], rows))
    steps = [list(row.model_dump().values()) for row in state.history]
    write_atomically(folder / HISTORY_FILE, _csv(list(type(state.history[0]).model_fields), steps))
    if state.trace:
        write_atomically(folder / TRACE_FILE, "".join(json.dumps(line) + "\n" for line in state.trace))
    (folder / PROGRESS_FIGURE).write_bytes(progress_figure(spec, state))
    (folder / STRUCTURES_FIGURE).write_bytes(structures_figure(spec, ranking[:_DRAWN]))


def _csv(head: list[str], rows: Sequence[Sequence[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(rows)
    return text.getvalue()


def progress_figure(spec: SwarmSpec, state: State) -> bytes:
    """Draw the scores of the steps as PNG; the same state gives the same picture."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    steps = [row.step for row in state.history]
    figure = Figure(figsize=(6.4, 3.9), dpi=160, facecolor="white", layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    low, high = [row.min_score for row in state.history], [row.max_score for row in state.history]
    axes.fill_between(steps, low, high, color="#1f4e79", alpha=0.12, label="range of the swarm")
    axes.plot(steps, [row.mean_score for row in state.history], "o-", color="#1f4e79", markersize=4, label="mean")
    best = [row.best_so_far for row in state.history]
    axes.plot(steps, best, "o-", color="#b5472f", markersize=4, label="best so far")
    for row in state.history:
        axes.annotate(str(row.evaluations), (row.step, row.best_so_far), textcoords="offset points", xytext=(0, 6),
                      ha="center", fontsize=7.5, color="#b5472f")  # fmt: skip
    axes.set_xlabel("Step (numbers: different molecules so far)")
    axes.set_ylabel("Score (a ranking, 0 to 1)")
    axes.set_ylim(-0.02, min(1.08, max(high) + 0.12))
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.legend(frameon=False, fontsize=8, loc="lower right")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    families = ", ".join(name.replace("_", " ") for name in spec.families)
    axes.set_title(f"{families} on {spec.backbone}: {spec.particles} particles, seed {spec.seed}", fontsize=9)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", metadata={"Software": None})
    return buffer.getvalue()


def structures_figure(spec: SwarmSpec, best: Sequence[Ranked]) -> bytes:
    """Draw the best candidates with rank, score and properties as PNG."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.image import imread

    columns = min(4, len(best))
    lines = -(-len(best) // columns)
    figure = Figure(figsize=(2.6 * columns, 2.9 * lines), dpi=160, facecolor="white", layout="constrained")
    FigureCanvasAgg(figure)
    for number, one in enumerate(best, 1):
        axes = figure.add_subplot(lines, columns, number)
        axes.imshow(imread(io.BytesIO(_drawing(one.smiles))))
        axes.set_xticks([])
        axes.set_yticks([])
        axes.spines[:].set_visible(False)
        axes.set_title(f"{number}. score {one.score:.3f}", fontsize=10, color="#b5472f")
        shown = [(PROPERTIES[o.property], one.values[o.property]) for o in spec.objectives]
        values = "\n".join(f"{p.title} {value:.2f} {p.unit}".rstrip().replace("-", "−", 1) for p, value in shown)
        axes.set_xlabel(values, fontsize=8, color="#444444")
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", metadata={"Software": None})
    return buffer.getvalue()


def _drawing(smiles: str) -> bytes:
    """Draw one molecule as PNG, all at the same scale."""
    from rdkit import Chem
    from rdkit.Chem import rdDepictor
    from rdkit.Chem.Draw import rdMolDraw2D

    mol = Chem.MolFromSmiles(smiles)
    rdDepictor.Compute2DCoords(mol)
    drawing = rdMolDraw2D.MolDraw2DCairo(480, 400)
    options: Any = drawing.drawOptions()
    options.fixedBondLength, options.bondLineWidth = 55, 3
    drawing.DrawMolecule(mol)
    drawing.FinishDrawing()
    return bytes(drawing.GetDrawingText())
