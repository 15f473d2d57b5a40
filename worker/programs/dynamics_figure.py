"""The plot of mean square displacements: measured curves, the window of the fit, and the fitted lines."""

from __future__ import annotations

import io
import textwrap
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from tasks.results import Diffusion

#: colours that people with any colour vision can tell apart (Okabe, Ito 2008)
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")


def msd_figure(lags_ps: Any, displacement: dict[str, Any], coefficients: tuple[Diffusion, ...], level: str) -> bytes:
    """Draw the mean square displacements (nm²) over the time lag, up to half of the trajectory.

    Returns
    -------
    bytes
        A PNG file; the same input gives the same picture.
    """
    figure = Figure(figsize=(6.4, 4.8), dpi=200, facecolor="white")
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0.11, 0.22, 0.86, 0.75))
    shown = max(2, len(lags_ps) // 2 + 1)
    fits = {one.species: one for one in coefficients}
    for index, (name, values) in enumerate(displacement.items()):
        colour = _COLOURS[index % len(_COLOURS)]
        label = name.replace("$", r"\$")
        fit = fits.get(name)
        if fit:
            label += f": D = ({fit.coefficient_m2_per_s * 1e9:.2f} ± {fit.error_m2_per_s * 1e9:.2f}) × 10⁻⁹ m²/s"
            inside = (lags_ps >= fit.fit_start_ps) & (lags_ps <= fit.fit_end_ps)
            line = np.polyfit(lags_ps[inside], values[inside], 1)
            axes.plot(lags_ps[inside], np.polyval(line, lags_ps[inside]), "--", color="black", linewidth=1.0, zorder=4)
        axes.plot(lags_ps[:shown], values[:shown], color=colour, linewidth=1.6, label=label)
    note = ""
    if coefficients:
        first = coefficients[0]
        axes.axvspan(first.fit_start_ps, first.fit_end_ps, color="#eeeeee", zorder=0)
        note = (
            f"Dashed: fit from {first.fit_start_ps:g} to {first.fit_end_ps:g} ps (grey). Errors: standard error of"
            f" {first.blocks} blocks; lags beyond a fifth of the trajectory are poorly sampled. "
        )
    axes.set_xlim(0, lags_ps[shown - 1])
    axes.set_ylim(bottom=0)
    axes.set_xlabel("Time lag / ps", fontsize=10)
    axes.set_ylabel("Mean square displacement / nm²", fontsize=10)
    axes.tick_params(labelsize=9, direction="in")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    if displacement:
        axes.legend(fontsize=8, frameon=False, loc="upper left")
    text = "\n".join(textwrap.wrap(f"{note}{level}.", 118))
    figure.text(0.02, 0.015, text, fontsize=7, color="#555555", va="bottom", linespacing=1.3)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=200, metadata={"Software": None})
    return buffer.getvalue()
