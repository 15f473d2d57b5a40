"""Pictures of orbitals by ray casting: translucent surfaces of both signs around balls and sticks, without a display.

NumPy and SciPy alone: libraries that draw such surfaces want an OpenGL that a compute host does not have.
"""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy import ndimage

from worker.programs.cubes import BOHR_PER_ANGSTROM, Grid

#: pixels of a picture, and how many times finer it is cast
WIDTH, HEIGHT = 880, 700
_FINER = 2
_POSITIVE, _NEGATIVE = (0.16, 0.42, 0.74), (0.90, 0.45, 0.12)
_LIGHT = np.array([-0.45, 0.60, 0.66])
_BALL, _HYDROGEN_BALL, _STICK = 0.36, 0.24, 0.11
#: how far the view is turned out of the plane of the molecule, in degrees, about its long and its short axis
_TILT_X, _TILT_Y = -24.0, 22.0
_MARGIN = 0.35
# Covalent radii in ångström: Cordero et al., Dalton Trans. (2008) 2832; heavier elements as 1.5.
_RADII = {1: 0.31, 3: 1.28, 4: 0.96, 5: 0.84, 6: 0.76, 7: 0.71, 8: 0.66, 9: 0.57, 11: 1.66, 12: 1.41, 13: 1.21,
          14: 1.11, 15: 1.07, 16: 1.05, 17: 1.02, 35: 1.20, 53: 1.39}  # fmt: skip
_COLOURS = {1: (0.92, 0.92, 0.92), 5: (1.0, 0.71, 0.71), 6: (0.33, 0.33, 0.35), 7: (0.20, 0.31, 0.85),
            8: (0.86, 0.13, 0.10), 9: (0.45, 0.78, 0.35), 15: (0.95, 0.50, 0.05), 16: (0.90, 0.80, 0.20),
            17: (0.20, 0.75, 0.20), 35: (0.60, 0.20, 0.15), 53: (0.50, 0.10, 0.60)}  # fmt: skip
_OTHER = (0.55, 0.55, 0.60)


@dataclass(frozen=True, kw_only=True)
class _View:
    """An orthographic view; x to the right, y up, z towards the viewer, in ångström, ``(3, 3)`` rows as axes."""

    axes: Any
    centre: Any
    #: of the middles of pixels, ``(width,)`` and ``(height,)`` from the top
    x: Any
    y: Any

    @property
    def pixel(self) -> float:
        return float(self.x[1] - self.x[0])

    def project(self, points: Any) -> Any:
        return (points - self.centre) @ self.axes.T


class _Canvas:
    """Depth, normal and colour of the nearest opaque thing at every pixel."""

    def __init__(self, view: _View) -> None:
        self.view = view
        shape = (len(view.y), len(view.x))
        self.depth = np.full(shape, -np.inf, dtype=np.float32)
        self.normal = np.zeros((*shape, 3), dtype=np.float32)
        self.colour = np.ones((*shape, 3), dtype=np.float32)

    def window(self, low: Any, high: Any) -> tuple[slice, slice]:
        view = self.view
        columns = np.searchsorted(view.x, (low[0], high[0]))
        rows = np.searchsorted(-view.y, (-high[1], -low[1]))
        return slice(rows[0], rows[1]), slice(columns[0], columns[1])

    def paint(self, where: tuple[slice, slice], hit: Any, depth: Any, normal: Any, colour: Any) -> None:
        nearer = hit & (depth > self.depth[where])
        self.depth[where][nearer] = depth[nearer]
        self.normal[where][nearer] = normal[nearer]
        self.colour[where][nearer] = colour[nearer] if np.ndim(colour) == 3 else colour

    def ball(self, centre: Any, radius: float, colour: Any) -> None:
        where = self.window(centre[:2] - radius, centre[:2] + radius)
        dx, dy = np.meshgrid(self.view.x[where[1]] - centre[0], self.view.y[where[0]] - centre[1])
        inside = radius**2 - dx**2 - dy**2
        height = np.sqrt(np.maximum(inside, 0.0))
        self.paint(where, inside > 0, centre[2] + height, np.stack((dx, dy, height), axis=2) / radius, colour)

    def stick(self, start: Any, end: Any, colours: tuple[Any, Any]) -> None:
        along = end - start
        length = float(np.linalg.norm(along))
        along = along / length
        low, high = np.minimum(start, end)[:2] - _STICK, np.maximum(start, end)[:2] + _STICK
        where = self.window(low, high)
        px, py = np.meshgrid(self.view.x[where[1]], self.view.y[where[0]])
        # The ray (px, py, t) meets the cylinder where its part across the axis is as long as the radius.
        offset = np.stack((px - start[0], py - start[1], np.full_like(px, -start[2])), axis=2)
        across = offset - (offset @ along)[..., None] * along
        ray = np.array([0.0, 0.0, 1.0]) - along[2] * along
        a = float(ray @ ray)
        if a < 1e-9:
            return
        b, c = across @ ray, (across**2).sum(axis=2) - _STICK**2
        inside = b**2 - a * c
        depth = (-b + np.sqrt(np.maximum(inside, 0.0))) / a
        reach = offset @ along + depth * along[2]
        normal = (across + depth[..., None] * ray) / _STICK
        colour = np.where((reach < length / 2)[..., None], np.array(colours[0]), np.array(colours[1]))
        self.paint(where, (inside > 0) & (reach > 0) & (reach < length), depth, normal, colour)


def render(numbers: Any, coordinates: Any, grid: Grid, values: Any, isovalue: float) -> bytes:
    """Draw the surfaces where an orbital is plus (blue) and minus (orange) a value.

    Parameters
    ----------
    numbers, coordinates
        Atomic numbers ``(atoms,)`` and places ``(atoms, 3)`` in bohr.
    grid, values
        The orbital on a grid.
    isovalue
        In the unit of the values.

    Returns
    -------
    bytes
        A PNG file; the same input gives the same picture.
    """
    places = coordinates / BOHR_PER_ANGSTROM
    axes = _axes(places)
    strong = np.argwhere(np.abs(values) >= isovalue)
    lobes = (grid.origin + grid.spacing * strong) / BOHR_PER_ANGSTROM
    view = _frame(axes, places, lobes)
    canvas = _Canvas(view)
    _draw_molecule(canvas, numbers, view.project(places))
    surfaces = _cast(view, grid, values, isovalue, view.project(lobes)) if len(lobes) else []
    return _png(_compose(canvas, surfaces))


def _axes(places: Any) -> Any:
    """Look on the plane in which the molecule is widest, a little from the side and from above."""
    centred = places - places.mean(axis=0)
    _, _, rows = np.linalg.svd(np.vstack((centred, 1e-3 * np.eye(3))), full_matrices=False)
    # The signs are arbitrary: fix them, so that the same molecule is seen from the same side.
    for row in rows[:2]:
        row *= np.sign(row[np.argmax(np.abs(row))])
    rows[2] = np.cross(rows[0], rows[1])
    a, b = np.radians(_TILT_X), np.radians(_TILT_Y)
    about_x = np.array([[1, 0, 0], [0, np.cos(a), np.sin(a)], [0, -np.sin(a), np.cos(a)]])
    about_y = np.array([[np.cos(b), 0, -np.sin(b)], [0, 1, 0], [np.sin(b), 0, np.cos(b)]])
    return about_x @ about_y @ rows


def _frame(axes: Any, places: Any, lobes: Any) -> _View:
    seen = (places @ axes.T)[:, :2]
    low, high = seen.min(axis=0) - 2 * _BALL, seen.max(axis=0) + 2 * _BALL
    if len(lobes):
        flat = (lobes @ axes.T)[:, :2]
        low, high = np.minimum(low, flat.min(axis=0)), np.maximum(high, flat.max(axis=0))
    low, high = low - _MARGIN, high + _MARGIN
    pixel = float(max((high[0] - low[0]) / WIDTH, (high[1] - low[1]) / HEIGHT)) / _FINER
    middle = (low + high) / 2
    depth = float((places @ axes.T)[:, 2].mean())
    width, height = WIDTH * _FINER, HEIGHT * _FINER
    x = (np.arange(width) - (width - 1) / 2) * pixel
    y = -(np.arange(height) - (height - 1) / 2) * pixel
    return _View(axes=axes, centre=np.array([*middle, depth]) @ axes, x=x, y=y)


def _draw_molecule(canvas: _Canvas, numbers: Any, places: Any) -> None:
    colours = [np.array(_COLOURS.get(int(n), _OTHER)) for n in numbers]
    radii = [_RADII.get(int(n), 1.5) for n in numbers]
    for i, j in combinations(range(len(numbers)), 2):
        if np.linalg.norm(places[i] - places[j]) < 1.2 * (radii[i] + radii[j]):
            canvas.stick(places[i], places[j], (colours[i], colours[j]))
    for number, place, colour in zip(numbers, places, colours, strict=True):
        canvas.ball(place, _HYDROGEN_BALL if number == 1 else _BALL, colour)


def _cast(view: _View, grid: Grid, values: Any, isovalue: float, lobes: Any) -> list[tuple[int, Any, Any]]:
    """Follow all rays from the viewer; give the sign, the depths and the normals of the first surface of each sign."""
    step = grid.spacing / BOHR_PER_ANGSTROM
    low, high = lobes.min(axis=0) - 2 * step, lobes.max(axis=0) + 2 * step
    axes = [np.arange(a, b + step, step) for a, b in zip(low, high, strict=True)]
    # The orbital on a lattice along the view: z from the viewer away, y from the top, x to the right.
    z, y, x = axes[2][::-1], axes[1][::-1], axes[0]
    lattice = np.stack(np.meshgrid(z, y, x, indexing="ij"))[::-1].reshape(3, -1)
    places = (lattice.T @ view.axes + view.centre) * BOHR_PER_ANGSTROM
    inside = ((places - grid.origin) / grid.spacing).T
    volume = ndimage.map_coordinates(values, inside, order=3, mode="nearest").reshape(len(z), len(y), len(x))
    coefficients = ndimage.spline_filter1d(ndimage.spline_filter1d(volume, axis=1), axis=2).astype(np.float32)
    seen = (slice(*np.searchsorted(-view.y, (-y[0], -y[-1]))), slice(*np.searchsorted(view.x, (x[0], x[-1]))))
    rows, columns = _spline((y[0] - view.y[seen[0]]) / step, len(y)), _spline((view.x[seen[1]] - x[0]) / step, len(x))
    signs = (1, -1)
    found = [np.full((len(view.y), len(view.x)), -np.inf, dtype=np.float32) for _ in signs]
    depths = [depth[seen] for depth in found]
    before = np.zeros(depths[0].shape, dtype=np.float32)
    for index, depth in enumerate(z):
        here = rows @ coefficients[index] @ columns.T
        for sign, first in zip(signs, depths, strict=True):
            if float((sign * volume[index]).max()) < 0.8 * isovalue:
                continue
            row, column = np.nonzero((sign * here >= isovalue) & np.isneginf(first))
            last, now = sign * before[row, column], sign * here[row, column]
            first[row, column] = depth + step * (now - isovalue) / np.maximum(now - last, 1e-12)
        before = here
    return [
        (sign, first, _normals(view, volume, (z, y, x), first, sign)) for sign, first in zip(signs, found, strict=True)
    ]


def _spline(where: Any, count: int) -> Any:
    """Give the matrix ``(places, count)`` that evaluates a cubic B-spline, mirrored at its ends as SciPy's is."""
    matrix = np.zeros((len(where), count), dtype=np.float32)
    first = np.floor(where).astype(int)
    t = where - first
    weights = ((1 - t) ** 3 / 6, (4 - 6 * t**2 + 3 * t**3) / 6, (1 + 3 * t + 3 * t**2 - 3 * t**3) / 6, t**3 / 6)
    inside = (where >= 0) & (where <= count - 1)
    row = np.nonzero(inside)[0]
    for offset, weight in enumerate(weights, -1):
        column = np.abs(first[inside] + offset)
        column = np.where(column >= count, 2 * (count - 1) - column, column)
        np.add.at(matrix, (row, column), weight[inside].astype(np.float32))
    return matrix


def _normals(view: _View, volume: Any, lattice: tuple[Any, Any, Any], depth: Any, sign: int) -> Any:
    """Give the outward normals where a surface was found, ``(found, 3)``."""
    hit = np.nonzero(np.isfinite(depth))
    z, y, x = lattice
    step = x[1] - x[0]
    at = np.stack(((z[0] - depth[hit]) / step, (y[0] - view.y[hit[0]]) / step, (view.x[hit[1]] - x[0]) / step))
    # Lattice indices run away from the viewer and down; the surface faces where the orbital's size falls.
    gz, gy, gx = (ndimage.map_coordinates(slope, at, order=3, mode="nearest") for slope in np.gradient(volume))
    outward = -sign * np.stack((gx, -gy, -gz), axis=1)
    return outward / np.maximum(np.linalg.norm(outward, axis=1, keepdims=True), 1e-12)


def _shade(colour: Any, normal: Any, gloss: float) -> Any:
    light = _LIGHT / np.linalg.norm(_LIGHT)
    half = light + np.array([0.0, 0.0, 1.0])
    half /= np.linalg.norm(half)
    diffuse = np.clip(normal @ light, 0.0, 1.0)[..., None]
    fill = np.clip(normal[..., 2], 0.0, 1.0)[..., None]
    shine = np.clip(normal @ half, 0.0, 1.0)[..., None] ** 40
    return np.clip(colour * (0.34 + 0.50 * diffuse + 0.22 * fill) + gloss * shine, 0.0, 1.0)


def _compose(canvas: _Canvas, surfaces: list[tuple[int, Any, Any]]) -> Any:
    solid = np.isfinite(canvas.depth)
    image = np.ones_like(canvas.colour)

    def blend(front: bool) -> None:
        # Where both signs lie behind each other the farther one is painted first.
        for farther in (True, False):
            for (sign, depth, normals), (_, other, _) in zip(surfaces, reversed(surfaces), strict=True):
                there = np.isfinite(depth)
                hit = there & ((depth > canvas.depth) == front) & ((depth < other) == farther)
                if not hit.any():
                    continue
                normal = normals[hit[there]]
                tint = np.array(_POSITIVE if sign > 0 else _NEGATIVE)
                # Denser where it is seen edge on, as a thin shell is.
                cover = 0.58 + 0.32 * (1 - np.abs(normal[:, 2:])) ** 2
                image[hit] = (1 - cover) * image[hit] + cover * _shade(tint, normal, 0.30)

    blend(front=False)
    image[solid] = _shade(canvas.colour[solid], canvas.normal[solid], 0.35)
    blend(front=True)
    coarse = image.reshape(HEIGHT, _FINER, WIDTH, _FINER, 3).mean(axis=(1, 3))
    return np.rint(coarse * 255).astype(np.uint8)


def _png(pixels: Any) -> bytes:
    """Write RGB pixels, ``(height, width, 3)`` of bytes, as a PNG file (ISO/IEC 15948)."""
    height, width, _ = pixels.shape
    rows = np.concatenate((np.zeros((height, 1), dtype=np.uint8), pixels.reshape(height, -1)), axis=1)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows.tobytes(), 6)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + body
