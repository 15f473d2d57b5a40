"""Which molecules a request names: names of the table, and SMILES that are not mistaken for words, in their order."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import pairwise

from orchestrator.chemistry.molecules import DEFAULT_MAX_ATOMS, identify
from orchestrator.chemistry.names import Named, close_names, find_names, knowing, look_up
from orchestrator.chemistry.pubchem import is_registry_number
from orchestrator.state import Species
from tasks.errors import InputError

_FIELD = "molecule"
_REMEDY = "Give the SMILES in quotes, for example 'C[N+](C)(C)C', or a name such as tetramethylammonium."
_QUOTED = re.compile(r"`([^`]*)`|\"([^\"]*)\"|“([^”]*)”|(?<![\w])'([^'\s]*)'(?!\w)")
_SAID_SMILES = re.compile(r"\bsmiles\s*(?:string\s*)?(?:is\s*)?[:=]?\s+(?=\S*[A-Z\[])(\S+)", re.IGNORECASE)
_TOKEN = re.compile(r"[^\s,;]+")
_SMILES = re.compile(r"(?:\[[^\]\s]+\]|Br|Cl|[BCNOPSFI]|[bcnops]|[=#$:/\\.\-+()@*]|%\d\d|\d)+")
#: what no ordinary word has: bracket atom, double or triple bond between atoms, branch, ring digit
_SIGNAL = re.compile(r"\[[A-Za-z0-9@+\-]+\]|[A-Za-z\])][=#][A-Z\[(a-z]|[A-Za-z\])]\([A-Za-z=#\[]|[A-Za-z]\d")
_CHAIN = re.compile(r"(?:Cl|Br|[CNOSPFI])+")
_NOT_CHAINS = frozenset({"NICS", "SCF", "CIS", "SOS", "ICS", "SCS", "SOC", "FCC", "PCC", "BCC", "CISC"})
#: after these, a SMILES fragment names a part of a molecule, not the molecule
_PART = re.compile(r"\s+(?:bonds?|stretch\w*|groups?|distances?|angles?)\b", re.IGNORECASE)
_IDENTIFIER = re.compile(r"(?<![\w-])(?:([A-Z]{14}-[A-Z]{10}-[A-Z])|\d{2,7}-\d{2}-\d)(?![\w-])")
_DATE = re.compile(r"(?:19|20)\d\d-(?:0[1-9]|1[0-2])-\d")
# Endings of systematic names; what has one and is not in the table is a molecule that we would otherwise drop.
_CHEMICAL = re.compile(
    r"[\w',\-\[\].]*(?:(?:on|in|id|ol|mon|fon|phon|ox|zol|epan)ium|am(?:in|id)e|(?:id|ol|az|ox)ine|azole"
    r"|(?:meth|eth|prop|but|pent|hex|hept|oct|non|dec|lox)(?:ane|ene|yne|anol|anone|oxide)|benzene|phenol|furan"
    r"|toluene|(?:fluor|chlor|brom|iod|hydrox|sulf|phosph)(?:ide|ate|oxide)|quinone|pyrene|phthalene|ylene|nitrile)",
    re.IGNORECASE,
)
_LOCANTS = re.compile(r"(?:N|\d+,[\d,]*\d)(?:,N)*-[a-z]{3}[\w\-\[\].]*")
_WORDS = frozenset(
    "ammonium examine determine define combine online outline routine amine diamine imine medium millennium amide"
    " equilibrium"
    " machine fluorine chlorine bromine iodine".split()
)


@dataclass(frozen=True)
class Unknown:
    """A name that is not known: the text on both sides of it, and whether it is known to be the whole name."""

    name: str
    before: str = ""
    after: str = ""
    whole: bool = False


class UnknownName(InputError):
    """A request names a molecule that is not known, and is clear but for that."""

    def __init__(self, unknown: Unknown, problem: str, remedy: str) -> None:
        super().__init__(_FIELD, unknown.name, problem, remedy)
        self.unknown = unknown


@dataclass(frozen=True)
class Found:
    """A molecule in a text: where, under what name, and as what SMILES (as written)."""

    start: int
    end: int
    name: str
    smiles: str
    kind: str = ""
    #: where its name was looked up; empty: in our table
    source: str = ""


def find_molecules(text: str, max_atoms: int = DEFAULT_MAX_ATOMS) -> tuple[list[Found], str]:
    """Find the molecules of a request.

    Returns
    -------
    found
        From left to right.
    rest
        The text with each of them replaced by blanks of the same length, for the words around them.

    Raises
    ------
    InputError
        If something is meant as a molecule and cannot be one: a SMILES that is invalid, a salt, a name not known.
    """
    text = text.replace("```", "   ")
    found, rest = _quoted(text, max_atoms)
    names = [_named(m.start, m.end, m.named) for m in find_names(rest)]
    names += _identifiers(_blank(rest, names))
    names.sort(key=lambda name: name.start)
    _refuse_salts(text, names)
    _refuse_longer_names(rest, names)
    found += names
    rest = _blank(rest, names)
    bare = _bare_smiles(rest, max_atoms)
    found += bare
    rest = _blank(rest, bare)
    _refuse_unknown_names(rest)
    return sorted(found, key=lambda molecule: molecule.start), rest


def knowing_sources(species: Iterable[Species]) -> AbstractContextManager[None]:
    """Know the names of molecules that were looked up when their request was planned, while it is read again."""
    return knowing([Named(one.name, one.smiles, "", (), one.source) for one in species if one.source])


def to_species(found: list[Found], max_atoms: int = DEFAULT_MAX_ATOMS) -> tuple[Species, ...]:
    """Give each different molecule once, checked, in the order of the request."""
    species: dict[str, Species] = {}
    for molecule in found:
        identity = identify(molecule.smiles, _FIELD, max_atoms)
        species.setdefault(
            identity.smiles,
            Species(
                name=molecule.name or (identity.smiles if len(identity.smiles) <= 40 else identity.formula),
                smiles=identity.smiles,
                formula=identity.formula,
                mass_dalton=round(identity.mass_dalton, 3),
                charge=identity.charge,
                multiplicity=identity.multiplicity,
                atoms=identity.atoms,
                source=molecule.source,
            ),
        )
    return tuple(species.values())


def _blank(text: str, found: list[Found]) -> str:
    for molecule in found:
        text = text[: molecule.start] + " " * (molecule.end - molecule.start) + text[molecule.end :]
    return text


def _quoted(text: str, max_atoms: int) -> tuple[list[Found], str]:
    """Take what stands in quotes or backticks, or after the word SMILES: it is meant literally."""
    found: list[Found] = []
    for match in [*_QUOTED.finditer(text), *_SAID_SMILES.finditer(text)]:
        group = next(number for number, value in enumerate(match.groups(), 1) if value is not None)
        content = match[group].rstrip(".,;:?!") if match.re is _SAID_SMILES else match[group]
        if any(f.start <= match.start(group) < f.end for f in found):
            continue
        if named := look_up(content):
            found.append(_named(match.start(), match.end(), named))
        elif not content.strip() or _meant_as_smiles(content):
            identify(content, f"{_FIELD}.smiles", max_atoms)
            found.append(Found(match.start(), match.end(), "", content.strip()))
    return found, _blank(text, found)


def _named(start: int, end: int, named: Named) -> Found:
    return Found(start, end, named.name, named.smiles, named.kind, named.source)


def _identifiers(text: str) -> list[Found]:
    """Find CAS numbers and InChIKeys, which stand for a molecule, and say nothing about it."""
    found = []
    for match in _IDENTIFIER.finditer(text):
        if named := look_up(match[0]):
            found.append(_named(match.start(), match.end(), named))
        elif match[1] or (is_registry_number(match[0]) and not _DATE.fullmatch(match[0])):
            what = "an InChIKey" if match[1] else "a CAS number"
            problem = f"is {what}, from which nothing can be read, and that the table of names does not have"
            raise UnknownName(Unknown(match[0], whole=True), problem, _REMEDY)
    return found


def _meant_as_smiles(text: str) -> bool:
    if _SMILES.fullmatch(text):
        return any(character.isupper() or character in "[1" for character in text)
    # Brackets and bonds with something wrong among them; long runs of small letters are a systematic name.
    return bool(re.match(r"[BCNOPSFI\[(c]\S*[\[\]=#(]\S*$", text)) and not re.search(r"[a-z]{4}|\(T\)", text)


def _bare_smiles(text: str, max_atoms: int) -> list[Found]:
    """Find SMILES that stand in a sentence without quotes."""
    found = []
    for match in _TOKEN.finditer(text):
        start, token = match.start(), match[0]
        stripped = token.lstrip("('\"")
        start += len(token) - len(stripped)
        token = stripped.rstrip(".:?!'\"")
        while token.endswith(")") and token.count(")") > token.count("("):
            token = token[:-1].rstrip(".:?!")
        if not looks_like_smiles(token) or _PART.match(text, start + len(token)):
            continue
        identify(token, f"{_FIELD}.smiles", max_atoms)
        found.append(Found(start, start + len(token), "", token))
    return found


def looks_like_smiles(token: str) -> bool:
    if not _SMILES.fullmatch(token):
        return False
    if _CHAIN.fullmatch(token):
        return len(token) >= 3 and token.count("C") >= 2 and token not in _NOT_CHAINS
    if not _SIGNAL.search(token):
        return False
    # A lone ring digit is more often a formula (CO2, N2) or a numbered word.
    ring_only = not re.search(r"[\[=#(]", token)
    return not ring_only or any(token.count(digit) >= 2 for digit in "123456789")


def _refuse_salts(text: str, names: list[Found]) -> None:
    for left, right in pairwise(names):
        if left.kind == "cation" and right.kind == "anion" and not text[left.end : right.start].strip():
            remedy = f"Ask for its ions one by one: '{left.name} and {right.name}'."
            raise InputError(_FIELD, text[left.start : right.end], "is a salt of two ions, not one molecule", remedy)


def _refuse_longer_names(text: str, names: list[Found]) -> None:
    """Raise InputError where a known name is only the end of another: "sodium hydroxide", "octyl ammonium"."""
    taken = {name.end for name in names}
    for name in names:
        before = re.search(r"([\w,\-]*(?:yl|ylene|ium|fluoro|chloro|bromo))([\s\-]+)$", text[: name.start])
        if before is None or before.end(1) in taken or before[1].lower() in _WORDS:
            continue
        whole = Unknown(text[before.start() : name.end], text[: before.start()], text[name.end :])
        raise UnknownName(whole, f"is not in the table of names, and is more than {name.name}", _REMEDY)


def _refuse_unknown_names(rest: str) -> None:
    """Raise InputError for a word that is a chemical name by its form: nothing asked for is left out silently."""
    for match in re.finditer(r"[A-Za-z0-9][\w\-\[\],.'()]*[\w\])]", rest):
        word = match[0].strip(".,()'")
        bare = word[:-1] if word.endswith("s") else word
        if bare.lower() in _WORDS:
            continue
        if _CHEMICAL.fullmatch(bare) or _LOCANTS.fullmatch(bare):
            near = close_names(bare)
            lead = f"Did you mean {', '.join(near)}? Otherwise g" if near else "G"
            start = match.start() + match[0].index(word)
            unknown = Unknown(word, rest[:start], rest[start + len(word) :])
            raise UnknownName(unknown, "is a name that the table of names does not have", f"{lead}{_REMEDY[1:]}")
