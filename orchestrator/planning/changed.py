"""Words that make another molecule or calculation of what a request names, and that nothing here carries out.

"Protonated trimethylamine" is not trimethylamine: what would silently be computed as if the word were not there is
refused, with what would be right.
"""

from __future__ import annotations

import re

from tasks.errors import InputError

_ION = "Give the SMILES of the ion or radical itself, such as 'C[NH+](C)C'."
_COMPLEX = "Give the SMILES of all its parts in one, such as 'O.O', or ask for the molecules one by one."


def _words(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])(?:{pattern})(?![\w-])", re.IGNORECASE)


#: word of a request -> what is wrong with it, and what would be right
_OF_MOLECULE: tuple[tuple[re.Pattern[str], str, str], ...] = (
    (_words(r"(?:de)?protonated|ioni[sz]ed|oxidi[sz]ed|reduced"), "makes another ion of the molecule", _ION),
    (_words(r"radical(?:\s+(?:cation|anion|dication))?s?|(?:di)?anion\s+of|conjugate\s+(?:acid|base)"),
     "makes another ion of the molecule", _ION),
    (_words(r"dimers?|trimers?|tetramers?|pentamers?|hexamers?|octamers?"), "is more than one molecule", _COMPLEX),
    (_words(r"(?:ion\s+pair|complex|adduct|cluster)\s+(?:of|between|with)|hydrogen-bonded\s+(?:pair|complex)"),
     "is more than one molecule", _COMPLEX),
    (_words(r"in\s+explicit(?:\s+(?:water|solvent))?|explicit(?:ly)?\s+(?:solvat\w+|water(?:\s+molecules?)?)"),
     "is no implicit solvent", "Say 'in water' for an implicit solvent, or ask for a molecular dynamics simulation."),
)  # fmt: skip
_OF_CALCULATION: tuple[tuple[re.Pattern[str], str, str], ...] = (
    (_words(r"scal(?:ed|ing)\s+(?:by|with|factor(?:\s+of)?)\s*\d*\.?\d*|scale\s+factor"), "is not done to frequencies",
     "Leave it out, and scale what comes out."),
    (_words(r"quasi-?\s?(?:rrho|harmonic)|grimme(?:'s)?\s+(?:rrho|entropy)"), "is no thermochemistry that is offered",
     "Ask for the rigid rotor and harmonic oscillator, which is the default."),
    (_words(r"1\s?M(?:\s+standard\s+state)?|standard\s+state"), "is no standard state that is offered",
     "Ask for a pressure, such as 1 bar, and convert what comes out."),
    (_words(r"with(?:\s+and\s+|/)without|without\s+and\s+with"), "is two calculations", "Ask for them one by one."),
    (_words(r"(?:dice|tversky|cosine|maccs)(?:\s+(?:keys?|similarit(?:y|ies)|coefficients?))?"),
     "is no similarity that is offered", "Ask for Tanimoto's of Morgan fingerprints, which is the default."),
)  # fmt: skip
_FILE = re.compile(r"\.(?:xyz|mol2?|sdf|pdb|cif|gbw|inp|out|log)\b", re.IGNORECASE)
_SIGN = re.compile(r"['\"`]?\s+(cation|anion)\b", re.IGNORECASE)
#: a level that only an analysis of orbitals tells
OTHER_ORBITAL = re.compile(r"(?<![\w-])(?:HOMO\s?[-−]|LUMO\s?\+|HOMO\+|LUMO[-−])\s?\d+(?![.\d]|\s*eV)", re.IGNORECASE)


def refuse_other_ion(rest: str, end: int, name: str, charge: int) -> None:
    """Raise InputError if the word behind a molecule makes an ion or a file of it.

    Parameters
    ----------
    rest
        The request, with blanks where its molecules stand.
    end
        Where the molecule ends in it.
    charge
        What the molecule's SMILES gives.
    """
    if match := _FILE.match(rest, end):
        remedy = "Give the SMILES; a structure is made from it."
        raise InputError("molecule", f"{name}{match[0]}", "is a file, which is not read from a request", remedy)
    if match := _SIGN.match(rest, end):
        wanted, sign = (charge > 0, "positive") if match[1].lower() == "cation" else (charge < 0, "negative")
        if not wanted:
            raise InputError("molecule", f"{name} {match[1]}", f"has no {sign} charge in its SMILES", _ION)


def refuse_other_orbitals(rest: str) -> None:
    """Raise InputError for an orbital besides HOMO and LUMO, whose energy no quantum step reports."""
    if match := OTHER_ORBITAL.search(rest):
        remedy = f"Ask for HOMO and LUMO, or for the composition of {match[0]}, whose table has its energy."
        raise InputError("orbital", match[0], "is no orbital whose energy a calculation alone reports", remedy)


def refuse_changed(rest: str, named: bool) -> None:
    """Raise InputError for a word that changes what a request names, in a way that nothing carries out.

    Parameters
    ----------
    rest
        The request without its molecules, solvent and level.
    named
        Whether it names any molecule.
    """
    for field, table in (("molecule", _OF_MOLECULE if named else ()), ("request", _OF_CALCULATION)):
        for pattern, problem, remedy in table:
            if match := pattern.search(rest):
                raise InputError(field, " ".join(match[0].split()), problem, remedy)
