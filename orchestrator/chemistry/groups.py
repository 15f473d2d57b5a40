"""Functional groups of a molecule, by SMARTS patterns.

The patterns are ours, in the notation of the Daylight SMARTS theory manual; for the classes see the IUPAC Gold Book. An
atom of a more special group is not counted again in a plainer one: the OH of a carboxylic acid is no alcohol, the N of
an amide no amine. A ring such as piperidinium is named besides the quaternary ammonium that it holds.

Hydrogens are implicit: patterns count them (``H1``), and never match them as atoms.
"""

from __future__ import annotations

from dataclasses import dataclass

from rdkit import Chem

from orchestrator.chemistry.molecules import DEFAULT_MAX_ATOMS, parse

_NOT_ACYL = "!$(N[C,S,P]=[O,S,N])"
#: a carbon that an amine hangs on: not that of a guanidinium, nor of a nitrile (cyanamide)
_CARBON = "#6;!$([#6]=[NX3+]);!$(C#N)"
#: a carbon that an ether hangs on: no acyl carbon, and none with a second oxygen or nitrogen (acetal, orthoester)
_ALKOXY = "#6;!$(C=[O,S,N]);!$([CX4]([OX2])[OX2,NX3])"
#: a carbon that makes a hydroxyl group an alcohol: with one oxygen
_CARBINOL = "CX4;!$(C([OX2])[OX2,NX3])"
#: name -> SMARTS; the first atom of a match is the group's own
PATTERNS: dict[str, str] = {
    "quaternary ammonium": "[NX4+]([#6])([#6])([#6])[#6]",
    "protonated amine": "[NX4+;!H0;!$([NX4+]~[!#6])][#6]",
    "ammonium ion": "[NX4H4+]",
    "iminium": "[NX3+;!$(N(~O)~O);!$([NX3+]=C([NX3])[NX3]);!$([NX3+]=C[NX3])](=[#6])",
    "amidinium": "[CX3;!$(C([NX3])([NX3])=[NX3+])](=[NX3+])[NX3]",
    "piperidinium": "[NX4+]1[CX4][CX4][CX4][CX4][CX4]1",
    "pyrrolidinium": "[NX4+]1[CX4][CX4][CX4][CX4]1",
    "morpholinium": "[NX4+]1[CX4][CX4]O[CX4][CX4]1",
    "imidazolium": "[n+]1c[n]cc1",
    "pyridinium": "[n+;!$([n+][O-])]1ccccc1",
    "guanidinium": "[#6+0](=[NX3+])([NX3])[NX3]",
    "phosphonium": "[PX4+]([#6])([#6])([#6])[#6]",
    "sulfonium": "[SX3+]([#6])([#6])[#6]",
    "oxonium": "[OX3+]",
    "carboxylic acid": "[CX3;!$(C([OX2,OX1-,NX3])[OX2,OX1-,NX3])](=O)[OX2H1]",
    "carboxylate": "[CX3;!$(C(=O)([OX1-])[OX2,OX1-,NX3])](=O)[OX1-]",
    "acid anhydride": "[OX2]([CX3]=O)[CX3]=O",
    "carbonate": "[CX3](=O)([OX2,OX1-])[OX2,OX1-]",
    "carbamate": "[CX3](=O)([OX2,OX1-])[NX3]",
    "urea": "[CX3](=O)([NX3])[NX3]",
    "ester": "[CX3;!$(C([OX2])[OX2]);!$(C[NX3])](=O)[OX2][#6;!$(C=[O,S])]",
    "thioester": "[CX3](=O)[SX2][#6]",
    "thioamide": "[CX3;!$(C([NX3])[NX3])](=[SX1])[NX3]",
    "thiourea": "[CX3](=[SX1])([NX3])[NX3]",
    "imide": "[NX3]([CX3]=O)[CX3]=O",
    "amide": "[CX3;!$(C([NX3])[NX3,OX2,OX1-])](=O)[NX3;!$(N([CX3]=O)[CX3]=O)]",
    "amidine": "[CX3;!$(C([NX3])[NX3])](=[NX2;!$(N[O,N])])[NX3+0]",
    "guanidine": "[CX3](=[NX2])([NX3+0])[NX3+0]",
    "imine": "[CX3;!$(C[NX3])]=[NX2;!$(N[O,N])]",
    "oxime": "[CX3]=[NX2][OX2H1]",
    "hydrazone": "[CX3]=[NX2][NX3]",
    "aldehyde": "[$([CX3H1][#6]),CX3H2]=[OX1]",
    "ketone": "[#6X3;!$(C~[!#6;!$(O=C)])]([#6])(=O)[#6]",
    "orthoester": "[CX4]([OX2])([OX2])[OX2]",
    "acetal": "[CX4;!$(C([OX2])([OX2])[OX2])]([OX2;!$(OC=O)][#6])[OX2;!$(OC=O)][#6]",
    "hemiacetal": "[CX4]([OX2H1])[OX2;!$(OC=O)][#6]",
    "nitrile": "[CX2;!$(C[NX3,OX2,SX2])](#[NX1])[#6]",
    "isonitrile": "[CX1-]#[NX2+]",
    "isocyanate": "[NX2]=C=O",
    "azide": "[NX2;!$([NX2+])]=[NX2+]=[NX1-]",
    "diazo": "[CX3;!$(C=*=*)]=[NX2+]=[NX1-]",
    "azo": "[NX2;!$([NX2]=[NX2+])]([#6])=[NX2][#6]",
    "hydrazine": "[NX3;!$(NC=[O,S]);!$(N=*);!$(NN=*)][NX3;!$(NC=[O,S])]",
    "nitro": "[NX3+]([#6])(=O)[O-]",
    "nitrate": "[NX3+](=O)([O-])[OX2,OX1-]",
    "nitroso": "[NX2]([#6])=O",
    "N-oxide": "[$([NX4+]([#6])([#6])[#6]),nX3+][OX1-]",
    "sulfonic acid": "[SX4]([#6])(=O)(=O)[OX2H1]",
    "sulfonate": "[SX4]([#6])(=O)(=O)[OX1-,OX2$(O[#6])]",
    "sulfonamide": "[SX4]([#6])(=O)(=O)[NX3;!$(N(S(=O)=O)S(=O)=O)]",
    "sulfonimide": "[NX3,NX2-](S(=O)=O)S(=O)=O",
    "sulfate": "[SX4](=O)(=O)([OX2,OX1-])[OX2,OX1-]",
    "sulfone": "[SX4](=O)(=O)([#6])[#6]",
    "sulfoxide": "[SX3;+0](=O)([#6])[#6]",
    "phosphate": "[PX4](=O)([OX2,OX1-])([OX2,OX1-])[OX2,OX1-]",
    "phosphonate": "[PX4]([#6])(=O)([OX2,OX1-])[OX2,OX1-]",
    "phosphine": "[PX3;+0]([#6])([#6])[#6]",
    "phosphine oxide": "[PX4](=O)([#6])([#6])[#6]",
    "boronic acid": "[BX3]([#6])([OX2H1])[OX2H1]",
    "alcohol": f"[OX2H1][{_CARBINOL}]",
    "enol": "[OX2H1][CX3;!$(C=[O,S,N])]=[CX3]",
    "phenol": "[OX2H1]c",
    "alkoxide": "[OX1-][CX4]",
    "phenolate": "[OX1-]c",
    "peroxide": "[OX2][OX2]",
    "epoxide": "[OX2r3]1[#6r3][#6r3]1",
    "ether": f"[OX2;!r3]([{_ALKOXY}])[{_ALKOXY}]",
    "thiol": "[SX2H1][#6;!$(C=[O,S])]",
    "disulfide": "[SX2]([#6])[SX2][#6]",
    "sulfide": "[SX2]([#6;!$(C=[O,S])])[#6;!$(C=[O,S])]",
    "primary amine": f"[NX3;H2;+0;{_NOT_ACYL};!$(N~[!#6])][{_CARBON}]",
    "secondary amine": f"[NX3;H1;+0;{_NOT_ACYL};!$(N~[!#6])]([{_CARBON}])[{_CARBON}]",
    "tertiary amine": f"[NX3;H0;+0;{_NOT_ACYL};!$(N~[!#6])]([{_CARBON}])([{_CARBON}])[{_CARBON}]",
    "allene": "[CX2](=[CX3])=[CX3]",
    "alkene": "[CX3]=[CX3]",
    "alkyne": "[CX2]#[CX2]",
}
#: what a halogen hangs on -> SMARTS; that of acyl halides is a group of its own
_HALOGENATED = {"alkyl": "CX4", "aryl": "c", "vinyl": "$([CX3]=[#6])", "alkynyl": "CX2"}
_HALOGENS = {"F": "fluoride", "Cl": "chloride", "Br": "bromide", "I": "iodide"}
PATTERNS |= {
    f"{kind} {name}": f"[{symbol}][{carbon}]"
    for kind, carbon in _HALOGENATED.items()
    for symbol, name in _HALOGENS.items()
}
PATTERNS |= {f"acyl {name}": f"[CX3](=O)[{symbol}]" for symbol, name in _HALOGENS.items()}
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
