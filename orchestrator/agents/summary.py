"""The summary agent: merges what the steps found out into an answer, a figure and a report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import ClassVar

from orchestrator.agents.base import Agent, Context, JobResult, Work
from orchestrator.agents.side_by_side import at_levels, differences, side_by_side
from orchestrator.figures import MAX_COLUMNS, Levels, level_diagram
from orchestrator.report import QUOTING, WORDED, report_markdown, table_text
from orchestrator.state import SUMMARY, Finding, Plan, Species, Step, StepStatus
from tasks.results import Artifact
from tasks.workspace import write_artifact


class SummaryAgent(Agent):
    """Writes ``report.md`` and its figures, and the answer for the terminal (the finding's summary)."""

    name: ClassVar[str] = "summary_agent"
    description: ClassVar[str] = "Answer, report and figures out of the findings of a run"
    abilities: ClassVar[tuple[str, ...]] = ("merge what the steps of a plan found out into one answer and one report",)

    def plan_jobs(self, step: Step, context: Context) -> Work:
        """Do the whole step at once; doing it again writes the same files again."""
        if not context.findings:
            return Work(error="nothing was found out that could be summed up")
        figures, drawn = self._figures(context)
        pictures = [picture for finding in context.findings for picture in finding.pictures]
        figures = [*(picture.file for picture in pictures), *figures]
        base = context.folder.relative_to(context.workspace)
        drawn = [*((str(PurePath(p.file.path).relative_to(base)), p.caption) for p in pictures), *drawn]
        plan = _as_done(context.plan, step)
        sentences = context.prose or answer_text(context.findings, plan)
        levels = side_by_side(context.findings, plan)
        worded = bool(context.prose) or any(one.prose for one in answering(context.findings, plan))
        report = report_markdown(
            request=context.request,
            run_id=context.run_id,
            plan=plan,
            species=context.species,
            findings=context.findings,
            figures=drawn,
            files=figures,
            # What a model wrote and was refused stands nowhere in a report.
            model=tuple(filter(None, (context.usage.in_words, context.prose_note.partition(" that is refused:")[0]))),
            answer=f"{sentences}\n\n{WORDED}" if worded else sentences,
            side_by_side=levels,
        )
        path = context.folder / "report.md"
        written = write_artifact(path, report.encode(), context.workspace, "report")
        # The summary is the terminal's answer: sentences, the last table, and where to read on.
        answer = [sentences]
        main = _main(context.findings, tabled=True)
        # What other findings cite stands in their own tables.
        cited = [f for f in context.findings if f.agent in QUOTING and f is not main]
        last = levels if levels and main.agent == "qm_agent" else main.table
        for table in (*(finding.table for finding in cited), last):
            answer += ["", table_text(table)] if table and table.rows else []
        level = next((f.level for f in reversed(context.findings) if f.level), "")
        protocol = step.goal.protocol
        if protocol and any(f.deviates for f in context.findings):
            answer += ["", f"Level: {level}; asked for was {protocol}"]
        elif protocol and not levels:
            answer += ["", f"Level: {protocol} ({level})" if level else f"Level: {protocol}"]
        answer += ["", WORDED] if worded else []
        answer += ["", *(f"{a.role.capitalize()}: {a.path}" for a in (written, *figures))]
        finding = Finding(
            step=step.number,
            agent=self.name,
            stage="reported",
            summary="\n".join(answer),
            artifacts=(written, *figures),
            notes=(context.prose_note,) if context.prose_note else (),
            prose=context.prose,
        )
        return Work(finding=finding)

    def interpret(self, step: Step, context: Context, results: Sequence[JobResult]) -> Work:
        """Never needed, since no jobs are submitted; gives the same findings."""
        return self.plan_jobs(step, context)

    def _figures(self, context: Context) -> tuple[list[Artifact], list[tuple[str, str]]]:
        """Draw the level diagram if there are orbital energies; give the files, and path and caption for the report."""
        with_orbitals = [f for f in context.findings if any(v.name in ("homo", "lumo") for v in f.values)]
        asked = {p for step in context.plan.steps if step.agent == "qm_agent" for p in step.goal.properties}
        if not with_orbitals or (context.plan.steps and not asked & {"homo", "lumo", "gap"}):
            return [], []
        finding = with_orbitals[-1]
        several = [(level, f) for level, f, _ in at_levels(context.findings, context.plan) if f in with_orbitals]
        drawn = several if len(several) > 1 else [("", finding)]
        levels = [one for level, f in drawn for one in _levels(context.species, f, level)]
        goal = next((s.goal for s in context.plan.steps if s.number == finding.step), None)
        protocol = goal.protocol if goal and goal.protocol and not finding.deviates else finding.level
        phase = f"in implicit {goal.solvent}" if goal and goal.solvent else "in the gas phase"
        left_out = len(levels) - MAX_COLUMNS
        more = f" The first {MAX_COLUMNS} of {len(levels)} molecules." if left_out > 0 else ""
        text = protocol.replace(f" in {goal.solvent}", "") if goal and goal.solvent else protocol
        where = "each at the level named below it" if len(several) > 1 else f"{text}, {phase}"
        caption = f"HOMO and LUMO energies, {where}; vertical orbital energies, one conformer each.{more}"
        path = context.folder / "figures" / "levels.png"
        artifact = write_artifact(path, level_diagram(levels, caption), context.workspace, "figure")
        return [artifact], [("figures/levels.png", caption)]


def _levels(species: Sequence[Species], finding: Finding, level: str) -> list[Levels]:
    """Give the frontier orbitals of a finding, for the diagram; a level is named where there are several."""
    values = {(v.species, v.name): v.value for v in finding.values}
    made = [
        Levels(
            name=f"{one.name}, {level}" if level else one.name,
            formula=one.formula,
            homo_ev=values.get((one.name, "homo")),
            lumo_ev=values.get((one.name, "lumo")),
        )
        for one in species
    ]
    return [one for one in made if one.homo_ev is not None or one.lumo_ev is not None]


def answer_text(findings: Sequence[Finding], plan: Plan | None = None) -> str:
    """Give the sentences that answer the request: those of the last step that computed something.

    A plan of several parts says what came out at the end of each. A design also says what its swarm found, and what
    the last quantum step made of it. What was read
    elsewhere stands before what was computed. Where a language model has worded a finding, in its words.
    """
    said = [finding.prose or finding.summary for finding in answering(findings, plan)]
    return " ".join([*said, *differences(findings, plan or Plan())])


def answering(findings: Sequence[Finding], plan: Plan | None = None) -> list[Finding]:
    """Give the findings that the answer is made of, in its order."""
    said = _ends(findings, plan or Plan()) or [_main(findings)]
    if designs := [f for f in findings if f.agent == "hem_agent"]:
        quantum = [f for f in findings if f.agent == "qm_agent"]
        said = [*designs, *quantum[-1:], *(f for f in said if f.agent not in ("hem_agent", "qm_agent"))]
    # A simulation that later steps take their molecules from has an answer of its own.
    said = [*(f for f in findings if f.agent == "md_agent" and f.stage == "simulated" and f not in said), *said]
    return [*(f for f in findings if f.agent in QUOTING and f not in said), *said]


def _main(findings: Sequence[Finding], *, tabled: bool = False) -> Finding:
    """Give the finding that answers the request: the last one of a step that computed something, else the last.

    The table of a design is that of its swarm (``tabled``).
    """
    if tabled and (designs := [f for f in findings if f.agent == "hem_agent"]):
        return designs[-1]
    return next((f for f in reversed(findings) if f.agent in ("qm_agent", "multiwfn_agent")), findings[-1])


def _ends(findings: Sequence[Finding], plan: Plan) -> list[Finding]:
    """Give the findings on which no other finding rests; none, if only one part was planned."""
    found = {finding.step for finding in findings}
    rests_on = {n for s in plan.steps if s.agent != SUMMARY and s.number in found for n in s.depends_on}
    ends = {s.number for s in plan.steps if s.agent != SUMMARY and s.number in found and s.number not in rests_on}
    last = sorted((finding for finding in findings if finding.step in ends), key=lambda one: one.step)
    return last if len(ends) > 1 else []


def _as_done(plan: Plan, step: Step) -> Plan:
    """Give the plan as it will stand when this step is done, as it is in its own report."""
    if any(s.number == step.number for s in plan.steps):
        return plan.replace(step.model_copy(update={"status": StepStatus.DONE, "error": ""}))
    return plan
