"""How alike two molecules are: Tanimoto coefficient of Morgan fingerprints."""

from __future__ import annotations

from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator
from rdkit.DataStructs import TanimotoSimilarity

from orchestrator.chemistry.molecules import DEFAULT_MAX_ATOMS, parse

RADIUS, BITS = 2, 2048
#: how a report names it
FINGERPRINT = f"Tanimoto coefficient of Morgan fingerprints, radius {RADIUS}, {BITS} bits (Rogers and Hahn 2010)"


def tanimoto(one: str, other: str, max_atoms: int = DEFAULT_MAX_ATOMS) -> float:
    """Give the similarity of two SMILES, from 0 (nothing in common) to 1 (the same fingerprint).

    Extended-connectivity fingerprints: Rogers and Hahn, J. Chem. Inf. Model. 2010, 50, 742, doi:10.1021/ci100050t.
    Raises InputError as ``parse``.
    """
    generator = GetMorganGenerator(radius=RADIUS, fpSize=BITS)
    prints = [generator.GetFingerprint(parse(smiles, max_atoms=max_atoms)) for smiles in (one, other)]
    return float(TanimotoSimilarity(*prints))


def wording(value: float) -> str:
    """Say in words how alike that is; the bounds are ours, since no published ones hold for every fingerprint."""
    for bound, words in ((1.0, "same fingerprint"), (0.7, "very similar"), (0.4, "similar"), (0.2, "little alike")):
        if value >= bound:
            return words
    return "not alike"
