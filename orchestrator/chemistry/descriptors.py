"""Descriptors and structural alerts of a molecule, each by the method of its paper (RDKit)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from rdkit.Chem import QED, rdMolDescriptors
from rdkit.Chem.FilterCatalog import FilterCatalog, FilterCatalogParams
from rdkit.Contrib.SA_Score import sascorer

from orchestrator.chemistry.molecules import DEFAULT_MAX_ATOMS, identify, parse

#: descriptor -> its method and paper
SOURCES = {
    "logP": "Wildman and Crippen 1999, doi:10.1021/ci990307l",
    "TPSA": "Ertl, Rohde and Selzer 2000, doi:10.1021/jm000942e",
    "QED": "Bickerton et al. 2012, doi:10.1038/nchem.1243",
    "SA score": "Ertl and Schuffenhauer 2009, doi:10.1186/1758-2946-1-8",
    "Lipinski": "Lipinski et al. 2001, doi:10.1016/S0169-409X(00)00129-0",
    "PAINS": "Baell and Holloway 2010, doi:10.1021/jm901137j",
    "Brenk": "Brenk et al. 2008, doi:10.1002/cmdc.200700139",
}


@dataclass(frozen=True, kw_only=True)
class Descriptors:
    """What the shape of a molecule says about how it behaves.

    Attributes
    ----------
    logp
        Octanol–water partition by atomic contributions.
    tpsa_square_angstrom
        Topological polar surface of nitrogen and oxygen; sulfur and phosphorus, which the paper gives as well, are left
        out, as in most of its uses.
    qed
        Drug-likeness, from 0 to 1, with the mean weights of the paper.
    sa_score
        Effort to make it, from 1 (easy) to 10 (hard).
    donors, acceptors
        Lipinski's counts: NH and OH bonds; nitrogen and oxygen atoms.
    violations
        How many of Lipinski's four limits it breaks: more than 5 donors, 10 acceptors, 500 g/mol (the average molar
        mass), a logP over 5.
    """

    logp: float
    tpsa_square_angstrom: float
    qed: float
    sa_score: float
    donors: int
    acceptors: int
    rotatable_bonds: int
    violations: int


@dataclass(frozen=True)
class Alert:
    """A pattern of a filter that a molecule holds."""

    filter: str
    name: str


def descriptors(smiles: str, max_atoms: int = DEFAULT_MAX_ATOMS) -> Descriptors:
    """Give the descriptors of a molecule; raises InputError as ``parse``."""
    mol = parse(smiles, max_atoms=max_atoms)
    logp = float(rdMolDescriptors.CalcCrippenDescriptors(mol)[0])
    mass_dalton = identify(smiles, max_atoms=max_atoms).mass_dalton
    donors, acceptors = int(rdMolDescriptors.CalcNumLipinskiHBD(mol)), int(rdMolDescriptors.CalcNumLipinskiHBA(mol))
    return Descriptors(
        logp=logp,
        tpsa_square_angstrom=float(rdMolDescriptors.CalcTPSA(mol)),
        qed=float(QED.qed(mol)),  # type: ignore[no-untyped-call]
        sa_score=float(sascorer.calculateScore(mol)),
        donors=donors,
        acceptors=acceptors,
        rotatable_bonds=int(rdMolDescriptors.CalcNumRotatableBonds(mol)),
        violations=sum((donors > 5, acceptors > 10, mass_dalton > 500, logp > 5)),
    )


def alerts(smiles: str, max_atoms: int = DEFAULT_MAX_ATOMS) -> list[Alert]:
    """Give the PAINS and Brenk alerts of a molecule by name; raises InputError as ``parse``."""
    mol = parse(smiles, max_atoms=max_atoms)
    return [
        Alert(name, str(entry.GetDescription()))
        for name in ("PAINS", "Brenk")
        for entry in _catalog(name).GetMatches(mol)
    ]


@cache
def _catalog(name: str) -> FilterCatalog:
    parameters = FilterCatalogParams()
    parameters.AddCatalog(getattr(FilterCatalogParams.FilterCatalogs, name.upper()))
    return FilterCatalog(parameters)
