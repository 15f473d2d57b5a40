"""Requests to the chemistry agent about no named molecules: checks, earlier jobs, molecules that other steps find.

SMILES and reactions that shall be checked need not be right, and are not refused for being wrong.
"""

from __future__ import annotations

import re

from orchestrator.inputs import FILE, NAMED_JOB
from orchestrator.planning.asked import Asked
from orchestrator.planning.plan import named_operations
from orchestrator.planning.request import read_request
from orchestrator.planning.words import OPERATIONS
from orchestrator.state import SUMMARY, Goal, Plan, Step
from tasks.errors import InputError

_QUOTED = re.compile(r"`([^`\s]+)`|\"([^\"\s]+)\"|“([^”\s]+)”|(?<!\w)'([^'\s]+)'(?!\w)")
#: a token that can only be meant as a SMILES, right or wrong
_MEANT = re.compile(
    r"\(?(?=\S*(?:[A-Za-z\])][\[(=#]|\[|[+\-]\(|[cCnNoO]\d|[cCNOS]{3}))[A-Za-z0-9@+\-\[\]()=#$:/\\.%*]+"
)
_REACTION = re.compile(r"(?<![^\s'\"`(:])[^\s'\"`>]*>[^\s'\"`>]*>[^\s'\"`>?,;]*")
_WORD = re.compile(r"[A-Za-z]*[a-z]{4,}[A-Za-z]*|[A-Za-z]+-[A-Za-z]+")


def read_smiles(text: str) -> tuple[str, ...]:
    """Give the SMILES, right or wrong, that a request wants to have checked; empty: it asks for no such thing."""
    if not OPERATIONS["validity"].search(text):
        return ()
    quoted = [next(filter(None, match.groups())) for match in _QUOTED.finditer(text)]
    if quoted:
        return tuple(dict.fromkeys(quoted))
    meant = []
    for token in re.split(r"[\s,;]+", text):
        bare = token.strip("'\"`").rstrip(".?!:")
        if bare and _MEANT.fullmatch(bare) and not _WORD.search(bare):
            meant.append(bare)
    return tuple(dict.fromkeys(meant))


def read_reactions(text: str) -> tuple[str, ...]:
    """Give the reaction SMILES of a request that wants their balance; empty: it asks for no such thing."""
    if not re.search(r"\bbalanced?\b|\bstoichiometr", text, re.IGNORECASE):
        return ()
    return tuple(dict.fromkeys(match[0].rstrip(".") for match in _REACTION.finditer(text)))


def plan_checking(asked: Asked, smiles: tuple[str, ...], operation: str = "validity") -> Plan:
    """Give the plan of a request that wants nothing but SMILES (``balance``: reactions) to be checked."""
    words = " and ".join(smiles) if len(smiles) <= 2 else f"{len(smiles)} SMILES"
    goal = Goal(operations=(operation,), query=" ".join(smiles))
    steps = (
        Step(
            number=1,
            agent="chemistry_agent",
            description=f"Check whether {words} is {'valid' if operation == 'validity' else 'balanced'}"[:200],
            goal=goal,
        ),
        Step(number=2, agent=SUMMARY, description="Write the report", depends_on=(1,)),
    )
    return Plan(title=_title(asked.text), steps=steps)


def words_of_job(job: str) -> str:
    """Give an earlier job, as ``named_job`` gives it, in words."""
    if job.startswith(FILE):
        return f"the file {job.removeprefix(FILE)[:12]}…"
    return "the last job" if job == "last" else f"job {job}"


def step_on_job(text: str, job: str, max_atoms: int, others: tuple[str, ...] = ()) -> Step | None:
    """Give the step that says of an earlier job's molecule what a text asks about it; None: it asks for no such thing.

    Parameters
    ----------
    others
        Electronic properties that another step on that job gives.

    Raises
    ------
    InputError
        If it asks for what neither gives.
    """
    rest = NAMED_JOB.sub(lambda match: " " * len(match[0]), text)
    request = read_request(rest, max_atoms) if re.search(r"\w", rest) else None
    if request is None:
        return None
    if request.not_computed:
        problem = f"asks for {' and '.join(request.not_computed)}, which no agent computes yet"
        raise InputError("request", text, problem, "Leave it out.")
    if left := [name for name in request.electronic if name not in others]:
        problem = f"asks for {' and '.join(left)} of {words_of_job(job)}, which its own run has reported"
        remedy = "See `simrelay job show`, or name the molecule to have it computed."
        raise InputError("request", text, problem, remedy)
    if "similarity" in request.operations:
        problem = f"asks for the similarity of one molecule, that of {words_of_job(job)}"
        raise InputError("request", text, problem, "Name two molecules.")
    if not request.operations and not request.identity:
        return None
    properties = tuple(dict.fromkeys(("smiles", "formula", "mass", "charge", *request.identity)))
    named = named_operations(request.operations) or "canonical SMILES, formula, molar mass, charge"
    goal = Goal(properties=properties, operations=request.operations, source_job=job)
    description = f"Identify the molecule of {words_of_job(job)}: {named}"
    return Step(number=1, agent="chemistry_agent", description=description[:200], goal=goal)


def plan_on_job(asked: Asked, job: str) -> Plan:
    """Give the plan of a request about an earlier job's molecule; raises as ``step_on_job``, or if it asks nothing."""
    step = step_on_job(asked.text, job, asked.max_atoms)
    if step is None:
        remedy = "Ask for example for its SELFIES, its functional groups or a 2D picture; or to plot its LUMO."
        raise InputError("request", asked.text, f"names {words_of_job(job)}, but not what to find out", remedy)
    steps = (step, Step(number=2, agent=SUMMARY, description="Write the report", depends_on=(1,)))
    return Plan(title=_title(asked.text), steps=steps)


def operations_on(text: str, count: int) -> tuple[str, ...]:
    """Give the operations that a text asks for on molecules of another step.

    Raises
    ------
    InputError
        If molecules shall be compared, and ``count``, how many there will be, is less than two.
    """
    found = tuple(name for name, words in OPERATIONS.items() if words.search(text))
    if "similarity" in found and count < 2:
        problem = "asks for the similarity of one candidate"
        raise InputError("request", text, problem, "Ask for several, such as 'the best 3'.")
    return found


_DRAWN_IN_A_BOX = re.compile(
    r"\b(?:draw|depict)\s+(?:the\s+|its\s+|their\s+)?(?:cations?|ions?|molecules?|structures?|it|them)\b"
    r"|\b2[- ]?d\s+(?:pictures?|structures?|depictions?|drawings?)",
    re.IGNORECASE,
)


def beside_dynamics(plan: Plan, text: str, count: int) -> Plan:
    """Give the plan of a simulation whose first step also does what is asked about its molecules; raises as above."""
    # Words such as "render" and "number of atoms" are about the box there.
    left_out = {"validity", "atoms"} | (set() if _DRAWN_IN_A_BOX.search(text) else {"picture"})
    operations = tuple(name for name in operations_on(text, count) if name not in left_out)
    first = plan.steps[0]
    if not operations or first.agent != "chemistry_agent":
        return plan
    changed = {
        "description": f"{first.description}: {named_operations(operations)}",
        "goal": first.goal.model_copy(update={"operations": operations}),
    }
    return plan.replace(first.model_copy(update=changed))


def _title(text: str) -> str:
    title = " ".join(text.split())
    return title if len(title) <= 120 else f"{title[:119]}…"
