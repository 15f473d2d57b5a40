"""Requests for an analysis of orbitals: pictures, cubes, charges, composition; of molecules, or of an earlier job."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from orchestrator.chemistry.molecules import DEFAULT_MAX_ATOMS
from orchestrator.inputs import NAMED_JOB, named_job
from orchestrator.planning.chemistry import step_on_job, words_of_job
from orchestrator.planning.plan import build_plan
from orchestrator.planning.request import Request, read_request
from orchestrator.planning.words import ELECTRONIC
from orchestrator.state import SUMMARY, Goal, Plan, Species, Step
from tasks.errors import InputError
from tasks.methods import Family, find_method
from tasks.wavefunctions import ANALYSES

AGENT = "multiwfn_agent"
OFFER = (
    "Analysed can be orbital energies and their composition; Mulliken, Löwdin and Hirshfeld charges; cubes and pictures"
    " of orbitals; cubes of the electron density and of the electrostatic potential."
)
_WORDS = {
    "orbitals": "orbital energies",
    "composition": "composition of orbitals",
    "mulliken": "Mulliken charges",
    "loewdin": "Löwdin charges",
    "hirshfeld": "Hirshfeld charges",
    "cubes": "cubes of orbitals",
    "pictures": "pictures of orbitals",
    "density": "electron density",
    "potential": "electrostatic potential",
}
#: what an analysis is when a request only says that there shall be one
_USUAL = ("orbitals", "composition", "mulliken", "loewdin", "hirshfeld", "pictures")


def _words(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])(?:{pattern})(?!\w)", re.IGNORECASE)


_ONE = r"(?:(?:homo|lumo)(?:\s*[-+−]\s*\d+)?|orbitals?\s+\d+)"
_ORBITAL = rf"(?:the\s+|its\s+|their\s+|frontier\s+|molecular\s+)*(?:{_ONE}|(?:molecular\s+)?orbitals?)"
_ORBITALS = rf"{_ORBITAL}(?:\s*(?:,|and|&|/)\s*{_ORBITAL})*"
_SHOW = r"(?:plot|draw|show|visuali[sz]e|render|depict|display|picture|image|isosurface)(?:s|ed|ing|ting)?"
# "Plot the HOMO and LUMO energies" asks for a diagram of levels, which every quantum step gives.
_NO_LEVELS = (
    rf"(?!(?:\s*(?:,|and|&|/|[-–])\s*{_ORBITAL})*\s*[-–/]?\s*(?:\w+\s+)?(?:energ(?:y|ies)|levels?|gaps?|diagrams?))"
)

#: analysis -> the words for it
_PHRASES = {
    "pictures": _words(
        rf"{_SHOW}\s+(?:me\s+)?(?:of\s+)?{_ORBITALS}{_NO_LEVELS}"
        rf"|(?:plots?|pictures?|images?|isosurfaces?|renderings?|shapes?)\s+of\s+{_ORBITALS}{_NO_LEVELS}"
        rf"|{_ORBITALS}\s+(?:plots?|pictures?|images?|isosurfaces?|shapes?)"
        rf"|(?<=and\s){_SHOW}\s+(?:it|them)"
    ),
    "cubes": _words(
        rf"(?:cubes?|cube files?|cub files?)\s+(?:of|for)\s+{_ORBITALS}|{_ORBITALS}\s+cubes?(?:\s+files?)?"
    ),
    "composition": _words(
        rf"(?:orbital\s+)?compositions?(?:\s+of\s+{_ORBITALS})?|{_ORBITALS}\s+compositions?"
        rf"|where\b[^.;?!]{{0,40}}?{_ORBITALS}s?\s+(?:is|are|sits?|lies?|located|locali[sz]ed|distributed)(?:\s+\w+ed)?"
        rf"|(?:atomic\s+)?contributions?\s+(?:of\s+atoms\s+)?to\s+{_ORBITALS}"
    ),
    "hirshfeld": _words(r"hirshfeld(?:\s+(?:atomic\s+)?(?:charges?|populations?|analysis))?"),
    "loewdin": _words(r"l(?:ö|oe|o)wdin(?:\s+(?:atomic\s+)?(?:charges?|populations?|analysis))?"),
    "density": _words(r"electron(?:ic)?\s+densit(?:y|ies)(?:\s+cubes?)?|density\s+cubes?"),
    "potential": _words(r"(?:molecular\s+)?electrostatic\s+potentials?(?:\s+(?:maps?|cubes?))?|esp(?:\s+maps?)?"),
}
#: these ask for an analysis without saying which
_ANY = _words(
    r"wave ?functions?(?:\s+analys[ie]s)?|(?:orbital|population)\s+analys[ie]s"
    rf"|analy[sz]e\s+{_ORBITALS}|cubes?(?:\s+files?)?"
)
#: with an earlier job these are its analysis too, which otherwise every quantum step gives
_OF_A_JOB = {
    "mulliken": _words(r"mulliken(?:\s+(?:charges?|populations?|analysis))?"),
    "orbitals": _words(
        r"orbital\s+energ(?:y|ies)|(?:homo|lumo)(?:\s+and\s+(?:the\s+)?(?:homo|lumo))?\s+energ(?:y|ies)"
    ),
}
_WITH_MULTIWFN = _words(r"(?:with|using|by|in|through)\s+multiwfn|multiwfn")
_NOT_ANALYSED = _words(
    r"bond orders?|aromaticity|natural bond orbitals?|nbo|critical points?|elf|electron localization functions?|qtaim"
    r"|fukui\s+functions?|cm5|resp\s+charges?|chelpg"
)
#: what an analysis of an earlier job gives, in the words of ``ELECTRONIC``
_GIVEN_BY_ANALYSIS = ("homo", "lumo", "gap", "charges")
_NAMED = re.compile(
    r"\b(homo|lumo)(?:\s*([-+−])\s*(\d+))?\b|\borbitals?\s+(\d+(?:(?:\s*,\s*(?:and\s+)?|\s*&\s*|\s+and\s+)\d+)*)\b",
    re.IGNORECASE,
)
_RANGE = re.compile(
    rf"(?:{_ONE}|orbitals\s+\d+)\s*(?:to|through|until|\.\.+|…|–)\s*(?:the\s+)?(?:{_ONE}|\d+)", re.IGNORECASE
)
_OTHER_KIND = re.compile(r"\b(?:homo\s?\+|lumo\s?[-−])\s?\d+(?![.\d]|\s*eV)", re.IGNORECASE)
_ISOVALUE = re.compile(r"\b(?:iso-?values?|contour\s+values?)(?:\s*(?:of|=|at)?\s*\d*\.?\d+)?", re.IGNORECASE)
#: words about orbitals that would be dropped -> what is wrong with them, and what would be right
_REFUSED = (
    (_RANGE, "is a range of orbitals", "Name each of them, such as 'HOMO-2, HOMO-1 and HOMO'."),
    (_OTHER_KIND, "is an orbital of the other kind", "Count below the HOMO and above the LUMO: HOMO-1, LUMO+1."),
    (_ISOVALUE, "cannot be chosen in a request", "Leave it out; pictures are at the usual one."),
)


@dataclass(frozen=True)
class Wish:
    """What a request wants to know of orbitals; ``rest`` is its text without those words."""

    analyses: tuple[str, ...]
    orbitals: tuple[str, ...]
    #: ``last``, an id, or empty: of the molecules that it names
    job: str
    engine: str
    rest: str


def read_wish(text: str) -> Wish | None:
    """Read what a request wants to have analysed; None: nothing."""
    job = named_job(text)
    found = [name for name, words in _PHRASES.items() if words.search(text)]
    if job:
        found += [name for name, words in _OF_A_JOB.items() if words.search(text)]
    elif found and _OF_A_JOB["mulliken"].search(text):
        found.append("mulliken")
    multiwfn = bool(_WITH_MULTIWFN.search(text))
    other = bool(_ANY.search(text)) or multiwfn or bool(_NOT_ANALYSED.search(text))
    if not found and not other and not (job and re.search(r"\b(?:homo|lumo|orbitals?)\b", text, re.IGNORECASE)):
        return None
    rest = NAMED_JOB.sub(lambda match: " " * len(match[0]), text)
    for words in (*_PHRASES.values(), _OF_A_JOB["mulliken"], _ANY, _WITH_MULTIWFN):
        rest = words.sub(lambda match: " " * len(match[0]), rest)
    # "cube" alone says how the rest is wanted, and that is always as cubes.
    analyses = tuple(name for name in ANALYSES if name in found) or _USUAL
    return Wish(analyses, _orbitals(text), job, "multiwfn" if multiwfn else "auto", rest)


def _orbitals(text: str) -> tuple[str, ...]:
    named = []
    for match in _NAMED.finditer(text):
        if match[4]:
            named += re.findall(r"\d+", match[4])
            continue
        sign = (match[2] or "").replace("−", "-")
        # Only below the HOMO and above the LUMO: the other way round it would be an orbital of the other kind.
        right = {"HOMO": "-", "LUMO": "+"}[match[1].upper()]
        named.append(f"{match[1].upper()}{sign}{match[3]}" if sign == right else match[1].upper())
    return tuple(dict.fromkeys(named)) or ("HOMO", "LUMO")


def plan_analysis(
    text: str, wish: Wish, max_atoms: int = DEFAULT_MAX_ATOMS, relaxed: str = ""
) -> tuple[Plan, tuple[Species, ...], Request | None]:
    """Plan an analysis: of an earlier job alone, or after the quantum steps that make the orbitals.

    ``relaxed``: as of ``build_plan``.

    Raises
    ------
    InputError
        If it names both molecules and an earlier job, neither, an analysis that nothing does, or a method that leaves
        no orbitals.
    """
    if found := _NOT_ANALYSED.search(text):
        raise InputError("request", found[0], "is an analysis that no agent does yet", f"{OFFER} Leave the rest out.")
    for pattern, problem, remedy in _REFUSED:
        if said := pattern.search(text):
            raise InputError("orbitals", said[0], problem, remedy)
    words = named_analyses(wish)
    request = read_request(wish.rest, max_atoms) if re.search(r"\w", wish.rest) else None
    title = " ".join(text.split())
    title = title if len(title) <= 120 else f"{title[:119]}…"
    if wish.job:
        if request and request.species:
            names = ", ".join(one.name for one in request.species)
            remedy = "Ask for the one or the other."
            raise InputError("request", names, "is named beside an earlier job, whose molecule is known", remedy)
        which = "the last job that left orbitals" if wish.job == "last" else words_of_job(wish.job)
        goal = analysis_goal(wish).model_copy(update={"source_job": wish.job})
        done = [Step(number=1, agent=AGENT, description=f"Analyse the orbitals of {which}: {words}", goal=goal)]
        # What is asked about the molecule besides needs no orbitals.
        if beside := step_on_job(wish.rest, wish.job, max_atoms, _GIVEN_BY_ANALYSIS):
            done.append(beside.model_copy(update={"number": 2}))
        numbers = tuple(step.number for step in done)
        end = Step(number=len(done) + 1, agent=SUMMARY, description="Write the report", depends_on=numbers)
        return Plan(title=title, steps=(*done, end)), (), None
    if request is None or not request.species:
        remedy = "Name one, for example 'Plot the LUMO of tetramethylammonium', or 'of the last job'."
        raise InputError("request", text, "names no molecule that Simrelay knows, and no earlier job", remedy)
    request = replace(request, text=text, electronic=request.electronic or _beside(wish))
    plan = build_plan(request, relaxed)
    last = [step for step in plan.steps if step.agent == "qm_agent"][-1]
    if find_method(last.goal.method).family is Family.TIGHT_BINDING:
        remedy = "Take a method such as B3LYP; the geometry may still be optimised by tight binding."
        raise InputError("method", last.goal.method, "leaves no orbitals that could be analysed", remedy)
    before, summary = plan.steps[:-1], plan.steps[-1]
    names = ", ".join(one.name for one in request.species) if len(request.species) <= 4 else "all molecules"
    goal = analysis_goal(wish).model_copy(update={"protocol": last.goal.protocol, "compare": last.goal.compare})
    number = len(before) + 1
    description = f"Analyse the orbitals of {names}: {words}"
    analysis = Step(number=number, agent=AGENT, description=description, depends_on=(last.number,), goal=goal)
    summary = summary.model_copy(update={"number": number + 1, "depends_on": (*summary.depends_on, number)})
    steps = (*before, analysis, summary)
    return plan.model_copy(update={"title": title, "steps": steps}), request.species, request


def analysis_goal(wish: Wish) -> Goal:
    """Give what a step of analysis is to find out."""
    return Goal(analyses=wish.analyses, orbitals=wish.orbitals, engine=wish.engine)


def named_analyses(wish: Wish) -> str:
    """Give the analyses of a wish in words."""
    return ", ".join(_WORDS[name] for name in wish.analyses)


def _beside(wish: Wish) -> tuple[str, ...]:
    """Give what the quantum step reports besides: nothing more is computed for it."""
    about_orbitals = {"pictures", "cubes", "composition", "orbitals"} & set(wish.analyses)
    return tuple(name for name in ELECTRONIC if name in ("homo", "lumo", "gap")) if about_orbitals else ("energy",)
