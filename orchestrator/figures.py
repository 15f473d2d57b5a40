"""Figures of a report, drawn without a display."""

from __future__ import annotations

import io
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

_HOMO, _LUMO, _TEXT, _GUIDE = "#1f4e79", "#b5472f", "#222222", "#8a8a8a"
_HALF_WIDTH = 0.27
#: longest line of a name, and the most lines of it
_WRAP, _MAX_LINES = 27, 3
#: more molecules than this do not fit one readable diagram
MAX_COLUMNS = 16


@dataclass(frozen=True, kw_only=True)
class Levels:
    """Frontier orbital energies of one molecule, in eV; None: not known."""

    name: str
    formula: str = ""
    homo_ev: float | None = None
    lumo_ev: float | None = None


def level_diagram(levels: Sequence[Levels], caption: str, dpi: int = 200) -> bytes:
    """Draw HOMO and LUMO of each molecule as levels, with the gap between them.

    Parameters
    ----------
    levels
        At most ``MAX_COLUMNS`` are drawn, from left to right.
    caption
        One or two lines under the diagram: the level of theory, and what the numbers are.

    Returns
    -------
    bytes
        A PNG file; the same input gives the same picture.
    """
    drawn = [one for one in levels if one.homo_ev is not None or one.lumo_ev is not None][:MAX_COLUMNS]
    if not drawn:
        raise ValueError("no orbital energy to draw")
    wrapped = [_name_lines(one.name) for one in drawn]
    longest = max(len(line) for lines in wrapped for line in lines)
    names = [_tick(lines, one) for lines, one in zip(wrapped, drawn, strict=True)]
    lines = max(name.count("\n") + 1 for name in names)
    # At 9 pt a character is about 0.075 inch wide; a label of a level needs 1.4 inch.
    width = max(4.6, 1.0 + max(1.45, 0.075 * longest + 0.25) * len(drawn))
    notes = [line for part in caption.split("\n") for line in textwrap.wrap(part, int(width * 15.5))]
    below = 0.25 + 0.17 * lines + 0.16 * len(notes) + 0.12
    height = 3.7 + below
    figure = Figure(figsize=(width, height), dpi=dpi, facecolor="white")
    FigureCanvasAgg(figure)
    left = 0.72 / width
    axes = figure.add_axes((left, below / height, 1 - left - 0.12 / width, 1 - (below + 0.2) / height))
    _draw_levels(axes, drawn)
    axes.set_xticks(range(len(drawn)), names, fontsize=9, color=_TEXT)
    figure.text(
        0.12 / width, 0.1 / height, "\n".join(notes), fontsize=7.5, color="#555555", va="bottom", linespacing=1.3
    )
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=dpi, metadata={"Software": None})
    return buffer.getvalue()


def _draw_levels(axes: Axes, drawn: Sequence[Levels]) -> None:
    energies = [e for one in drawn for e in (one.homo_ev, one.lumo_ev) if e is not None]
    low, high = min(energies), max(energies)
    span = max(high - low, 1.0)
    axes.set_ylim(low - 0.17 * span, high + 0.17 * span)
    axes.set_xlim(-0.55, len(drawn) - 0.45)
    axes.set_ylabel("Orbital energy / eV", fontsize=10, color=_TEXT)
    for column, one in enumerate(drawn):
        _draw_column(axes, column, one, span)
    axes.tick_params(axis="y", labelsize=9, direction="in", colors=_TEXT)
    axes.tick_params(axis="x", length=0, pad=6)
    for side in ("top", "right", "bottom"):
        axes.spines[side].set_visible(False)
    axes.spines["left"].set_color(_TEXT)


def _draw_column(axes: Axes, column: int, one: Levels, span: float) -> None:
    off = 0.018 * span
    for name, energy, colour, above in (("LUMO", one.lumo_ev, _LUMO, True), ("HOMO", one.homo_ev, _HOMO, False)):
        if energy is None:
            continue
        axes.hlines(energy, column - _HALF_WIDTH, column + _HALF_WIDTH, color=colour, linewidth=2.6, zorder=3)
        text = f"{name}  {_ev(energy)}"
        where = energy + off if above else energy - off
        axes.text(column, where, text, ha="center", va="bottom" if above else "top", fontsize=9, color=colour, zorder=4)
    if one.homo_ev is None or one.lumo_ev is None:
        return
    gap = one.lumo_ev - one.homo_ev
    if gap < 0.16 * span:
        # No room between the levels: their labels stand outside, and the table has the gap.
        return
    arrow = {"arrowstyle": "<->", "color": _GUIDE, "linewidth": 0.9, "shrinkA": 3, "shrinkB": 3}
    axes.annotate("", (column, one.homo_ev), (column, one.lumo_ev), arrowprops=arrow, zorder=2)
    box = {"facecolor": "white", "edgecolor": "none", "pad": 1.8}
    middle = (one.homo_ev + one.lumo_ev) / 2
    text = f"gap {_ev(gap)}"
    axes.text(column, middle, text, ha="center", va="center", fontsize=8.5, color="#555555", bbox=box, zorder=4)


def _ev(energy: float) -> str:
    return f"{energy:.2f} eV".replace("-", "−")


def _name_lines(name: str) -> list[str]:
    """Break a name at blanks, at hyphens after a syllable (never within ``N,N-``), and only then anywhere."""
    lines = [""]
    for chunk in re.findall(r".+?(?:(?<=[a-z]{3})-|\s+|$)", name):
        if lines[-1] and len(lines[-1] + chunk.rstrip()) > _WRAP:
            lines.append("")
        lines[-1] += chunk
    broken = [part for line in lines for part in _hard_lines(line.strip())]
    return broken if len(broken) <= _MAX_LINES else [*broken[: _MAX_LINES - 1], f"{broken[_MAX_LINES - 1][:-1]}…"]


def _hard_lines(line: str) -> list[str]:
    if len(line) <= _WRAP:
        return [line]
    syllable = re.match(rf"(.{{6,{_WRAP - 1}}}(?:methyl|ethyl|propyl|butyl|phenyl|benzyl))(?=[a-z]{{4}})", line)
    if syllable:
        return [f"{syllable[1]}-", *_hard_lines(line[syllable.end() :])]
    return [line[:_WRAP], *_hard_lines(line[_WRAP:])]


def _tick(lines: Sequence[str], one: Levels) -> str:
    """Give the label of a column: the name, and the formula below it."""
    # A dollar sign would begin mathematics.
    name = "\n".join(lines).replace("$", r"\$")
    return f"{name}\n{_formula(one.formula)}" if one.formula and one.formula != one.name else name


def _formula(formula: str) -> str:
    """Give a formula in Hill order with its digits as subscripts and its charge as a superscript."""
    sign = next((i for i, character in enumerate(formula) if character in "+-"), len(formula))
    body, charge = formula[:sign], formula[sign:]
    subscripts = "".join(f"$_{{{c}}}$" if c.isdigit() else c for c in body).replace("}$$_{", "")
    if not charge:
        return subscripts
    number = charge[1:]
    return f"{subscripts}$^{{{number}{'+' if charge[0] == '+' else '-'}}}$"
