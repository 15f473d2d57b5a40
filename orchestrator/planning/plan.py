"""Plans by rule: identify the molecules, optimise them cheaply, compute what was asked at the level asked, sum up."""

from __future__ import annotations

from dataclasses import dataclass, replace

from orchestrator.planning.levels import Level, is_tight_binding
from orchestrator.planning.request import Request
from orchestrator.planning.specs import spec_for
from orchestrator.planning.words import THERMAL
from orchestrator.state import Goal, Plan, Species, Step
from tasks.errors import InputError
from tasks.methods import find_basis, find_method
from tasks.quantum import Task
from tasks.units import memory_mb

DEFAULT_METHOD, DEFAULT_BASIS = "B3LYP", "def2-SVP"
GEOMETRY_METHOD = "GFN2-xTB"
FORCE_FIELD = "MMFF94s"
#: stands for the step of another part of the request that optimised the molecules, until the parts are joined
EARLIER = 0
#: what is computed where two molecules are compared without saying in what
DEFAULT_PROPERTIES = ("homo", "lumo", "gap", "dipole")
_IDENTITY = ("smiles", "formula", "mass", "charge")
_WORDS = {
    "homo": "HOMO",
    "lumo": "LUMO",
    "gap": "HOMO–LUMO gap",
    "energy": "energy",
    "dipole": "dipole moment",
    "charges": "Mulliken charges",
    "frequencies": "frequencies",
    "zero_point": "zero-point energy",
    "enthalpy": "enthalpy",
    "entropy": "entropy",
    "gibbs": "Gibbs energy",
    "geometry": "geometry",
    "smiles": "canonical SMILES",
    "formula": "formula",
    "mass": "molar mass",
    "charge": "charge",
    "multiplicity": "multiplicity",
    "atoms": "number of atoms",
    "structure": "3D structure",
    "identity": "identity",
}


_OPERATIONS = {
    "validity": "validity",
    "masses": "average and monoisotopic mass",
    "atoms": "atoms by element",
    "groups": "functional groups",
    "similarity": "similarity",
    "selfies": "SELFIES",
    "inchi": "InChI and InChIKey",
    "descriptors": "descriptors",
    "filters": "structural alerts",
    "picture": "2D picture",
    "iupac": "IUPAC name",
    "cas": "CAS number",
}


@dataclass(frozen=True)
class _Stage:
    """One quantum step before it has its number."""

    task: Task
    method: str
    basis: str | None
    dispersion: str | None = None

    @property
    def level(self) -> str:
        method = self.method + {"D3BJ": "-D3(BJ)", "D4": "-D4"}.get(self.dispersion or "", "")
        return f"{method}/{self.basis}" if self.basis else method


def build_plan(request: Request, relaxed: str = "") -> Plan:
    """Give the plan of a request that names molecules and something to find out about them.

    Parameters
    ----------
    relaxed
        The level at which a part of the request before this one has optimised the molecules; the first quantum step
        then begins at the geometries of step ``EARLIER``. Empty: no part has.

    Raises
    ------
    InputError
        If the level of theory contradicts itself.
    """
    electronic = request.electronic
    if not electronic and not request.identity and not request.operations and request.compare:
        electronic = DEFAULT_PROPERTIES
    identity = tuple(dict.fromkeys((*_IDENTITY, *request.identity, *(("structure",) if electronic else ()))))
    compare = request.compare and len(request.species) > 1
    names = _names(request.species)
    found_out = ", ".join(filter(None, (_list(identity), named_operations(request.operations))))
    steps = [
        Step(
            number=1,
            agent="chemistry_agent",
            description=f"Identify {names}: {found_out}",
            goal=Goal(properties=identity, compare=compare, operations=request.operations),
        )
    ]
    stages = _stages(request, electronic, bool(relaxed)) if electronic else []
    protocol = _protocol(stages, request.level.solvent, request.level.solvent_model, relaxed)
    for index, stage in enumerate(stages):
        last = index == len(stages) - 1
        wanted = electronic if last else ("geometry",)
        if stage.task == "single_point":
            wanted = tuple(p for p in wanted if p != "geometry") or ("energy",)
        number = len(steps) + 1
        goal = Goal(
            properties=wanted,
            task=stage.task,
            method=stage.method,
            basis=stage.basis,
            dispersion=stage.dispersion,
            solvent=request.level.solvent,
            solvent_model=_solvent_model(request, stages, stage),
            temperature_kelvin=request.level.temperature_kelvin if stage.task.endswith("frequencies") else None,
            pressure_pascal=request.level.pressure_pascal if stage.task.endswith("frequencies") else None,
            engine=_engine(request, stage),
            cores=request.cores,
            memory_mb=memory_mb(request.memory, "request") if request.memory else None,
            compare=compare and last,
            geometry_step=number - 1 if index else EARLIER if relaxed else None,
            protocol=protocol if last else stage.level,
        )
        _check(goal, request.species)
        description = _describe(stage, goal, names)
        steps.append(
            Step(number=number, agent="qm_agent", description=description, depends_on=(number - 1,), goal=goal)
        )
    _refuse_unused_engine(request, stages)
    before = tuple(step.number for step in steps)
    steps.append(
        Step(
            number=len(steps) + 1,
            agent="summary_agent",
            description="Compare, and write the report" if compare else "Write the report",
            depends_on=before,
            goal=Goal(properties=electronic or identity, compare=compare, protocol=protocol),
        )
    )
    title = " ".join(request.text.split())
    return Plan(title=title if len(title) <= 120 else f"{title[:119]}…", steps=tuple(steps))


def _stages(request: Request, electronic: tuple[str, ...], relaxed: bool) -> list[_Stage]:
    """Give the quantum steps: usually an optimisation by tight binding, then a single point by DFT."""
    stages = _whole_stages(request, electronic)
    if relaxed and (other := request.level.geometry_method):
        problem = f"is named besides {request.level.method} for a structure that an earlier step gives"
        raise InputError("method", other, problem, "Name one level, or say what is to be computed at each.")
    if relaxed and not THERMAL & set(electronic):
        return [replace(stages[-1], task="single_point")]
    return stages[-1:] if relaxed else stages


def _whole_stages(request: Request, electronic: tuple[str, ...]) -> list[_Stage]:
    level = request.level
    method = level.method or DEFAULT_METHOD
    thermal = bool(THERMAL & set(electronic))
    unrelaxed: Task = "frequencies" if thermal else "single_point"
    if is_tight_binding(method):
        if level.basis:
            raise InputError(
                "basis", level.basis, f"cannot be chosen with {method}", "It brings its own: leave it out."
            )
        relaxing: Task = "optimisation_frequencies" if thermal else "optimisation"
        return [_Stage(unrelaxed if request.optimise is None else relaxing, method, None, level.dispersion)]
    basis = find_basis(level.basis or DEFAULT_BASIS)
    only_geometry = electronic == ("geometry",)
    if request.optimise is None:
        return [_Stage(unrelaxed, method, basis, level.dispersion)]
    if thermal:
        # Frequencies have a meaning only where their own level has its minimum.
        last = _Stage("optimisation_frequencies", method, basis, level.dispersion)
        return [_Stage("optimisation", level.geometry_method or GEOMETRY_METHOD, _geometry_basis(level, basis)), last]
    if level.optimise_at_level or (only_geometry and (level.method or level.basis) and not level.geometry_method):
        return [_Stage("optimisation", method, basis, level.dispersion)]
    geometry_basis = _geometry_basis(level, basis)
    geometry_dispersion = level.dispersion if geometry_basis else None
    optimisation = _Stage("optimisation", level.geometry_method or GEOMETRY_METHOD, geometry_basis, geometry_dispersion)
    if only_geometry and not level.method and not level.basis:
        return [optimisation]
    return [optimisation, _Stage("single_point", method, basis, level.dispersion)]


def _geometry_basis(level: Level, basis: str) -> str | None:
    """Give the basis set of the optimisation before; None with tight binding, which brings its own."""
    method = level.geometry_method or GEOMETRY_METHOD
    if not is_tight_binding(method):
        return find_basis(level.geometry_basis or basis)
    if level.geometry_basis:
        remedy = "It brings its own: leave it out."
        raise InputError("basis", level.geometry_basis, f"cannot be chosen with {method}", remedy)
    return None


def _solvent_model(request: Request, stages: list[_Stage], stage: _Stage) -> str | None:
    """Give the solvent model that was asked for, in the stages that it is for; in all if it is for none, to say so."""
    model = request.level.solvent_model
    fitting = [one for one in stages if is_tight_binding(one.method) == (model == "ALPB")]
    return model if stage in fitting or not fitting else None


def _protocol(stages: list[_Stage], solvent: str | None, model: str | None, relaxed: str) -> str:
    """Give the level as a paper writes it: that of the properties, then ``//``, then that of the geometry."""
    if not stages:
        return ""
    final = stages[-1]
    level = final.level
    if final.task in ("single_point", "frequencies"):
        level += f"//{stages[0].level if len(stages) > 1 else relaxed or FORCE_FIELD}"
    return f"{level} in {solvent}{f' ({model})' if model else ''}" if solvent else level


def _engine(request: Request, stage: _Stage) -> str:
    return request.level.engine if request.level.engine in find_method(stage.method).engines else "auto"


def _refuse_unused_engine(request: Request, stages: list[_Stage]) -> None:
    engine = request.level.engine
    if engine == "auto" or any(_engine(request, stage) == engine for stage in stages):
        return
    methods = " or ".join(stage.level for stage in stages) or "this"
    right = ", ".join(sorted({name for stage in stages for name in find_method(stage.method).engines}))
    raise InputError("engine", engine, f"does not offer {methods}", f"It is computed by {right or 'no engine'}.")


def _check(goal: Goal, species: tuple[Species, ...]) -> None:
    for one in species:
        spec_for(one, goal)


def _describe(stage: _Stage, goal: Goal, names: str) -> str:
    where = f" in {goal.solvent}" if goal.solvent else ""
    wanted = _list(tuple(p for p in goal.properties if p != "geometry"))
    if stage.task.startswith("optimisation"):
        also = f"; {wanted}" if wanted else ""
        return f"Optimise {names} with {stage.level}{where}{also}"
    geometry = (
        f"the geometries of step {goal.geometry_step}" if goal.geometry_step is not None else "force-field geometries"
    )
    what = "Frequencies" if stage.task == "frequencies" else "Single points"
    return f"{what} of {names} with {stage.level}{where} at {geometry}: {wanted or 'energy'}"


def _list(properties: tuple[str, ...]) -> str:
    return ", ".join(_WORDS[p] for p in properties)


def named_operations(operations: tuple[str, ...]) -> str:
    """Give operations of the chemistry agent in words."""
    return ", ".join(_OPERATIONS[name] for name in operations)


def _names(species: tuple[Species, ...]) -> str:
    names = [one.name for one in species]
    if len(names) > 4:
        return f"{len(names)} molecules"
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
