"""A molecule as a line of text: SELFIES, InChI and InChIKey, and back to SMILES where that is possible."""

from __future__ import annotations

import selfies
from rdkit import Chem
from rdkit.Chem import rdinchi

from orchestrator.chemistry.molecules import DEFAULT_MAX_ATOMS, canonical, identify, parse, quietly
from tasks.errors import InputError


def to_selfies(smiles: str, max_atoms: int = DEFAULT_MAX_ATOMS) -> str:
    """Give the SELFIES of a molecule (Krenn et al. 2020, doi:10.1088/2632-2153/aba947).

    Raises
    ------
    InputError
        As ``parse``, or if SELFIES has no symbol for something in it, or would give another molecule back.
    """
    text = canonical(parse(smiles, max_atoms=max_atoms))
    try:
        encoded = str(selfies.encoder(text))
    except selfies.EncoderError as error:
        problem = f"has no SELFIES: {str(error).strip().splitlines()[-1].strip()}"
        raise InputError("smiles", smiles, problem, "Use its SMILES or InChI.") from error
    if from_selfies(encoded, max_atoms) != text:
        raise InputError("smiles", smiles, "does not come back from its SELFIES", "Use its SMILES or InChI.")
    return encoded


def from_selfies(text: str, max_atoms: int = DEFAULT_MAX_ATOMS) -> str:
    """Give the canonical SMILES of a SELFIES.

    Raises
    ------
    InputError
        If it holds something that is no symbol of SELFIES, or gives no molecule.
    """
    remedy = "Write symbols in brackets, such as [C][C][O]."
    try:
        smiles = str(selfies.decoder(text.strip()))
    except selfies.DecoderError as error:
        raise InputError("selfies", text, "is not a valid SELFIES", remedy) from error
    if not smiles:
        raise InputError("selfies", text, "gives no molecule", remedy)
    return identify(smiles, "selfies", max_atoms).smiles


def to_inchi(smiles: str, max_atoms: int = DEFAULT_MAX_ATOMS) -> tuple[str, str]:
    """Give the standard InChI and InChIKey of a molecule; raises InputError as ``parse``, or if it has none."""
    mol = parse(smiles, max_atoms=max_atoms)
    with quietly():
        text = str(rdinchi.MolToInchi(mol)[0])
    if not text:
        raise InputError("smiles", smiles, "has no InChI", "Use its SMILES.")
    return text, str(rdinchi.InchiToInchiKey(text))


def from_inchi(text: str, max_atoms: int = DEFAULT_MAX_ATOMS) -> str:
    """Give the canonical SMILES of an InChI.

    Raises
    ------
    InputError
        If it is none; an InChIKey is a hash, from which nothing can be read back.
    """
    with quietly():
        mol = rdinchi.InchiToMol(text.strip())[0]
    if mol is None:
        remedy = "Give the whole of it, such as InChI=1S/CH4/h1H4. An InChIKey can only be looked up."
        raise InputError("inchi", text, "is not a valid InChI", remedy)
    return identify(str(Chem.MolToSmiles(mol)), "inchi", max_atoms).smiles
