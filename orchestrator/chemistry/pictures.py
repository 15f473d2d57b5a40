"""2D pictures of molecules, with their names."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import Any

from rdkit.Chem import rdDepictor
from rdkit.Chem.Draw import rdMolDraw2D

from orchestrator.chemistry.molecules import DEFAULT_MAX_ATOMS, parse

#: edges of one molecule's cell in pixels
CELL = (420, 340)
_COLUMNS = 3
#: more are not legible on one page
MOST = 24
#: the longest name that fits a cell; RDKit's font has ASCII only
_LEGEND = 40


def draw(molecules: Sequence[tuple[str, str]], max_atoms: int = DEFAULT_MAX_ATOMS) -> tuple[bytes, str]:
    """Draw molecules, up to three in a row.

    Parameters
    ----------
    molecules
        Name and SMILES of each; at most ``MOST`` of them are drawn.

    Returns
    -------
    png, svg

    Raises
    ------
    InputError
        As ``parse``.
    """
    shown = molecules[:MOST]
    mols = []
    for _, smiles in shown:
        mol = parse(smiles, max_atoms=max_atoms)
        rdDepictor.SetPreferCoordGen(False)
        rdDepictor.Compute2DCoords(mol)
        rdDepictor.StraightenDepiction(mol)
        mols.append(mol)
    legends = [_legend(name) for name, _ in shown]
    columns = min(_COLUMNS, len(mols))
    rows = -(-len(mols) // columns)
    size = (columns * CELL[0], rows * CELL[1], *CELL)
    png, svg = rdMolDraw2D.MolDraw2DCairo(*size), rdMolDraw2D.MolDraw2DSVG(*size)
    for page in (png, svg):
        options: Any = page.drawOptions()
        options.legendFontSize, options.legendFraction = 22, 0.14
        options.fixedBondLength, options.padding = 34, 0.08
        page.DrawMolecules(mols, legends=legends)
        page.FinishDrawing()
    return bytes(png.GetDrawingText()), str(svg.GetDrawingText())


def _legend(name: str) -> str:
    """Give a name in the letters that RDKit's font has, and no longer than fits: "α-pinene" becomes "alpha-pinene"."""
    letters = []
    for character in unicodedata.normalize("NFKD", name):
        if character.isascii():
            letters.append(character)
        elif greek := re.fullmatch(r"GREEK (?:SMALL|CAPITAL) LETTER (\w+)", unicodedata.name(character, "")):
            letters.append(greek[1].lower())
        elif unicodedata.category(character) == "Pd" or character == "−":
            letters.append("-")
        elif character in "′’‘":
            letters.append("'")
        elif not unicodedata.combining(character):
            letters.append("?")
    text = "".join(letters)
    return text if len(text) <= _LEGEND else f"{text[: _LEGEND - 3]}..."
