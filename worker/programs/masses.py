"""Masses of the elements for vibrations and thermochemistry: the same numbers for every program.

Standard atomic weights of IUPAC (Meija et al., Pure Appl. Chem. 88 (2016) 265), the mean over natural isotopes, as ORCA
and xtb take them; Gaussian takes the commonest isotope instead, which shifts frequencies by a few parts in a thousand.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from tasks.elements import ATOMIC_NUMBER

_MASSES = """
1.008 4.002602 6.94 9.0121831 10.81 12.011 14.007 15.999 18.998403163 20.1797 22.98976928 24.305 26.9815385
28.085 30.973761998 32.06 35.45 39.948 39.0983 40.078 44.955908 47.867 50.9415 51.9961 54.938044 55.845
58.933194 58.6934 63.546 65.38 69.723 72.63 74.921595 78.971 79.904 83.798 85.4678 87.62 88.90584 91.224
92.90637 95.95 97.90721 101.07 102.9055 106.42 107.8682 112.414 114.818 118.71 121.76 127.6 126.90447 131.293
132.90545196 137.327 138.90547 140.116 140.90766 144.242 144.91276 150.36 151.964 157.25 158.92535 162.5
164.93033 167.259 168.93422 173.054 174.9668 178.49 180.94788 183.84 186.207 190.23 192.217 195.084 196.966569
200.592 204.38 207.2 208.9804 208.98243 209.98715 222.01758
"""
_BY_NUMBER = tuple(map(float, _MASSES.split()))


#: of what organic ions and water are made
_ORGANIC = ("H", "C", "N", "O", "F", "Si", "P", "S", "Cl", "Br", "I")


def symbols_of(masses: Iterable[float]) -> list[str]:
    """Give the elements of atoms of organic molecules and halides by their masses in dalton, rounded as may be."""
    known = dict(zip(_ORGANIC, masses_of(_ORGANIC), strict=True))
    return [min(known, key=lambda symbol: abs(known[symbol] - mass)) for mass in masses]


def masses_of(symbols: Sequence[str]) -> NDArray[np.float64]:
    """Give the masses of atoms in dalton."""
    return np.array([_BY_NUMBER[ATOMIC_NUMBER[symbol] - 1] for symbol in symbols])
