"""Requests to design cations: families and backbone, judged by what, by how large a swarm; and the plan for it."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from orchestrator.chemistry.molecules import identify
from orchestrator.planning.analysis import Wish, analysis_goal, named_analyses, read_wish
from orchestrator.planning.chemistry import operations_on
from orchestrator.planning.conditions import take_conditions
from orchestrator.planning.design_refusals import refuse_unread
from orchestrator.planning.design_words import take_objectives
from orchestrator.planning.dynamics_words import take_resources
from orchestrator.planning.levels import Level, in_gas_phase, is_tight_binding, read_level, take_solvent
from orchestrator.planning.plan import named_operations
from orchestrator.planning.specs import spec_for
from orchestrator.planning.unread import Unread
from orchestrator.planning.words import NOT_COMPUTED
from orchestrator.state import Goal, Plan, Species, Step
from tasks.cations import FAMILIES, SUBSTITUENTS
from tasks.errors import InputError
from tasks.methods import find_basis
from tasks.specs import SwarmSpec, parse_spec
from tasks.swarms import BACKBONES

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
_NUMBER_WORDS = {
    "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
}  # fmt: skip
_NUMBER_WORD = rf"(\d+|{'|'.join(_NUMBER_WORDS)})"
#: how many of the candidates: "the best 5", "top-5", "the five best", "ten most promising"
BEST = rf"\b(?:best|top)[\s-]+{_NUMBER_WORD}\b|(?<![\w.]){_NUMBER_WORD}[\s-]+(?:best|top|most\s+promising)\b"
_COUNTS = {
    "particles": re.compile(
        r"(\d+)\s+particles?|swarm\s+of\s+(\d+)|num_part\s*=?\s*(\d+)|particles?\s*[=:]\s*(\d+)", re.I
    ),
    "steps": re.compile(r"(\d+)\s+(?:steps?|iterations?|generations?)|(?:steps?|iterations?)\s*[=:]\s*(\d+)", re.I),
    "seed": re.compile(r"seed\s*(?:is|of|=|:)?\s*(\d+)", re.I),
    "max_heavy_atoms": re.compile(r"(?:at most|up to|no more than|fewer than|≤|<=?)\s*(\d+)\s+heavy atoms", re.I),
    "candidates": re.compile(BEST, re.I),
}
#: how feedback says how many candidates are wanted
_ONLY = re.compile(rf"{BEST}|(?<![\w.]){_NUMBER_WORD}\s+candidates?\b", re.IGNORECASE)
#: asked for by these words, a design gives what stands for it, and says so
_STANDS_FOR = ("stability", "transition states and barriers")
_MOST_CANDIDATES = 10
GEOMETRY = "GFN2-xTB"
DISPERSIONS = {"D3BJ": "-D3(BJ)", "D4": "-D4"}
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
    #: of each quantum job; None: the default
    cores: int | None = None
    memory_mb: int | None = None


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
    wish = read_wish(text)
    if wish and wish.analyses == ("pictures",) and not _ORBITAL.search(text):
        # "And draw them" is about the candidates, where no orbitals were spoken of.
        wish = None
    unread = Unread(wish.rest if wish else text, text)
    objectives = take_objectives(text, unread)
    counts = {name: value for name in _COUNTS if (value := _count(name, unread.text)) is not None}
    unread.text = without_counts(unread.text)
    candidates = _verifiable(counts.pop("candidates", 1))
    operations = operations_on(unread.text, candidates)
    fields |= counts | {"objectives": [o.model_dump() for o in objectives]}
    if substituents := _substituents(text):
        fields["substituents"] = substituents
    spec = parse_spec(fields)
    if not isinstance(spec, SwarmSpec):
        raise TypeError(f"a swarm became {type(spec).__name__}")
    if wish and wish.job:
        problem, remedy = "is named in a design, whose molecules come out of its swarm", "Ask for the one or the other."
        raise InputError("request", wish.job, problem, remedy)
    resources = take_resources(unread)
    level = _level(unread)
    refuse_unread(unread)
    return Design(
        text=text, swarm=spec, candidates=candidates, level=level, wish=wish, operations=operations, **resources
    )


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
    said = f"{method}{DISPERSIONS.get(level.dispersion or '', '')}/{basis}"
    model = {GEOMETRY: level.solvent_model} if level.solvent_model == "ALPB" else {method: level.solvent_model}
    where = f" in {level.solvent}" if level.solvent else ""
    final = f"{said}//{GEOMETRY}{where}"
    resources = {"cores": design.cores, "memory_mb": design.memory_mb}
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
        ("qm_agent", f"Optimise {best} with {GEOMETRY}{where}",
         Goal(properties=("geometry",), task="optimisation", method=GEOMETRY, solvent=level.solvent,
              solvent_model=model.get(GEOMETRY), protocol=GEOMETRY, candidates=count, **resources)),
        ("qm_agent", f"Verify {best} with {said}{where} at the geometries of step 3",
         Goal(properties=properties, method=method, basis=basis, dispersion=level.dispersion, solvent=level.solvent,
              solvent_model=model.get(method), engine=level.engine, geometry_step=3, compare=count > 1,
              protocol=final, candidates=count, **resources)),
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
    for step in steps:
        if step.agent == "qm_agent":
            spec_for(usual_candidate(swarm), step.goal)  # so that a level that contradicts itself is refused here
    title = " ".join(design.text.split())
    return Plan(title=title if len(title) <= 120 else f"{title[:119]}…", steps=steps)


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
    return _verifiable(_NUMBER_WORDS.get(word) or int(word))


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
    found = {word.lower() for match in _COUNTS[name].finditer(text) for word in match.groups() if word}
    values = sorted({_NUMBER_WORDS.get(word) or int(word) for word in found})
    if len(values) > 1:
        said = " and ".join(map(str, values))
        raise InputError(name, said, "are several numbers", "Give one of them.")
    return values[0] if values else None


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


def _level(unread: Unread) -> Level:
    """Take the level of the verification out of a text: what it names, in water unless it names another solvent."""
    conditions, rest = take_conditions(unread.text)
    for field, value in (("temperature", conditions.temperature_kelvin), ("pressure", conditions.pressure_pascal)):
        if value is not None:
            remedy = "Candidates are judged and verified without thermochemistry: leave it out."
            raise InputError(field, value, "has no meaning for a design", remedy)
    solvent, rest = take_solvent(rest)
    for pattern in (_REPEAT_UNIT, _BACKBONE):
        rest = pattern.sub(lambda match: " " * len(match[0]), rest)
    level, unread.text = read_level(rest)
    if level.method and is_tight_binding(level.method):
        remedy = "Candidates are judged by GFN2-xTB already: name a functional, or leave it out for B3LYP/def2-SVP."
        raise InputError("method", level.method, "verifies nothing", remedy)
    if level.geometry_method not in (None, GEOMETRY):
        remedy = f"Candidates are optimised with {GEOMETRY}: leave out what stands after '//'."
        raise InputError("method", level.geometry_method, "is not the level of a design's geometries", remedy)
    usual = None if in_gas_phase(rest) else "water"
    return replace(level, solvent=solvent or usual, solvent_model=conditions.solvent_model)
