"""Pictures put side by side, each under its title, without a display."""

from __future__ import annotations

import io
from collections.abc import Sequence

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.image import imread

_MOST_COLUMNS = 3
_INCHES, _TITLE_INCHES = 3.3, 0.34


def orbital_panel(images: Sequence[tuple[bytes, str]], dpi: int = 200) -> bytes:
    """Put PNG pictures of equal size side by side, at most three a row.

    Parameters
    ----------
    images
        Content of each picture, and its title.

    Returns
    -------
    bytes
        A PNG file; the same input gives the same picture.
    """
    if not images:
        raise ValueError("no picture to show")
    pixels = [imread(io.BytesIO(content), format="png") for content, _ in images]
    height, width = pixels[0].shape[:2]
    columns = min(len(images), _MOST_COLUMNS)
    rows = -(-len(images) // columns)
    tall = _INCHES * height / width + _TITLE_INCHES
    figure = Figure(figsize=(columns * _INCHES, rows * tall), dpi=dpi, facecolor="white")
    FigureCanvasAgg(figure)
    for index, (image, (_, title)) in enumerate(zip(pixels, images, strict=True)):
        row, column = divmod(index, columns)
        bottom = 1 - (row + 1) / rows
        share = (tall - _TITLE_INCHES) / tall / rows
        axes = figure.add_axes((column / columns, bottom, 1 / columns, share))
        axes.imshow(image, interpolation="lanczos")
        axes.set_axis_off()
        where = ((column + 0.5) / columns, bottom + share + 0.06 / (rows * tall))
        figure.text(*where, title, fontsize=11, color="#222222", ha="center", va="bottom")
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=dpi, metadata={"Software": None})
    return buffer.getvalue()
