"""Other notations of a molecule in a request: InChI and SELFIES become SMILES, numbers lose their introduction."""

from __future__ import annotations

import re

from orchestrator.chemistry.lines import from_inchi, from_selfies
from orchestrator.chemistry.molecules import DEFAULT_MAX_ATOMS
from orchestrator.chemistry.pubchem import check_digit, is_registry_number
from tasks.errors import InputError

_OPEN, _CLOSE, _NOT_QUOTE = r"[`'\"“]?", r"[`'\"”]?", r"[^\s'\"`“”]"
_IS = r"\s*(?:is\s*)?[:=]?\s*"
# An InChI holds commas and semicolons, and ends a sentence like any other word.
_INCHI = re.compile(rf"(?:\binchi\s*[:=]?\s*)?{_OPEN}\b(InChI={_NOT_QUOTE}*[^\s'\"`“”.,;:?!]){_CLOSE}", re.IGNORECASE)
_SAID_SELFIES = re.compile(rf"\bselfies(?:\s+string)?{_IS}{_OPEN}(\[{_NOT_QUOTE}*\]){_CLOSE}", re.IGNORECASE)
_SYMBOLS = r"(?:\[[^\[\]\s]{1,20}\])+(?:\.(?:\[[^\[\]\s]{1,20}\])+)*"
_SELFIES = re.compile(rf"{_OPEN}(?<![^\s'\"`“(,;:])({_SYMBOLS})(?![^\s'\"`”).,;:?!]){_CLOSE}")
#: no SMILES has such a bracket atom: bonds, branches and rings inside, or an atom that has no hydrogen for no reason
_ONLY_SELFIES = re.compile(r"\[(?:[=#]?(?:Branch|Ring|Expl)|[=#]?(?:C|N|O|S|P|F|B|Br|Cl|I)\]|[=#])")
_KEY = re.compile(rf"\binchi[- ]?key{_IS}{_OPEN}([A-Z]{{14}}-[A-Z]{{10}}-[A-Z])\b{_CLOSE}", re.IGNORECASE)
_NUMBER = re.compile(
    r"\bCAS(?:[-\s]*(?:registry\s+)?(?:RN|no\.?|numbers?))?"
    rf"\s*(?:is\s*)?[:=#]?\s*{_OPEN}(\d{{2,7}}-\d{{2}}-\d)(?![\w-]){_CLOSE}",
    re.IGNORECASE,
)


def with_smiles(text: str, max_atoms: int = DEFAULT_MAX_ATOMS) -> str:
    """Give a request with SMILES in quotes in place of InChI and SELFIES, and without words that introduce a number.

    Raises
    ------
    InputError
        If an InChI or SELFIES is none, or a CAS number is mistyped: its last digit checks the others.
    """
    text = _INCHI.sub(lambda m: f"'{from_inchi(m[1], max_atoms)}'", text)
    text = _SAID_SELFIES.sub(lambda m: f"'{from_selfies(m[1], max_atoms)}'", text)
    text = _SELFIES.sub(
        lambda m: f"'{from_selfies(m[1], max_atoms)}'" if _ONLY_SELFIES.search(m[1]) else m[0],
        text,
    )
    return _NUMBER.sub(_number, _KEY.sub(r"\1", text))


def _number(match: re.Match[str]) -> str:
    number = match[1]
    if not is_registry_number(number):
        right = f"{number[:-1]}{check_digit(number)}"
        problem = "is no CAS number: its last digit does not check the others"
        raise InputError("molecule", number, problem, f"Check each digit; with these, it would be {right}.")
    return number
