"""One molecule from its SMILES: checked, in canonical form, with formula, mass, charge and multiplicity."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from rdkit import Chem, rdBase
from rdkit.Chem import rdMolDescriptors

from orchestrator.chemistry.grammar import Mistake, find_mistake, find_stranger
from tasks.elements import ATOMIC_NUMBER
from tasks.errors import InputError

#: the largest molecule that is accepted where no setting says otherwise (``Settings.max_atoms``)
DEFAULT_MAX_ATOMS = 400
_EXAMPLE = "Give one molecule, for example 'C[N+](C)(C)C' for tetramethylammonium."
_QUATERNARY_AMMONIUM = Chem.MolFromSmarts("[NX4+]([#6])([#6])([#6])[#6]")
#: a SMILES with more characters per atom is not worth parsing: '[13C@@H]' has eight, bonds and rings add some
_CHARACTERS_PER_ATOM = 24

# RDKit prints its reasons; sent through Python's logging they can be read, and never reach the terminal.
rdBase.LogToPythonLogger()
_LOG = logging.getLogger("rdkit")
_LOG.propagate = False
_LOG.handlers[:] = [logging.NullHandler()]
_READING = threading.Lock()


@dataclass(frozen=True, kw_only=True)
class Identity:
    """What a SMILES says about a molecule.

    Attributes
    ----------
    smiles
        Canonical isomeric SMILES (RDKit).
    formula
        Hill order, hydrogens included, charge at the end: ``C4H12N+``.
    mass_dalton
        Average molar mass in g/mol, from RDKit's standard atomic weights.
    charge
        Total formal charge in elementary charges.
    multiplicity
        2S+1 with all radical electrons of the SMILES unpaired and parallel.
    atoms, electrons
        Counted with all hydrogens.
    """

    smiles: str
    formula: str
    mass_dalton: float
    charge: int
    multiplicity: int
    atoms: int
    electrons: int
    radical_electrons: int
    quaternary_ammonium: bool


class _Lines(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.extend(record.getMessage().splitlines())


@contextmanager
def quietly() -> Iterator[list[str]]:
    """Collect what RDKit says meanwhile."""
    handler = _Lines()
    with _READING:
        _LOG.addHandler(handler)
        try:
            yield handler.lines
        finally:
            _LOG.removeHandler(handler)


def _chemical_error(mol: Chem.Mol) -> str:
    with quietly():
        problems = list(Chem.DetectChemistryProblems(mol))
    if not problems:
        return ""
    first = problems[0]
    if first.GetType() == "AtomValenceException":
        atom = mol.GetAtomWithIdx(first.GetAtomIdx())
        valence = re.search(r", (\d+),", first.Message())
        bonds = f"{valence[1]} bonds, too many" if valence else "too many bonds"
        where = f"atom {atom.GetIdx() + 1} ({atom.GetSymbol()})"
        return f"is not a possible molecule: {where} has {bonds} for its charge"
    if first.GetType() == "KekulizeException":
        where = ", ".join(str(index + 1) for index in first.GetAtomIndices())
        return f"is not a possible molecule: the aromatic atoms {where} cannot have alternating double bonds"
    return f"is not a possible molecule: {first.Message().strip()[0].lower()}{first.Message().strip()[1:]}"


def read_raw(text: str) -> Chem.Mol | Mistake:
    """Read the grammar of a SMILES only, without looking at valences; or say what is wrong with it, and where."""
    if stranger := find_stranger(text):
        return stranger
    with quietly() as lines:
        raw = Chem.MolFromSmiles(text, sanitize=False)
    if raw is not None:
        return raw
    if mistake := find_mistake(text):
        return mistake
    said = "\n".join(lines)
    place = re.search(r"around position (\d+)", said)
    reason = re.search(r"SMILES Parse Error: (.*?)(?: for input|: ?'|while|$)", said, re.MULTILINE)
    return Mistake(
        reason[1].strip() if reason else "it cannot be read", int(place[1]) if place else None, "Check this place."
    )


def parse(smiles: str, field: str = "molecule.smiles", max_atoms: int = DEFAULT_MAX_ATOMS) -> Chem.Mol:
    """Read one molecule from SMILES, with hydrogens implicit.

    Raises
    ------
    InputError
        If it is empty, invalid (the reason and where), more than one molecule, too large, or holds something that is
        not an element up to radon.
    """
    text = smiles.strip()
    if not text:
        raise InputError(field, smiles, "is empty", _EXAMPLE)
    if len(text) > _CHARACTERS_PER_ATOM * max_atoms:
        raise InputError(field, smiles, f"has {len(text)} characters", f"At most {max_atoms} atoms are accepted.")
    raw = read_raw(text)
    if isinstance(raw, Mistake):
        where = f" at character {raw.position}" if raw.position else ""
        raise InputError(field, smiles, f"is not a valid SMILES: {raw.reason}{where}", raw.remedy)
    for atom in raw.GetAtoms():
        if atom.GetSymbol() not in ATOMIC_NUMBER:
            problem = f"holds '{atom.GetSymbol()}' as atom {atom.GetIdx() + 1}, which cannot be computed"
            raise InputError(field, smiles, problem, "Use the elements from hydrogen to radon, and no placeholders.")
    raw.UpdatePropertyCache(strict=False)
    if problem := _chemical_error(raw):
        raise InputError(field, smiles, problem, "Check charges in brackets, such as [N+], and the number of bonds.")
    _refuse_several(raw, smiles, field)
    with quietly():
        mol = Chem.MolFromSmiles(text)
    if mol is None:
        raise InputError(field, smiles, "is not a valid SMILES", _EXAMPLE)
    atoms = mol.GetNumAtoms(onlyExplicit=False)
    if atoms > max_atoms:
        remedy = f"At most {max_atoms} are accepted (SIMRELAY_MAX_ATOMS); take a smaller model of it."
        raise InputError(field, smiles, f"has {atoms} atoms with its hydrogens", remedy)
    return mol


def _refuse_several(mol: Chem.Mol, smiles: str, field: str) -> None:
    parts = smiles.strip().split(".")
    if len(Chem.GetMolFrags(mol)) > 1:
        shown = " and ".join(repr(part) for part in parts[:3])
        remedy = f"Give each by itself ({shown}); a salt's ions are computed one by one."
        raise InputError(field, smiles, f"is {len(parts)} molecules, not one", remedy)


def canonical(mol: Chem.Mol) -> str:
    """Give the canonical SMILES of a molecule, the same again for what it says."""
    text = str(Chem.MolToSmiles(mol))
    # One round is not always a fixed point for stereochemistry; the second or third is.
    for _ in range(4):
        again = str(Chem.MolToSmiles(Chem.MolFromSmiles(text)))
        if again == text:
            break
        text = again
    return text


def identify(smiles: str, field: str = "molecule.smiles", max_atoms: int = DEFAULT_MAX_ATOMS) -> Identity:
    """Check a SMILES and say what it is.

    Raises
    ------
    InputError
        As ``parse``.

    Examples
    --------
    >>> identify("C[N+](C)(C)C").formula
    'C4H12N+'
    """
    mol = parse(smiles, field, max_atoms)
    charge = int(Chem.GetFormalCharge(mol))
    hydrogen = float(Chem.GetPeriodicTable().GetAtomicWeight("H"))
    mass = sum(float(atom.GetMass()) + atom.GetTotalNumHs() * hydrogen for atom in mol.GetAtoms())
    protons = sum(atom.GetAtomicNum() + atom.GetTotalNumHs() for atom in mol.GetAtoms())
    electrons = protons - charge
    if electrons < 1:
        raise InputError(field, smiles, "has no electrons", "There is nothing to compute; check the charge.")
    radicals = sum(int(atom.GetNumRadicalElectrons()) for atom in mol.GetAtoms())
    multiplicity = radicals + 1
    if multiplicity % 2 == electrons % 2:
        # RDKit counts radicals by valence rules, which transition metals do not follow.
        multiplicity = 1 + electrons % 2
    return Identity(
        smiles=canonical(mol),
        formula=str(rdMolDescriptors.CalcMolFormula(mol)),
        mass_dalton=mass,
        charge=charge,
        multiplicity=multiplicity,
        atoms=int(mol.GetNumAtoms(onlyExplicit=False)),
        electrons=electrons,
        radical_electrons=radicals,
        quaternary_ammonium=bool(mol.HasSubstructMatch(_QUATERNARY_AMMONIUM)),
    )
