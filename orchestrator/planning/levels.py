"""Which level of theory a request names: method, basis, solvent, engine; what is not known is refused, not dropped."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from orchestrator.chemistry.names import TABLE
from orchestrator.planning.conditions import DISPERSION, take_dispersion
from orchestrator.planning.words import DFT_WORD, OPTIMISE, OTHER_VERBS, VERBS
from tasks.errors import InputError
from tasks.methods import BASES, METHODS, SOLVENTS, Family, find_basis, find_method, find_solvent

ENGINES = ("pyscf", "xtb", "orca")
_OTHER_ENGINES = ("nwchem", "gaussian", "psi4", "turbomole", "molpro", "q-chem", "cp2k", "vasp")
#: spellings without hyphen or with another, beyond those that ``tasks.methods`` takes
_BARE_METHODS = (*METHODS, "gfn2", "gfn1", "m062x", "hartree-fock", "pbe1pbe", "xtb", "ωb97x")
#: methods that people name and that are not offered; found as bare words so that they are refused
_FOREIGN = (
    "mp2|ri-mp2|ccsd\\(t\\)|ccsd|dlpno-ccsd\\(t\\)|casscf|caspt2|nevpt2|b2plyp|m06-l|m06-hf|m06|m11|b97-3c|r2scan-3c"
    "|pbeh-3c|hf-3c|wb97m-v|wb97x-v|wb97x-d3?|wb97x-d4|scan|revpbe|rpbe|lda|pm[367]|am1|mndo|dftb\\+?|dftb3|gfn0|gfn-ff"
    "|gw|bse|xtb3"
)
_END = r"(?![\w*+]|-\w|\()"
_NAMED_BASIS = r"[A-Za-z0-9][\w\-+*]*(?:\([\w,]+\))?\**"
# METHOD/BASIS, with //METHOD or //METHOD/BASIS of the geometry after it.
_PAIR = re.compile(
    rf"(?<![\w/])([A-Za-zωΩ][\w\-+*]*(?:\(T\))?)\s?/\s?({_NAMED_BASIS})(?://([A-Za-z][\w\-]*)(?:/({_NAMED_BASIS}))?)?"
)
_LONE_PAIR = re.compile(r"(?<![\w/])([A-Za-zωΩ][\w\-]*)//([A-Za-z][\w\-]*)(?:/([\w\-+*]+))?")
_METHOD = re.compile(
    rf"(?<![\w-])({'|'.join(re.escape(m) for m in sorted(_BARE_METHODS, key=len, reverse=True))}|{_FOREIGN})"
    r"(-(?:d[234](?:bj|\(bj\))?|nl|v))?(?=-(?:level|optimi[sz]ed|relaxed|geometr)|(?![\w*+]|-\w))",
    re.IGNORECASE,
)
_BARE_BASES = (*BASES, "6-31g(d)", "6-31g(d,p)", "6-31+g(d)", "6-311g(d,p)", "def2svp", "def2tzvp")
_BASIS = re.compile(
    rf"(?<![\w-])({'|'.join(re.escape(b) for b in sorted(_BARE_BASES, key=len, reverse=True))}){_END}", re.IGNORECASE
)
_FAMILIES_OF_BASES = re.compile(
    r"(?<![\w-])(?:def2-\w+|(?:aug-)?cc-p\w+|6-31\d?\+*G[\w*(),]*|cc-\w+|def-\w+|ma-def2-\w+|pc-?\d)"
    r"(?![\w*+])",
    re.IGNORECASE,
)
_SAID_BASIS = re.compile(
    r"(?:in|with|using|and)\s+(?:the\s+|an?\s+)?([\w\-+*(),]*[\w*)])\s+basis(?:[- ]set)?\b", re.IGNORECASE
)
_SAID_METHOD = re.compile(
    r"(?:at|with|using|by|the)\s+(?:the\s+)?([A-Za-z][\w\-]*)\s+(?:level|functional|method|hamiltonian)\b",
    re.IGNORECASE,
)
#: looks like the name of a functional that is in no table: B3PW91, MN15
_LIKE_METHOD = re.compile(r"(?:at|with|using|by)\s+(?:the\s+)?((?=[\w-]*[A-Z][\w-]*[A-Z])[A-Z][\w-]*\d[\w-]*)(?![\w/])")
_SOLUTION = re.compile(r"\bin\s+(?:\d+(?:\.\d+)?\s*m?M\s+\w+|\w+(?:olane|glyme|pyrrolidone|carbonate))(?!\w)")
_PLAIN_WORDS = frozenset(
    "the an implicit same this that a any high higher low lower what which best good better default dft semiempirical"
    " semi-empirical"
    " quantum theory hybrid appropriate suitable usual standard first second basis a your another each density exchange"
    " double-zeta small large larger smaller both".split()
)
_HARMLESS_PAIRS = re.compile(
    r"(?:homo|lumo|and|or|kcal|kj|ev|mol|hartree|eh|w|energy|energies|gap|dipole|formula|mass|cation|anion)s?",
    re.IGNORECASE,
)
_GAS = re.compile(r"\b(?:in\s+(?:the\s+)?)?(?:gas[- ]phase|vacuum|vacuo)\b", re.IGNORECASE)
_NOT_IN = re.compile(r"\b(?:not|never|rather\s+than|instead\s+of|no\s+longer)\s+$", re.IGNORECASE)
_SOLVENT_WORDS = sorted(
    {w.lower() for e in TABLE if e.kind == "molecule" for w in (e.name, *e.synonyms)} | set(SOLVENTS) | {"h2o", "meoh"},
    key=len,
    reverse=True,
)
_SOLVENT = re.compile(
    r"(?:\b(?:in|solvated (?:by|in|with)|dissolved in|solvent(?:\s+is|\s*[:=])?|implicit|continuum)\s+"
    r"(?:(?:implicit|continuum|liquid|bulk|alpb|pcm|cosmo|smd|solvent)\s+)*)"
    rf"({'|'.join(re.escape(w) for w in _SOLVENT_WORDS)})(?![\w-])(?:\s+(?:solution|solvent|solvation))?",
    re.IGNORECASE,
)
_AQUEOUS = re.compile(r"\b(?:in\s+)?aqueous(?:\s+(?:solution|phase|medium))?\b", re.IGNORECASE)
_ENGINE = re.compile(rf"(?<![\w-])({'|'.join((*ENGINES, *map(re.escape, _OTHER_ENGINES)))})(?![\w-])", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Level:
    """A level of theory as the request names it; None: not named.

    Attributes
    ----------
    geometry_method, geometry_basis
        Level of the optimisation where it differs from that of the properties.
    optimise_at_level
        Whether the geometry is explicitly to be optimised at ``method`` itself.
    """

    method: str | None = None
    basis: str | None = None
    dispersion: str | None = None
    #: there is to be none, which is something else than saying nothing about it
    without_dispersion: bool = False
    solvent: str | None = None
    solvent_model: str | None = None
    temperature_kelvin: float | None = None
    pressure_pascal: float | None = None
    engine: str = "auto"
    geometry_method: str | None = None
    geometry_basis: str | None = None
    optimise_at_level: bool = False


def take_solvent(text: str) -> tuple[str | None, str]:
    """Find the implicit solvent; give it, and the text without it, so that it is not taken for a molecule.

    Raises
    ------
    InputError
        If the solvent is not known, or more than one is named, or the gas phase as well.
    """
    solvent: str | None = None
    for match in (*_SOLVENT.finditer(text), *_AQUEOUS.finditer(text)):
        if _NOT_IN.search(text[: match.start()]):  # "not in water but in vacuum"
            text = _blanked(text, match)
            continue
        name = "water" if match.re is _AQUEOUS else " ".join(match[1].split()).lower()
        name = {"dimethyl sulfoxide": "dmso", "dimethyl sulphoxide": "dmso", "dimethylformamide": "dmf",
                "tetrahydrofuran": "thf", "n-hexane": "hexane"}.get(name, name)  # fmt: skip
        found = find_solvent(name)
        if solvent not in (None, found):
            raise InputError("solvent", found, f"is named besides {solvent}", "Ask for one solvent in one request.")
        solvent = found
        text = _blanked(text, match)
    if solvent and in_gas_phase(text):
        problem = f"is asked for besides {solvent}"
        raise InputError("solvent", "gas phase", problem, "Ask for one of them in one request.")
    return solvent, text


def in_gas_phase(text: str) -> bool:
    """Tell whether a text asks for the gas phase; "not in the gas phase" does not."""
    return any(not _NOT_IN.search(text[: match.start()]) for match in _GAS.finditer(text))


def is_tight_binding(method: str) -> bool:
    """Tell whether a method is a tight-binding one, cheap enough for geometries of everything."""
    return find_method(method).family is Family.TIGHT_BINDING


def read_level(text: str) -> tuple[Level, str]:
    """Find method, basis and engine in a text whose molecules and solvent are blanked out.

    Returns
    -------
    level
        What is named.
    rest
        The text without it.

    Raises
    ------
    InputError
        If a method, basis or engine is named that is not known, or more than one where one is needed.
    """
    dispersion, text = take_dispersion(text)
    level = Level(dispersion=dispersion or None, without_dispersion=dispersion == "")
    methods: list[tuple[int, str]] = []
    bases: list[str] = []
    text = _GAS.sub(lambda match: " " * len(match[0]), text)
    whole = text
    for match in _PAIR.finditer(text):
        if _is_pair(match, text):
            methods.append((match.start(), _method(match[1])))
            bases.append(find_basis(match[2]))
            if match[3]:
                level = replace(
                    level, geometry_method=_method(match[3]), geometry_basis=find_basis(match[4]) if match[4] else None
                )
            text = _blanked(text, match)
    for match in _LONE_PAIR.finditer(text):
        methods.append((match.start(), _method(match[1])))
        basis = find_basis(match[3]) if match[3] else None
        level = replace(level, geometry_method=_method(match[2]), geometry_basis=basis)
        text = _blanked(text, match)
    for match in _METHOD.finditer(text):
        methods.append((match.start(), _method(match[0])))
        text = _blanked(text, match)
    for match in _BASIS.finditer(text):
        bases.append(find_basis(match[1]))
        text = _blanked(text, match)
    _refuse_unknown(text)
    engine, text = _engine(text)
    level = _assign(level, whole, methods, bases, engine)
    return level, text


@dataclass(frozen=True)
class Mention:
    """Where a text names a method, a basis set or both, and a dispersion correction; empty: not that one."""

    start: int
    end: int
    method: str
    basis: str
    dispersion: str = ""


def level_mentions(text: str) -> list[Mention]:
    """Find all levels in a text whose molecules and solvent are blanked out, from left to right.

    Pairs with a geometry's level after ``//`` are none: they say all about themselves.

    Raises
    ------
    InputError
        If a method or basis set is named that is not known.
    """
    corrections = list(DISPERSION.finditer(text))
    left_out = {place for match in corrections for place in range(*match.span())}
    places = [place for place in range(len(text)) if place not in left_out]
    rest = "".join(text[place] for place in places)
    found = []

    def mention(match: re.Match[str], method: str, basis: str) -> None:
        start, end = places[match.start()], places[match.end() - 1] + 1
        end = next((one.end() for one in corrections if one.start() == end and text[end] == "-"), end)
        own = next((one[1] for one in corrections if start <= one.start() < end), "")
        found.append(Mention(start, end, method, basis, own))

    for match in _PAIR.finditer(rest):
        if _is_pair(match, rest):
            if not match[3]:
                mention(match, _method(match[1]), find_basis(match[2]))
            rest = _blanked(rest, match)
    for match in _LONE_PAIR.finditer(rest):
        rest = _blanked(rest, match)
    for match in _METHOD.finditer(rest):
        mention(match, _method(match[0]), "")
        rest = _blanked(rest, match)
    for match in _BASIS.finditer(rest):
        mention(match, "", find_basis(match[1]))
    return sorted(found, key=lambda one: one.start)


def _blanked(text: str, match: re.Match[str]) -> str:
    return text[: match.start()] + " " * (match.end() - match.start()) + text[match.end() :]


def _method(word: str) -> str:
    return find_method(word.replace("ω", "w")).name


def _known(find: Callable[[str], str], word: str) -> bool:
    try:
        find(word)
    except InputError:
        return False
    return True


def _is_pair(match: re.Match[str], text: str) -> bool:
    """Tell whether ``A/B`` is meant as METHOD/BASIS."""
    left, right = match[1], match[2]
    if _known(_method, left) or _known(find_basis, right):
        return True
    if " " in match[0] or (_HARMLESS_PAIRS.fullmatch(left) or _HARMLESS_PAIRS.fullmatch(right)):
        return False
    said = re.search(r"(?:at|with|using|by|level|method)\s+(?:the\s+)?$", text[: match.start()], re.IGNORECASE)
    technical = re.search(r"[A-Z]{2}|\d", left) and re.search(r"[A-Z]{2}|\d", right)
    return bool(said or technical)


def _refuse_unknown(text: str) -> None:
    for pattern, find in ((_SAID_BASIS, find_basis), (_SAID_METHOD, _method)):
        for match in pattern.finditer(text):
            if match[1].lower() not in _PLAIN_WORDS:
                find(match[1])
    if unknown := _FAMILIES_OF_BASES.search(text):
        find_basis(unknown[0])
    if unknown := _LIKE_METHOD.search(text):
        _method(unknown[1])
    if unknown := _SOLUTION.search(text):
        find_solvent(unknown[0].partition(" ")[2])


def _engine(text: str) -> tuple[str, str]:
    engine = "auto"
    for match in _ENGINE.finditer(text):
        name = match[1].lower()
        if name not in ENGINES:
            raise InputError(
                "engine", match[1], "is not an engine that exists here yet", f"There are {', '.join(ENGINES)}."
            )
        engine = name
        text = _blanked(text, match)
    return engine, text


def _assign(level: Level, text: str, methods: list[tuple[int, str]], bases: list[str], engine: str) -> Level:
    """Decide which of the methods named is for the geometry and which for the properties."""
    geometry = level.geometry_method
    named = list(dict.fromkeys(name for _, name in sorted(methods)))
    cheap = [name for name in named if is_tight_binding(name)]
    costly = [name for name in named if not is_tight_binding(name)]
    if costly and len(cheap) == 1 and geometry is None:
        geometry, cheap = cheap[0], []
    rest = costly or cheap
    if len(rest) > 1:
        raise InputError("method", " and ".join(rest), "are several methods", "Ask for one method in one request.")
    basis = list(dict.fromkeys(bases))
    if len(basis) > 1:
        raise InputError(
            "basis", " and ".join(basis), "are several basis sets", "Ask for one basis set in one request."
        )
    at_level = False
    if costly and geometry is None:
        at_level = any(name in costly and _belongs_to_optimisation(text, place) for place, name in methods)
    elif not methods and geometry is None and (word := DFT_WORD.search(text)):
        at_level = _belongs_to_optimisation(text, word.start())
    return replace(
        level,
        method=rest[0] if rest else None,
        basis=basis[0] if basis else None,
        engine=engine,
        geometry_method=geometry,
        optimise_at_level=at_level,
    )


def _belongs_to_optimisation(text: str, place: int) -> bool:
    """Tell whether what stands at this place says how to optimise: the nearest verb before it decides.

    Where a part of the sentence (after ``then``) has no verb before that place, the next one decides.
    """
    start, end = 0, len(text)
    for match in re.finditer(r"\bthen\b|followed by|;|\.\s", text):
        if match.end() <= place:
            start = match.end()
        elif match.start() > place:
            end = match.start()
            break
    verbs = sorted(
        (m.start(), pattern is OPTIMISE)
        for pattern in (OPTIMISE, OTHER_VERBS, *(p for verb, p in VERBS.items() if verb != "optimize"))
        for m in pattern.finditer(text, start, end)
    )
    before = [is_optimise for where, is_optimise in verbs if where < place]
    after = [is_optimise for where, is_optimise in verbs if where >= place]
    return before[-1] if before else bool(after and after[0])
