"""What was computed at several levels of theory, in one table that names the level of each number."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.agents.compare import compare
from orchestrator.agents.qm_table import ORBITALS, PROPERTIES, number
from orchestrator.state import Column, Finding, Plan, Step, Table


def at_levels(findings: Sequence[Finding], plan: Plan) -> list[tuple[str, Finding, Step]]:
    """Give the quantum findings that a request asked for, each with its level; none, if they are all at one.

    An optimisation that only others rest on is none of them.
    """
    steps = {step.number: step for step in plan.steps}
    found = [(f, steps[f.step]) for f in findings if f.agent == "qm_agent" and f.step in steps]
    asked = [(f, step) for f, step in found if step.goal.properties != ("geometry",)]
    asked.sort(key=lambda pair: pair[1].number)  # steps side by side end in any order
    levels = [(f.level if f.deviates else step.goal.protocol, f, step) for f, step in asked]
    return levels if len({level for level, _, _ in levels}) > 1 else []


def side_by_side(findings: Sequence[Finding], plan: Plan) -> Table | None:
    """Give the table of a request for several levels, one row a molecule and level; None: there is only one."""
    rows = at_levels(findings, plan)
    wanted = {"energy", *(p for _, _, step in rows for p in step.goal.properties)}
    wanted |= ORBITALS if ORBITALS & wanted else set()
    known = {value.name for _, finding, _ in rows for value in finding.values}
    shown = [p for p in PROPERTIES if p.name in wanted & known]
    if not rows or not shown:
        return None
    cells = []
    for level, finding, _ in rows:
        for molecule in dict.fromkeys(value.species for value in finding.values):
            values = {v.name: v.value for v in finding.values if v.species == molecule}
            numbers = (number(values[p.name], p.decimals) if p.name in values else "—" for p in shown)
            cells.append((molecule, level, *numbers))
    columns = (Column(title="Molecule"), Column(title="Level"), *(Column(title=p.title, unit=p.unit) for p in shown))
    return Table(columns=columns, rows=tuple(sorted(cells, key=lambda row: row[0])))


def differences(findings: Sequence[Finding], plan: Plan) -> list[str]:
    """Say of each molecule at which level it has more of something that was asked for, and by how much."""
    rows = at_levels(findings, plan)
    wanted = tuple(dict.fromkeys(p for _, _, step in rows for p in step.goal.properties))
    sentences = []
    for molecule in dict.fromkeys(value.species for _, finding, _ in rows for value in finding.values):
        values = [
            value.model_copy(update={"species": level})
            for level, finding, _ in rows
            for value in finding.values
            if value.species == molecule
        ]
        if len({value.species for value in values}) > 1:
            sentences += [f"{molecule}: {sentence}" for sentence in compare(values, wanted)]
    return sentences
