"""What of a feedback no step takes: refused, so that nobody believes that it was changed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from orchestrator.chemistry.names import find_names
from orchestrator.planning.dynamics_refusals import other_solvents
from orchestrator.planning.molecules import find_molecules, knowing_sources
from orchestrator.planning.unread import Unread
from orchestrator.planning.words import ELECTRONIC, NOT_COMPUTED, OPERATIONS, THERMAL
from orchestrator.state import Species, Step
from tasks.errors import InputError

_TAKING_OUT = re.compile(
    r"\b(?:leave\s+(?:out|away)|skip|drop|remove|omit|exclude|delete|swap|reorder|insert)\b", re.IGNORECASE
)
_STEP = re.compile(r"\bsteps?\s+(?:number\s+)?#?(\d+)\b", re.IGNORECASE)
_ADDED = re.compile(r"\b(?:add|also|as\s+well\s+as)[ ](?:(?:a|an|the|some)[ ])?(?!in\b|at\b|with\b|use\b)\w+", re.I)
#: settings that a change does not reach
_SETTINGS = re.compile(
    r"\b(?:(?:tight|fin|coars|loos|strict)er\s+\w+|(?:integration\s+)?grids?|thresholds?|multiplicit(?:y|ies)|spin"
    r"|singlets?|doublets?|triplets?|(?:un)?restricted|wall-?time|priority|gpus?|families|backbones?|substituents?"
    r"|counter-?ions?)\b",
    re.IGNORECASE,
)
#: a word with digits or several capitals in it: a method, a program, a quantity
_TECHNICAL = re.compile(r"(?<![\w'/.-])(?=[\w+*/-]*[A-Z][\w+*/-]*(?:[A-Z]|\d)|[A-Za-z][\w+*/-]*\d)[A-Za-z][\w+*/-]*")
_KNOWN = frozenset(
    "MD QM DFT SCF MSD PSO HEM TS OK NPT HOMO LUMO XTB GFN GROMACS CPU CPUS RAM ID PLEASE NOT AND WITH AT IN THE USE"
    " AGAIN ONLY HOMO-LUMO HOMO/LUMO I".split()
)


def refuse_unused(asked: Mapping[str, object], steps: Sequence[Step], remedy: str) -> None:
    """Raise InputError for a value that was read and that none of the steps has now."""
    for name, value in asked.items():
        if value is not None and not any(getattr(step.goal, name) == value for step in steps):
            problem = "is asked for, and no step that is done anew takes it"
            raise InputError("feedback", f"{name}: {value}", problem, remedy)


def refuse_unread(unread: Unread, steps: Sequence[Step], species: Sequence[Species], remedy: str) -> None:
    """Raise InputError for a number, a molecule, a quantity, a step or a word of a method that nobody has read.

    Parameters
    ----------
    steps
        Those that are done anew.
    species
        The molecules that they are about.
    """
    for said in unread.take_all(_STEP):
        if [int(said[1])] != [step.number for step in steps]:
            _refuse(unread, said, "speaks of a single step, and a change is made in all that are done anew", remedy)
    for pattern, problem in (
        (_TAKING_OUT, "takes something out of the plan, which a change does not do"),
        (_SETTINGS, "names what a change does not reach"),
    ):
        if match := pattern.search(unread.text):
            _refuse(unread, match, problem, remedy)
    _refuse_molecules(unread, steps, species, remedy)
    unread.refuse_numbers("feedback", remedy)
    properties = {name for step in steps for name in step.goal.properties}
    optimises = any(step.goal.task.startswith("optimisation") for step in steps)
    properties |= {"energy"} if any(step.agent == "qm_agent" for step in steps) else set()
    properties |= THERMAL if any(step.goal.task.endswith("frequencies") for step in steps) else set()
    for name, words in (*ELECTRONIC.items(), *NOT_COMPUTED.items(), *OPERATIONS.items()):
        planned = name in properties or (name == "geometry" and optimises)
        if not planned and (match := words.search(unread.text)):
            _refuse(unread, match, "asks for what these steps do not compute, which a change does not add", remedy)
    if (found := other_solvents(unread.text)) or (found := list(_ADDED.finditer(unread.text))):
        _refuse(unread, found[0], "is not understood", remedy)
    for word in _TECHNICAL.finditer(unread.text):
        if word[0].upper() not in _KNOWN and not _is_property(word[0]):
            _refuse(unread, word, "is not understood", remedy)


def _refuse_molecules(unread: Unread, steps: Sequence[Step], species: Sequence[Species], remedy: str) -> None:
    """Raise InputError for other molecules than the steps are about, or for only some of them."""
    try:
        with knowing_sources(tuple(species)):
            found, rest = find_molecules(unread.text)
    except InputError as error:
        raise InputError("feedback", error.value, error.problem, remedy) from error
    if any(step.agent == "md_agent" for step in steps):
        ions = {one.named.smiles for one in find_names(unread.text) if one.named.kind == "anion"}
        found = [one for one in found if one.smiles not in ions and one.name != "water"]
    families = {name for step in steps if step.goal.swarm is not None for name in step.goal.swarm.families}
    found = [one for one in found if one.name not in families]
    mine = {name: one for one in species for name in (one.smiles, one.name)}
    named = {mine[key].smiles for one in found if (key := one.name or one.smiles) in mine}
    others = [one for one in found if (one.name or one.smiles) not in mine]
    if others:
        problem = "names other molecules than the plan has, which a change does not put into it"
        raise InputError("feedback", others[0].name or others[0].smiles, problem, f"Make a run of its own. {remedy}")
    if named and named != {one.smiles for one in species}:
        problem = "is one of several molecules, and a change is made for all of them"
        raise InputError("feedback", ", ".join(sorted(named)), problem, f"Leave its name out. {remedy}")
    unread.text = rest


def _is_property(word: str) -> bool:
    return any(words.fullmatch(word) for words in (*ELECTRONIC.values(), *OPERATIONS.values()))


def _refuse(unread: Unread, match: re.Match[str], problem: str, remedy: str) -> None:
    raise InputError("feedback", unread.part(match), problem, remedy)
