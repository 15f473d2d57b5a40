"""Requests to design cations: families and backbone, judged by what, by how large a swarm; and the plan for it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from orchestrator.chemistry.molecules import identify
from orchestrator.planning.analysis import Wish, analysis_goal, named_analyses, read_wish
from orchestrator.planning.chemistry import operations_on
from orchestrator.planning.levels import Level, in_gas_phase, is_tight_binding, read_level, take_solvent
from orchestrator.planning.plan import named_operations
from orchestrator.planning.words import NOT_COMPUTED
from orchestrator.state import Goal, Plan, Species, Step
from tasks.cations import FAMILIES, SUBSTITUENTS
from tasks.errors import InputError
from tasks.methods import find_basis
from tasks.specs import SwarmSpec, parse_spec
from tasks.swarms import BACKBONES, DEFAULT_OBJECTIVES, Objective

EXAMPLE = 'Ask for example "Design piperidinium cations for the backbone PBF_BB_1".'
_FAMILY_WORDS = {
    "tetraalkylammonium": r"tetra[- ]?alkyl[- ]?ammonium|quaternary ammoni(?:um|a)",
    "pyrrolidinium": "pyrrolidinium",
    "piperidinium": "piperidinium",
    "morpholinium": "morpholinium",
    "imidazolium": "imidazolium",
    "spiro_ammonium": r"spiro(?:[- _]?(?:cyclic|ammonium|undecane|cations?))?",
}
_BACKBONE = re.compile(r"(?<!\w)([A-Za-z]{2,4}_BB_\w+)", re.IGNORECASE)
_REPEAT_UNIT = re.compile(r"['\"`]?([^\s'\"`]*\[\*\][^\s'\"`]*\[\*\][^\s'\"`,;.]*)")
_NUMBER = r"([-−]?\d+(?:\.\d+)?)"
_COUNTS = {
    "particles": re.compile(
        r"(\d+)\s+particles?|swarm\s+of\s+(\d+)|num_part\s*=?\s*(\d+)|particles?\s*[=:]\s*(\d+)", re.I
    ),
    "steps": re.compile(r"(\d+)\s+(?:steps?|iterations?|generations?)|(?:steps?|iterations?)\s*[=:]\s*(\d+)", re.I),
    "seed": re.compile(r"seed\s*(?:is|of|=|:)?\s*(\d+)", re.I),
    "max_heavy_atoms": re.compile(r"(?:at most|up to|no more than|fewer than|≤|<=?)\s*(\d+)\s+heavy atoms", re.I),
    "candidates": re.compile(r"(?:best|top)\s+(\d+|two|three|four|five)\b", re.I),
}
_WORDS_OF_NUMBERS = {"two": 2, "three": 3, "four": 4, "five": 5}
_NUMBER_WORD = r"(\d+|two|three|four|five)"
#: how feedback says how many candidates are wanted
_ONLY = re.compile(
    rf"\b(?:best|top)\s+{_NUMBER_WORD}\b|(?<![\w.]){_NUMBER_WORD}\s+(?:best\s+|top\s+)?candidates?\b", re.IGNORECASE
)
#: property -> its words, and how far outside of a range its desirability has fallen to zero
_RANGES = {
    "lumo_ev": (r"lumos?", 1.0),
    "gap_ev": (r"(?:homo[-–/ ]lumo )?gaps?", 1.0),
    "sn2_barrier_kcal_per_mol": (r"(?:sn2 |hydroxide )?barriers?", 5.0),
    "iec_mmol_per_g": (r"iecs?|ion[- ]exchange capacit(?:y|ies)", 0.5),
    "logp": (r"log\s?p", 1.0),
    "molar_mass_g_per_mol": (r"molar mass(?:es)?|molecular weights?|mw", 50.0),
    "volume_cubic_angstrom": (r"volumes?", 40.0),
}
_BETWEEN = rf"(?:between|from)\s+{_NUMBER}\s*\S*\s*(?:and|to|-)\s+{_NUMBER}"
_ABOVE = rf"(?:above|over|greater than|higher than|at least|more than|>=?|≥)\s*{_NUMBER}"
_BELOW = rf"(?:below|under|less than|lower than|at most|<=?|≤)\s*{_NUMBER}"
#: asked for by these words, a design gives what stands for it, and says so
_STANDS_FOR = ("stability", "transition states and barriers")
#: an unbounded wish for a barrier: what FACTS of the field span, Marino and Kreuer, ChemSusChem 8 (2015) 513
_BARRIER = Objective(property="sn2_barrier_kcal_per_mol", curve=((8.0, 0.0), (20.0, 1.0)), weight=2.0)
_MOST_CANDIDATES = 10
_ORBITAL = re.compile(r"\b(?:homos?|lumos?|orbitals?|cubes?)\b", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Design:
    """What a request to design asks for: the swarm, and the level at which the best candidates are verified."""

    text: str
    swarm: SwarmSpec
    candidates: int
    level: Level
    #: what is to be analysed of their orbitals; None: nothing
    wish: Wish | None = None
    #: what else is done with the best candidates: ``picture``, ``selfies``, ``similarity``, …
    operations: tuple[str, ...] = ()


def read_design(text: str) -> Design:
    """Read a request to design cations.

    Raises
    ------
    InputError
        If it names no family or no backbone, something in it is not known, or it asks for what a design does not give.
    """
    others = [n for n, words in NOT_COMPUTED.items() if words.search(text) and n not in _STANDS_FOR]
    if others:
        remedy = "Leave it out, and ask for the design alone."
        raise InputError("request", text, f"asks for {' and '.join(others)}, which no agent computes yet", remedy)
    families = tuple(
        name for name in FAMILIES if re.search(rf"(?<![\w-])(?:{_FAMILY_WORDS[name]})s?(?![\w])", text, re.IGNORECASE)
    )
    if not families:
        known = ", ".join(name.replace("_", " ") for name in FAMILIES)
        raise InputError("families", text, "names no family of cations to design", f"Known are {known}. {EXAMPLE}")
    fields: dict[str, object] = {"kind": "swarm", "families": families, "backbone": _backbone(text)}
    counts = {name: value for name in _COUNTS if (value := _count(name, text)) is not None}
    candidates = _verifiable(counts.pop("candidates", 1))
    objectives = _objectives(text)
    fields |= counts | {"objectives": [o.model_dump() for o in objectives]}
    if substituents := _substituents(text):
        fields["substituents"] = substituents
    spec = parse_spec(fields)
    if not isinstance(spec, SwarmSpec):
        raise TypeError(f"a swarm became {type(spec).__name__}")
    wish = read_wish(text)
    if wish and wish.analyses == ("pictures",) and not _ORBITAL.search(text):
        # "And draw them" is about the candidates, where no orbitals were spoken of.
        wish = None
    if wish and wish.job:
        problem, remedy = "is named in a design, whose molecules come out of its swarm", "Ask for the one or the other."
        raise InputError("request", wish.job, problem, remedy)
    rest = wish.rest if wish else text
    operations = operations_on(_without_ranges(rest), candidates)
    return Design(text=text, swarm=spec, candidates=candidates, level=_level(rest), wish=wish, operations=operations)


def plan_design(text: str) -> Plan:
    """Plan a design; its molecules are known when its swarm is at its end. Raises as ``read_design``."""
    return build_design_plan(read_design(text))


def usual_candidate(swarm: SwarmSpec) -> Species:
    """Give the molecule in the middle of what a swarm searches: it stands for those that will be found."""
    identity = identify(swarm.encoding.decode([0.0] * swarm.encoding.dimensions)[0])
    return Species(name="candidate", smiles=identity.smiles, charge=identity.charge, atoms=identity.atoms)


def build_design_plan(design: Design) -> Plan:
    """Give the plan: the swarm, then its best candidates identified, relaxed, computed at DFT level, and analysed."""
    swarm, level, count = design.swarm, design.level, design.candidates
    best = the_best(count)
    families = " and ".join(name.replace("_", " ") for name in swarm.families)
    method, basis = level.method or "B3LYP", find_basis(level.basis or "def2-SVP")
    final = f"{method}/{basis}//GFN2-xTB in {level.solvent}"
    properties = ("homo", "lumo", "gap", "dipole")
    wish = design.wish
    beside = f", {named_operations(design.operations)}" if design.operations else ""
    analysis = (
        ("multiwfn_agent", f"Analyse the orbitals of {best}: {named_analyses(wish)}",
         analysis_goal(wish).model_copy(update={"protocol": final, "compare": count > 1, "candidates": count})),
    ) if wish else ()  # fmt: skip
    goals = (
        ("hem_agent", f"Search {families} cations on {swarm.backbone} by a swarm of {swarm.particles} particles,"
                      f" {swarm.steps} steps", Goal(properties=("score",), swarm=swarm, candidates=count)),
        ("chemistry_agent", f"Identify {best}: canonical SMILES, formula, molar mass, charge, 3D structure{beside}",
         Goal(properties=("smiles", "formula", "mass", "charge", "structure"), compare=count > 1,
              operations=design.operations)),
        ("qm_agent", f"Optimise {best} with GFN2-xTB in {level.solvent}",
         Goal(properties=("geometry",), task="optimisation", method="GFN2-xTB", solvent=level.solvent,
              protocol="GFN2-xTB", candidates=count)),
        ("qm_agent", f"Verify {best} with {method}/{basis} in {level.solvent} at the geometries of step 3",
         Goal(properties=properties, method=method, basis=basis, solvent=level.solvent, engine=level.engine,
              geometry_step=3, compare=count > 1, protocol=final, candidates=count)),
        *analysis,
        ("summary_agent", "Write the report", Goal(properties=properties, compare=count > 1, protocol=final)),
    )  # fmt: skip
    steps = tuple(
        Step(
            number=number,
            agent=agent,
            description=description,
            depends_on=tuple(range(1, number)) if agent == "summary_agent" else (number - 1,) if number > 1 else (),
            goal=goal,
        )
        for number, (agent, description, goal) in enumerate(goals, 1)
    )
    title = " ".join(design.text.split())
    return Plan(title=title if len(title) <= 120 else f"{title[:119]}…", steps=steps)


def _without_ranges(text: str) -> str:
    """Give a text without the ranges that a swarm works for: "with logP between 1 and 3" asks for no descriptors."""
    for words, _ in _RANGES.values():
        property_ = rf"(?<![\w-])(?:{words})(?!\w)[^.;,\d<>≤≥]{{0,20}}?"
        text = re.sub(rf"{property_}(?:{_BETWEEN}|{_ABOVE}|{_BELOW})", " ", text, flags=re.IGNORECASE)
    return text


def _backbone(text: str) -> str:
    named = list(dict.fromkeys(match[1].upper() for match in _BACKBONE.finditer(text)))
    if not named and (unit := _REPEAT_UNIT.search(text)):
        return unit[1]
    if len(named) > 1:
        raise InputError("backbone", " and ".join(named), "are several backbones", "Ask for one in one request.")
    if not named:
        remedy = f"Known are {', '.join(BACKBONES)}; or give a repeat unit, '[*]c1ccc([*])cc1'. {EXAMPLE}"
        raise InputError("backbone", text, "names no backbone", remedy)
    return named[0]


def read_counts(text: str) -> dict[str, int]:
    """Give the numbers of a swarm that a text states: ``particles``, ``steps``, ``seed``, ``max_heavy_atoms``."""
    found = {name: _count(name, text) for name in _COUNTS if name != "candidates"}
    return {name: value for name, value in found.items() if value is not None}


def read_candidates(text: str) -> int | None:
    """Give how many candidates feedback wants: ``only 5 candidates``, ``the best three``; None: it says nothing of it.

    Raises
    ------
    InputError
        If they are more than can be verified, or none.
    """
    match = _ONLY.search(text)
    if match is None:
        return None
    word = next(group for group in match.groups() if group).lower()
    return _verifiable(_WORDS_OF_NUMBERS.get(word) or int(word))


def without_counts(text: str) -> str:
    """Give a text with what ``read_counts`` and ``read_candidates`` read of it blanked out."""
    for pattern in (*_COUNTS.values(), _ONLY):
        text = pattern.sub(lambda match: " " * len(match[0]), text, count=1)
    return text


def the_best(candidates: int) -> str:
    """Name that many candidates, as the steps of a design do."""
    return "the best candidate" if candidates == 1 else f"the best {candidates} candidates"


def _verifiable(candidates: int) -> int:
    if not 1 <= candidates <= _MOST_CANDIDATES:
        raise InputError("candidates", candidates, "cannot be verified", f"Ask for 1 to {_MOST_CANDIDATES}.")
    return candidates


def _count(name: str, text: str) -> int | None:
    match = _COUNTS[name].search(text)
    if match is None:
        return None
    word = next(group for group in match.groups() if group)
    return _WORDS_OF_NUMBERS.get(word.lower()) or int(word)


def _objectives(text: str) -> tuple[Objective, ...]:
    """Give the default objectives, with the ranges that a text states in their place, or added to them."""
    found = {objective.property: objective for objective in DEFAULT_OBJECTIVES}
    for name, (words, margin) in _RANGES.items():
        property_ = rf"(?<![\w-])(?:{words})(?!\w)[^.;,\d<>≤≥]{{0,20}}?"
        if match := re.search(property_ + _BETWEEN, text, re.IGNORECASE):
            low, high = _real(match[1]), _real(match[2])
            if low > high:
                raise InputError(name, f"{low:g} to {high:g}", "is no range", "Give the lower bound first.")
            top = ((low, 1.0), (high, 1.0)) if high > low else ((low, 1.0),)
            curve = ((low - margin, 0.0), *top, (high + margin, 0.0))
        elif match := re.search(property_ + _ABOVE, text, re.IGNORECASE):
            curve = ((_real(match[1]) - margin, 0.0), (_real(match[1]), 1.0))
        elif match := re.search(property_ + _BELOW, text, re.IGNORECASE):
            curve = ((_real(match[1]), 1.0), (_real(match[1]) + margin, 0.0))
        elif name == "sn2_barrier_kcal_per_mol" and re.search(rf"(?<!\w)(?:{words})(?!\w)", text, re.IGNORECASE):
            curve = _BARRIER.curve
        else:
            continue
        found[name] = Objective(property=name, curve=curve, weight=2.0)
    return tuple(found.values())


def _real(text: str) -> float:
    return float(text.replace("−", "-"))


def _substituents(text: str) -> tuple[str, ...]:
    """Give the substituents that a text allows, by name; none named: the default."""

    def named(part: str) -> list[str]:
        return [n for n in SUBSTITUENTS if re.search(rf"(?<![\w-]){re.escape(n)}(?![\w-])", part, re.IGNORECASE)]

    without = re.search(r"\b(?:without|no|excluding|except)\s+([^.;]*)", text, re.IGNORECASE)
    excluded = named(without[1]) if without else []
    allowed = [name for name in named(text) if name not in excluded]
    if excluded and not allowed:
        default = SwarmSpec.model_fields["substituents"].default
        allowed = [name for name in default if name not in excluded]
    return tuple(allowed)


def _level(text: str) -> Level:
    """Give the level of the verification: what the text names, in water unless it names another solvent."""
    solvent, rest = take_solvent(text)
    rest = _BACKBONE.sub(" ", _REPEAT_UNIT.sub(" ", rest))
    level, _ = read_level(rest)
    if level.method and is_tight_binding(level.method):
        remedy = "Candidates are judged by GFN2-xTB already: name a functional, or leave it out for B3LYP/def2-SVP."
        raise InputError("method", level.method, "verifies nothing", remedy)
    return Level(**{**vars(level), "solvent": solvent or (None if in_gas_phase(rest) else "water")})
