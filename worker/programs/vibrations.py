"""Harmonic vibrations out of a matrix of second derivatives, the same for every program."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from worker.programs.thermochemistry import ELECTRON_MASSES_PER_DALTON, HARTREE_PER_WAVENUMBER, is_linear

Vector = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Vibrations:
    """Normal modes, lowest first.

    Attributes
    ----------
    frequencies_per_cm
        Shape (modes,); imaginary ones negative.
    modes
        Shape (modes, atoms, 3): displacements of the atoms, not weighted by mass, each mode of norm 1.
    """

    frequencies_per_cm: Vector
    modes: Vector


def harmonic(hessian: Vector, masses_dalton: Vector, coordinates_bohr: Vector) -> Vibrations:
    """Give the normal modes, with translations and rotations projected out (Wilson, Decius, Cross, 1955, chapter 2).

    Parameters
    ----------
    hessian
        Shape (3 atoms, 3 atoms), in hartree per bohr²; symmetric.
    masses_dalton, coordinates_bohr
        Shapes (atoms,) and (atoms, 3).
    """
    atoms = len(masses_dalton)
    if atoms == 1:
        return Vibrations(frequencies_per_cm=np.zeros(0), modes=np.zeros((0, 1, 3)))
    weights = np.repeat(np.sqrt(masses_dalton * ELECTRON_MASSES_PER_DALTON), 3)
    internal = _internal(masses_dalton, coordinates_bohr)
    weighted = internal.T @ (hessian / np.outer(weights, weights)) @ internal
    squares, vectors = np.linalg.eigh((weighted + weighted.T) / 2)
    frequencies = np.sign(squares) * np.sqrt(abs(squares)) / HARTREE_PER_WAVENUMBER
    modes = (internal @ vectors).T / weights
    modes /= np.linalg.norm(modes, axis=1, keepdims=True)
    return Vibrations(frequencies_per_cm=frequencies, modes=modes.reshape(-1, atoms, 3))


def _internal(masses: Vector, coordinates: Vector) -> Vector:
    """Give an orthonormal basis of the mass-weighted displacements that neither move nor turn the molecule."""
    roots = np.sqrt(masses)
    centred = coordinates - masses @ coordinates / masses.sum()
    # Turned to its principal axes, a linear molecule has one rotation that moves no atom.
    tensor = np.einsum("a,ax,ay->xy", masses, centred, centred)
    _, axes = np.linalg.eigh(np.trace(tensor) * np.eye(3) - tensor)
    moves = [np.outer(roots, axis).ravel() for axis in np.eye(3)]
    turns = [(roots[:, None] * np.cross(axis, centred)).ravel() for axis in axes.T]
    outside = np.array(moves + (turns[1:] if is_linear(masses, coordinates) else turns)).T
    full, _ = np.linalg.qr(outside, mode="complete")
    return np.asarray(full[:, outside.shape[1] :])


def displaced(coordinates: Vector, mode: Vector, largest: float) -> Vector:
    """Give the geometry moved along a mode until the atom that moves most has moved by ``largest``.

    Parameters
    ----------
    coordinates, mode
        Shape (atoms, 3); the unit of ``largest`` is that of the coordinates, its sign gives the direction.
    """
    return coordinates + mode * float(largest / np.linalg.norm(mode, axis=1).max())
