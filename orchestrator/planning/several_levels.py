"""Requests that name several levels of theory: cut into parts that each name one.

"At PBE0 and at B3LYP" is the same at each of them; "optimise with PBE, then a single point with B3LYP" one after the
other; "optimise A with GFN2 and compute the dipole of B with B3LYP" each for its own molecules.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import pairwise

from orchestrator.chemistry.molecules import DEFAULT_MAX_ATOMS
from orchestrator.planning.clauses import split
from orchestrator.planning.levels import is_tight_binding, level_mentions, take_solvent
from orchestrator.planning.molecules import find_molecules
from orchestrator.planning.words import COMPARE, OPTIMISE
from tasks.errors import InputError

#: what may stand between the levels of a list
_BETWEEN = re.compile(
    r"(?:[\s,/&]|\b(?:and|or|vs|versus|with|at|by|using|to|than|also|both|then|in|the|levels?|basis|sets?|functionals?"
    r"|methods?|compared|against|as|well|from|between|once|each|respectively|a|an)\b|\.(?=\s*vs))*",
    re.IGNORECASE,
)
_LISTED = re.compile(r"\b(?:vs|versus|both|each|respectively|compared|against|than|as\s+well)\b", re.IGNORECASE)
_AGAIN = re.compile(r"\band\s+(?:also\s+|once\s+)?(?:at|with|by|using)\b", re.IGNORECASE)
#: "at the GFN2-xTB geometry" names a level that is not one of the list
_OF_A_GEOMETRY = re.compile(r"[-\s]*(?:level\s+)?(?:geometr|optimi[sz]|relaxed|structure|minim)", re.IGNORECASE)
_EVERYWHERE = re.compile(r"\b\d+[\s-]+(?:cpu\s+)?cores?\b|\b\d+(?:\.\d+)?\s*[GMT]i?B\b", re.IGNORECASE)
_GAS = re.compile(r"\b(?:gas[- ]phase|vacuum|vacuo)\b", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class _Clause:
    """A clause of the request, with what it names."""

    text: str
    molecules: frozenset[str]
    #: method and basis, as far as it names them
    levels: tuple[tuple[str, str], ...]
    compares: bool


def parts_by_level(text: str, max_atoms: int = DEFAULT_MAX_ATOMS) -> list[str]:
    """Cut a request for quantum chemistry into parts that name one level each; it alone, if it names no more.

    What cannot be read is left to whoever reads the whole, who says what is wrong with it.
    """
    try:
        clauses = [_read(clause, max_atoms) for clause in split(text)]
        parts = _joined(clauses) if _differ(clauses) else [text]
        found = [variant for part in parts for variant in _variants(part, max_atoms)]
    except InputError:
        return [text]
    return _with_common(found, text) if len(found) > 1 else [text]


def _read(text: str, max_atoms: int) -> _Clause:
    _, rest = take_solvent(text)
    found, rest = find_molecules(rest, max_atoms)
    levels = tuple((m.method, m.basis) for m in level_mentions(rest))
    molecules = frozenset(one.smiles for one in found)
    return _Clause(text=text, molecules=molecules, levels=levels, compares=bool(COMPARE.search(rest)))


def _differ(clauses: list[_Clause]) -> bool:
    """Tell whether clauses name levels that one calculation cannot have, or levels for molecules of their own."""
    naming = [clause for clause in clauses if clause.levels]
    costly = {method for clause in naming for method, _ in clause.levels if method and not is_tight_binding(method)}
    bases = {basis for clause in naming for _, basis in clause.levels if basis}
    own = {clause.molecules for clause in naming if clause.molecules}
    return len(naming) > 1 and (len(costly) > 1 or len(bases) > 1 or (len(own) > 1 and len(naming) == len(own)))


def _joined(clauses: list[_Clause]) -> list[str]:
    """Give a part for each clause that names a level, or that optimises before any does; others go with the last."""
    parts: list[_Clause] = []
    for clause in clauses:
        begins = clause.levels or (not parts and OPTIMISE.search(clause.text))
        if parts and not begins:
            parts[-1] = replace(parts[-1], text=f"{parts[-1].text}, then {clause.text}")
        elif parts and not parts[-1].levels and not OPTIMISE.search(parts[-1].text):
            parts[-1] = replace(clause, text=f"{parts[-1].text}, {clause.text}")
        else:
            parts.append(clause)
    return [part.text for part in parts]


def _variants(text: str, max_atoms: int) -> list[str]:
    """Give a part once for each level of the list that it names."""
    _, rest = take_solvent(text)
    found, rest = find_molecules(rest, max_atoms)
    mentions = [m for m in level_mentions(rest) if not _OF_A_GEOMETRY.match(rest, m.end)]
    if len(mentions) < 2:
        return [text]
    between = [rest[one.end : other.start] for one, other in pairwise(mentions)]
    if not all(_BETWEEN.fullmatch(words) for words in between):
        return [text]
    levels = _levels([(f"{m.method}-{m.dispersion}" if m.dispersion else m.method, m.basis) for m in mentions])
    cheap = [m for m in mentions if m.method and is_tight_binding(m.method)]
    # "HOMO by B3LYP with GFN2-xTB" names the level of the geometry besides.
    listed = _LISTED.search(rest) or COMPARE.search(rest) or any(_AGAIN.search(words) for words in between)
    if len(levels) < 2 or (len(cheap) == 1 and len(levels) == 2 and not listed):
        return [text]
    start, end = mentions[0].start, mentions[-1].end
    before, after = text[:start], text[end:]
    if len({one.smiles for one in found}) < 2:
        # Levels are compared, not molecules.
        before, after = COMPARE.sub("compute", before), COMPARE.sub("compute", after)
    return [f"{before}{'/'.join(filter(None, level))}{after}" for level in levels]


def _levels(mentions: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Give the levels of a list: a bare basis set belongs to the method before it, and the only one named to all."""
    levels: list[tuple[str, str]] = []
    for method, basis in mentions:
        if method:
            levels.append((method, basis))
        elif levels and not levels[-1][1]:
            levels[-1] = (levels[-1][0], basis)
        else:
            levels.append((levels[-1][0] if levels else "", basis))
    bases = {basis for _, basis in levels if basis}
    if len(bases) == 1:
        (only,) = bases
        levels = [(method, basis or ("" if method.startswith("GFN") else only)) for method, basis in levels]
    return list(dict.fromkeys(levels))


def _with_common(parts: list[str], text: str) -> list[str]:
    """Give the parts with what the request says once for all of them: its solvent, its cores and memory."""
    solvent, _ = take_solvent(text)
    common = [match[0] for match in _EVERYWHERE.finditer(text)]
    found = []
    for part in parts:
        its, _ = take_solvent(part)
        if solvent and not its and not _GAS.search(part):
            part = f"{part} in {solvent}"
        found.append(", ".join([part, *(words for words in dict.fromkeys(common) if words not in part)]))
    return found
