"""Functional groups of a molecule, by SMARTS patterns.

The patterns are ours, in the notation of the Daylight SMARTS theory manual; for the classes see the IUPAC Gold Book. An
atom of a more special group is not counted again in a plainer one: the OH of a carboxylic acid is no alcohol, the N of
an amide no amine. A ring such as piperidinium is named besides the quaternary ammonium that it holds.
"""

from __future__ import annotations

from dataclasses import dataclass

from rdkit import Chem

from orchestrator.chemistry.molecules import DEFAULT_MAX_ATOMS, parse

_NOT_ACYL = "!$(N[C,S,P]=[O,S,N])"
#: name -> SMARTS; the first atom of a match is the group's own
PATTERNS: dict[str, str] = {
    "quaternary ammonium": "[NX4+]([#6])([#6])([#6])[#6]",
    "protonated amine": "[NX4+;!H0;!$([NX4+]~[!#6;!#1])]",
    "piperidinium": "[NX4+]1[CX4][CX4][CX4][CX4][CX4]1",
    "pyrrolidinium": "[NX4+]1[CX4][CX4][CX4][CX4]1",
    "morpholinium": "[NX4+]1[CX4][CX4]O[CX4][CX4]1",
    "imidazolium": "[n+]1c[n]cc1",
    "pyridinium": "[n+]1ccccc1",
    "guanidinium": "[#6+0](=[NX3+])([NX3])[NX3]",
    "phosphonium": "[PX4+]([#6])([#6])([#6])[#6]",
    "sulfonium": "[SX3+]([#6])([#6])[#6]",
    "carboxylic acid": "[CX3](=O)[OX2H1]",
    "carboxylate": "[CX3](=O)[OX1-]",
    "ester": "[CX3;!$(C([OX2])[OX2])](=O)[OX2][#6;!$(C=[O,S])]",
    "amide": "[CX3](=O)[NX3]",
    "aldehyde": "[CX3;H1,H2](=O)[#6,#1]",
    "ketone": "[#6][CX3](=O)[#6]",
    "nitrile": "[CX2]#[NX1]",
    "nitro": "[NX3+](=O)[O-]",
    "sulfonic acid": "[SX4](=O)(=O)([#6])[OX2H1]",
    "sulfonate": "[SX4](=O)(=O)([#6])[OX1-,OX2$(O[#6])]",
    "phosphate": "[PX4](=O)([OX2,OX1-])([OX2,OX1-])[OX2,OX1-]",
    "alcohol": "[OX2H1][CX4]",
    "phenol": "[OX2H1]c",
    "ether": "[OX2]([#6;!$(C=[O,S])])[#6;!$(C=[O,S])]",
    "thiol": "[SX2H1][#6]",
    "sulfide": "[SX2]([#6])[#6]",
    "primary amine": f"[NX3;H2;+0;{_NOT_ACYL}][#6;!$(C=[NX3+])]",
    "secondary amine": f"[NX3;H1;+0;{_NOT_ACYL}]([#6;!$(C=[NX3+])])[#6;!$(C=[NX3+])]",
    "tertiary amine": f"[NX3;H0;+0;{_NOT_ACYL}]([#6;!$(C=[NX3+])])([#6;!$(C=[NX3+])])[#6;!$(C=[NX3+])]",
    "halide": "[F,Cl,Br,I][#6]",
    "alkene": "[CX3]=[CX3]",
    "alkyne": "[CX2]#[CX2]",
}
_COMPILED = {name: Chem.MolFromSmarts(pattern) for name, pattern in PATTERNS.items()}


@dataclass(frozen=True)
class Group:
    """A functional group, how often it is there, and the atom that makes each (numbered from 1)."""

    name: str
    count: int
    atoms: tuple[int, ...]


def functional_groups(smiles: str, max_atoms: int = DEFAULT_MAX_ATOMS) -> list[Group]:
    """Find the functional groups and aromatic rings of a molecule; raises InputError as ``parse``."""
    mol = parse(smiles, max_atoms=max_atoms)
    groups = []
    for name, pattern in _COMPILED.items():
        own = sorted({match[0] + 1 for match in mol.GetSubstructMatches(pattern)})
        if own:
            groups.append(Group(name, len(own), tuple(own)))
    rings = [ring for ring in mol.GetRingInfo().AtomRings() if all(mol.GetAtomWithIdx(i).GetIsAromatic() for i in ring)]
    if rings:
        groups.append(Group("aromatic ring", len(rings), tuple(sorted({min(ring) + 1 for ring in rings}))))
    return groups
