"""The barrier of hydroxide's attack on a cation (SN2): a relaxed scan with GFN2-xTB in water.

The distance between hydroxide's oxygen and a carbon at the positive nitrogen is shortened from 3.0 to 1.4 Å, all else
relaxing; the barrier is the highest energy of the scan above the lowest before it. It ranks cations; an experiment sees
free energies, and solvent that is more than a continuum. Compare Chempath et al., J. Phys. Chem. C 114 (2010) 11977
(tetramethylammonium, DFT: 17.0 kcal/mol as a free energy).
"""

from __future__ import annotations

import math

import numpy as np
from ase import Atoms
from ase.calculators.calculator import CalculationFailed
from ase.constraints import FixBondLength
from ase.optimize import BFGS
from ase.units import kcal, mol
from rdkit import Chem
from tblite.ase import TBLite
from tblite.exceptions import TBLiteRuntimeError

from tasks.elements import parse_xyz

#: C-O distances in ångström, from the complex to the alcohol
DISTANCES = tuple(float(d) for d in np.round(np.arange(3.0, 1.399, -0.1), 2))
#: a C-N bond longer than this is broken, in ångström
_LEFT = 2.2
_MAX_FORCE, _STEPS = 0.05, 80


class NoReaction(Exception):
    """The scan did not lead to the product, or could not be computed."""


def attacked_carbon(smiles: str) -> tuple[int, int]:
    """Give the indices of nitrogen and of the carbon at it that is attacked: saturated, with the most hydrogens.

    Raises
    ------
    NoReaction
        If no saturated carbon stands at a positive nitrogen.
    """
    molecule = Chem.MolFromSmiles(smiles)
    pairs = [
        (carbon.GetTotalNumHs(), -carbon.GetIdx(), nitrogen.GetIdx(), carbon.GetIdx())
        for nitrogen in molecule.GetAtoms()
        if nitrogen.GetSymbol() == "N" and (nitrogen.GetFormalCharge() == 1 or nitrogen.GetIsAromatic())
        for carbon in nitrogen.GetNeighbors()
        if carbon.GetSymbol() == "C" and str(carbon.GetHybridization()) == "SP3"
    ]
    if not pairs:
        raise NoReaction("no saturated carbon stands at a positive nitrogen")
    _, _, nitrogen, carbon = max(pairs)
    return nitrogen, carbon


def sn2_barrier(smiles: str, xyz: str, charge: int) -> float:
    """Give the barrier in kcal/mol.

    Parameters
    ----------
    smiles
        The cation; its heavy atoms come first in ``xyz``, in this order.
    xyz
        Its structure in ångström.

    Raises
    ------
    NoReaction
        If the carbon did not go over to the hydroxide, or the energies did not converge.
    """
    nitrogen, carbon = attacked_carbon(smiles)
    atoms = parse_xyz(xyz)
    symbols, positions = [a.symbol for a in atoms], np.array([a[1:] for a in atoms])
    # From behind, opposite to the nitrogen that leaves.
    away = positions[carbon] - positions[nitrogen]
    away /= np.linalg.norm(away)
    oxygen = positions[carbon] + DISTANCES[0] * away
    # Bent as in the alcohol: a straight C-O-H would stay so by symmetry, and cost 13 kcal/mol.
    aside = np.cross(away, np.eye(3)[int(np.argmin(np.abs(away)))])
    hydrogen = oxygen + 0.97 * (0.3 * away + 0.954 * aside / np.linalg.norm(aside))
    complex_ = Atoms([*symbols, "O", "H"], positions=[*positions, oxygen, hydrogen])
    place = len(symbols)
    complex_.calc = TBLite(
        method="GFN2-xTB", charge=charge - 1, multiplicity=1, solvation=("alpb", "water"), verbosity=0
    )
    energies = []
    try:
        for distance in DISTANCES:
            complex_.set_constraint()
            complex_.set_distance(carbon, place, distance, fix=0, indices=[place, place + 1])
            complex_.set_constraint(FixBondLength(carbon, place))
            BFGS(complex_, logfile=None).run(fmax=_MAX_FORCE, steps=_STEPS)
            energies.append(float(complex_.get_potential_energy()) * mol / kcal)
    except (TBLiteRuntimeError, CalculationFailed) as error:
        raise NoReaction(f"not computed at {distance:.1f} Å: {error}") from error
    left = math.dist(complex_.positions[carbon], complex_.positions[nitrogen])
    if left < _LEFT:
        raise NoReaction(f"the C-N bond was still {left:.2f} Å when the C-O bond was {DISTANCES[-1]:.1f} Å")
    top = int(np.argmax(energies))
    if top == 0:
        raise NoReaction("the energy only falls along the scan")
    return float(energies[top] - min(energies[:top]))
