"""The report of a run, and its plan, as Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from orchestrator.phrases import counted
from orchestrator.planning.specs import is_cluster
from orchestrator.state import Finding, Plan, RunState, Species, Step, StepStatus, Table, molecules_of
from tasks.methods import Family, find_method
from tasks.results import Artifact
from tasks.units import clock

_ICONS = {
    StepStatus.PENDING: "⏳",
    StepStatus.RUNNING: "🔄",
    StepStatus.DONE: "✅",
    StepStatus.FAILED: "❌",
    StepStatus.SKIPPED: "⏭️",
}
_SOURCES = {
    "B3LYP": "B3LYP (VWN3, the Gaussian form): Stephens, Devlin, Chabalowski, Frisch, J. Phys. Chem. 98 (1994) 11623.",
    "B3LYP5": "B3LYP with VWN5: Stephens, Devlin, Chabalowski, Frisch, J. Phys. Chem. 98 (1994) 11623.",
    "PBE": "PBE: Perdew, Burke, Ernzerhof, Phys. Rev. Lett. 77 (1996) 3865.",
    "PBE0": "PBE0: Adamo, Barone, J. Chem. Phys. 110 (1999) 6158.",
    "BLYP": "BLYP: Becke, Phys. Rev. A 38 (1988) 3098; Lee, Yang, Parr, Phys. Rev. B 37 (1988) 785.",
    "BP86": "BP86: Becke, Phys. Rev. A 38 (1988) 3098; Perdew, Phys. Rev. B 33 (1986) 8822.",
    "TPSS": "TPSS: Tao, Perdew, Staroverov, Scuseria, Phys. Rev. Lett. 91 (2003) 146401.",
    "M06-2X": "M06-2X: Zhao, Truhlar, Theor. Chem. Acc. 120 (2008) 215.",
    "CAM-B3LYP": "CAM-B3LYP: Yanai, Tew, Handy, Chem. Phys. Lett. 393 (2004) 51.",
    "wB97X": "ωB97X: Chai, Head-Gordon, J. Chem. Phys. 128 (2008) 084106.",
    "r2SCAN": "r²SCAN: Furness, Kaplan, Ning, Perdew, Sun, J. Phys. Chem. Lett. 11 (2020) 8208.",
    "GFN2-xTB": "GFN2-xTB: Bannwarth, Ehlert, Grimme, J. Chem. Theory Comput. 15 (2019) 1652.",
    "GFN1-xTB": "GFN1-xTB: Grimme, Bannwarth, Shushkov, J. Chem. Theory Comput. 13 (2017) 1989.",
}
_BASIS_SOURCES = {
    "def2": "def2 basis sets: Weigend, Ahlrichs, Phys. Chem. Chem. Phys. 7 (2005) 3297.",
    "cc-": "Correlation-consistent basis sets: Dunning, J. Chem. Phys. 90 (1989) 1007.",
    "aug-cc": "Augmented sets: Kendall, Dunning, Harrison, J. Chem. Phys. 96 (1992) 6796.",
    "6-31": "Pople's split-valence basis sets: Hehre, Ditchfield, Pople, J. Chem. Phys. 56 (1972) 2257.",
}
_STRUCTURES = (
    "Starting structures: ETKDGv3, Wang, Witek, Landrum, Riniker, J. Chem. Inf. Model. 60 (2020) 2044; MMFF94s,"
    " Halgren, J. Comput. Chem. 20 (1999) 720."
)
_ANALYSIS_SOURCES = {
    "composition": "Populations and composition of orbitals: Mulliken, J. Chem. Phys. 23 (1955) 1833.",
    "mulliken": "Populations and composition of orbitals: Mulliken, J. Chem. Phys. 23 (1955) 1833.",
    "loewdin": "Löwdin charges: Löwdin, J. Chem. Phys. 18 (1950) 365.",
    "hirshfeld": "Hirshfeld charges: Hirshfeld, Theor. Chim. Acta 44 (1977) 129.",
}
_MULTIWFN = "Multiwfn: Lu, Chen, J. Comput. Chem. 33 (2012) 580; Lu, J. Chem. Phys. 161 (2024) 082503."
#: said wherever a model's sentences are shown
WORDED = "(Worded by a language model; every number in it stands in the findings.)"
#: agents whose findings quote what others wrote: nothing of that may become a part of the report's own form
QUOTING = ("rag_agent", "web_search_agent")
_SWARM_SOURCES = (
    "Particle swarm with constriction factors: Clerc, Kennedy, IEEE Trans. Evol. Comput. 6 (2002) 58.",
    "GFN2-xTB: Bannwarth, Ehlert, Grimme, J. Chem. Theory Comput. 15 (2019) 1652.",
    "ALPB: Ehlert, Stahn, Spicher, Grimme, J. Chem. Theory Comput. 17 (2021) 4250.",
)


def plan_markdown(state: RunState) -> str:
    """Give a run's plan as Markdown: how it was decided, and each step with its state."""
    lines = [f"# Plan: {_plain(state.plan.title or state.request)}", ""]
    lines += [f"Run `{state.run_id}`.", ""] if state.run_id else []
    lines += ["## Request", "", *_quote(state.request), ""]
    if state.decision.reason:
        where = f" → {state.decision.agent}" if state.decision.agent else ""
        lines += [f"Decided by {state.decision.rule.replace('_', ' ')}{where}: {_plain(state.decision.reason)}.", ""]
    lines += ["## Steps", "", *_step_lines(state.plan), ""]
    return "\n".join(lines)


def _step_lines(plan: Plan) -> list[str]:
    lines = []
    for step in plan.steps:
        after = f", after {', '.join(map(str, step.depends_on))}" if step.depends_on else ""
        text = f"{step.number}. {_ICONS[step.status]} {_plain(step.description)} ({step.agent}{after}):"
        text += f" {step.status.value}"
        lines.append(f"{text}: {_plain(step.error)}" if step.error else text)
    return lines


def report_markdown(
    *,
    request: str,
    run_id: str,
    plan: Plan,
    species: Sequence[Species],
    findings: Sequence[Finding],
    figures: Sequence[tuple[str, str]] = (),
    files: Sequence[Artifact] = (),
    answer: str = "",
    side_by_side: Table | None = None,
    model: Sequence[str] = (),
    written: datetime | None = None,
) -> str:
    """Give the report of a run, also of one that did not get to its end.

    Parameters
    ----------
    figures
        Path relative to the report, and caption.
    files
        What lies beside the report and belongs to no finding: its figures.
    side_by_side
        What was computed at several levels, in one table; None: there is only one.
    model
        What was used of a language model, and what became of what it wrote.
    written
        When, with its time zone; None: left out, so that the same findings give the same report.
    """
    when = f", {written:%Y-%m-%d %H:%M %Z}" if written else ""
    lines = [
        f"# {_plain(plan.title or request)}",
        "",
        f"Run `{run_id}`{when}.",
        "",
        "## Request",
        "",
        *_quote(request),
        "",
    ]
    if answer:
        lines += ["## Answer", "", *_paragraphs(answer), ""]
    for path, caption in figures:
        lines += [f"![{_plain(caption)}]({path})", "", f"*{_plain(caption)}*", ""]
    if side_by_side is not None:
        lines += [*table_markdown(side_by_side), ""]
    lines += ["## Results", ""]
    for finding in sorted(findings, key=lambda one: one.step):
        lines += _finding_lines(finding, plan, answer)
    failed = [one for one in species if one.error]
    if failed:
        lines += ["### Not computed", "", *(f"- {_plain(one.name)}: {_plain(one.error)}" for one in failed), ""]
    lines += ["## Plan", "", *_step_lines(plan), ""]
    lines += _theory_lines(plan, findings)
    if notes := caveats(plan, species):
        lines += ["## To keep in mind", "", *(f"- {note}" for note in notes), ""]
    lines += _file_lines([*(a for finding in findings for a in finding.artifacts), *files])
    seconds = sum(finding.compute_seconds for finding in findings)
    lines += ["## Compute time", "", f"{clock(seconds)} on workers ({seconds:.1f} s, all jobs together).", ""]
    if model:
        lines += ["## Language model", "", *(f"- {_plain(line)}" for line in model), ""]
    return "\n".join(lines)


def _finding_lines(finding: Finding, plan: Plan, answer: str) -> list[str]:
    title = next((step.description for step in plan.steps if step.number == finding.step), finding.agent)
    lines = [f"### Step {finding.step}: {_plain(title)}", ""]
    if finding.summary != answer:
        lines += [*_paragraphs(finding.summary), ""]
    if finding.prose and finding.prose not in answer:
        lines += [*_paragraphs(f"{finding.prose} {WORDED}"), ""]
    if finding.proposed:
        lines += ["A language model proposes, and nothing of it was started:", ""]
        lines += [*(f"- {_plain(one)}" for one in finding.proposed), ""]
    if finding.level:
        lines += [f"Level: {_plain(finding.level)}.", ""]
    if finding.table and finding.table.rows:
        lines += [*table_markdown(finding.table), ""]
    if finding.notes:
        lines += [*(f"- {_plain(note)}" for note in finding.notes), ""]
    return lines


def headings(table: Table) -> list[str]:
    """Give the headings of a table with their units: ``HOMO / eV``."""
    return [f"{column.title} / {column.unit}" if column.unit else column.title for column in table.columns]


def table_markdown(table: Table) -> list[str]:
    """Give a table as lines of Markdown, numbers to the right."""
    right = [_is_numeric([row[i] for row in table.rows]) for i in range(len(table.columns))]
    lines = [_row(headings(table)), _row(["--:" if numeric else "---" for numeric in right])]
    smiles = [i for i, column in enumerate(table.columns) if column.title == "SMILES"]
    for row in table.rows:
        lines.append(_row([f"`{cell}`" if i in smiles else _plain(cell) for i, cell in enumerate(row)]))
    return lines


def table_text(table: Table) -> str:
    """Give a table as aligned plain text, for a terminal."""
    rows = [headings(table), *(list(row) for row in table.rows)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(table.columns))]
    right = [_is_numeric([row[i] for row in rows[1:]]) for i in range(len(widths))]
    lines = []
    for number, row in enumerate(rows):
        cells = [c.rjust(w) if r else c.ljust(w) for c, w, r in zip(row, widths, right, strict=True)]
        lines.append("  ".join(cells).rstrip())
        if number == 0:
            lines.append("  ".join("─" * width for width in widths))
    return "\n".join(lines)


def _is_numeric(cells: Sequence[str]) -> bool:
    return bool(cells) and all(re.fullmatch(r"[−+\-]?\d+(?:\.\d+)?|—", cell) for cell in cells)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cell.replace('|', '&#124;') for cell in cells)} |"


def _plain(text: str) -> str:
    """Give text that Markdown shows as it is, on one line: names and requests are data."""
    return re.sub(r"([\\`*_\[\]<>#|])", r"\\\1", " ".join(text.split()))


def _paragraphs(text: str) -> list[str]:
    """Give text with its paragraphs, of which Markdown makes nothing: it may hold what programs or papers said."""
    return "\n\n".join(_plain(part) for part in re.split(r"\n\s*\n", text.strip())).split("\n")


def _quote(text: str) -> list[str]:
    return [f"> {_plain(line)}" for line in text.strip().splitlines() or [""]]


def _quantum_steps(plan: Plan) -> list[Step]:
    return [step for step in plan.steps if step.agent == "qm_agent"]


def sources(plan: Plan) -> list[str]:
    """Give the literature behind the methods and basis sets of a plan."""
    found = []
    for step in _quantum_steps(plan):
        method = find_method(step.goal.method)
        found.append(_SOURCES.get(method.name, ""))
        if step.goal.basis and method.family is not Family.TIGHT_BINDING:
            basis = step.goal.basis.lower()
            found += [text for start, text in _BASIS_SOURCES.items() if basis.startswith(start)]
            if basis.startswith("aug-cc"):
                found.append(_BASIS_SOURCES["cc-"])
    for step in plan.steps:
        found += [text for name, text in _ANALYSIS_SOURCES.items() if name in step.goal.analyses]
        found += [_MULTIWFN] if step.goal.engine == "multiwfn" else []
    if any("structure" in step.goal.properties for step in plan.steps if step.agent == "chemistry_agent"):
        found.append(_STRUCTURES)
    if any(step.goal.swarm is not None for step in plan.steps):
        found += _SWARM_SOURCES
    return [text for text in dict.fromkeys(found) if text]


def _protocols(plan: Plan) -> str:
    """Give the levels of the quantum steps that no other one goes on with."""
    steps = _quantum_steps(plan)
    begun_at = {step.goal.geometry_step for step in plan.steps}
    last = [s for s in steps if s.number not in begun_at or s.goal.properties != ("geometry",)]
    return "; ".join(dict.fromkeys(step.goal.protocol for step in last if step.goal.protocol))


def _theory_lines(plan: Plan, findings: Sequence[Finding]) -> list[str]:
    protocol = _protocols(plan)
    lines = ["## Level of theory", ""]
    programs = sorted({finding.level for finding in findings if finding.level})
    if programs and not protocol:
        lines += [*(f"- Computed as {_plain(program)}" for program in programs), ""]
    elif protocol:
        lines += [f"{_plain(protocol)} (properties // geometry)." if "//" in protocol else f"{_plain(protocol)}.", ""]
        if any(finding.deviates for finding in findings):
            lines[-2] = f"Asked for: {lines[-2]} Not all of it was computed so: see the notes of the results."
        lines += [*(f"- Computed as {_plain(program)}" for program in programs)]
    elif levels := sorted({s.goal.source.level for s in plan.steps if s.goal.source and s.goal.source.level}):
        lines += [f"Orbitals of an earlier job: {_plain('; '.join(levels))}.", ""]
    elif any(step.agent in QUOTING for step in plan.steps):
        lines += ["Nothing was computed: this is what the sources say that are cited.", ""]
    elif not any(step.goal.analyses for step in plan.steps):
        lines += ["No simulation was needed: all of this follows from the SMILES (RDKit).", ""]
        if any("PubChem CID" in text for finding in findings for text in (finding.summary, *finding.notes)):
            lines[-2] = f"{lines[-2][:-1]}, but for what PubChem says: it stands with its number there."
    if found := sources(plan):
        lines += [*(f"- {text}" for text in found), ""]
    return lines


def caveats(plan: Plan, species: Sequence[Species]) -> list[str]:
    """Say what the numbers of this plan do not mean."""
    steps = _quantum_steps(plan)
    if not steps:
        return []
    final, species = steps[-1].goal, molecules_of(steps[-1], tuple(species)) or species
    asked = set(final.properties)
    notes = []
    if asked & {"homo", "lumo", "gap"}:
        if final.solvent is None and any(one.charge > 0 for one in species):
            notes.append(
                "Orbital energies of cations in the gas phase lie several eV lower than in a solvent or membrane, since"
                " nothing screens the charge: compare them with each other, at this level, and not with experiments."
            )
        if final.solvent is None and any(one.charge < 0 for one in species):
            notes.append(
                "Anions in the gas phase: without diffuse functions their orbitals lie too high, and an unoccupied one"
                " of positive energy is not bound."
            )
        if len({one.charge for one in species}) > 1:
            notes.append("Molecules of different charge: their orbital energies differ mostly by the charge.")
        notes.append(
            "They belong to one fixed geometry (vertical): nothing relaxes, and no ionisation energy or electron"
            " affinity was computed."
        )
        notes.append(
            "The gap is that of the Kohn–Sham orbitals (of the method's own orbitals), not the fundamental gap, and not"
            " an excitation energy; it depends on the functional."
        )
    if "dipole" in asked and any(one.charge for one in species):
        notes.append("The dipole moment of an ion depends on the origin; it is given about the centre of mass.")
    if "charges" in asked:
        notes.append("Mulliken charges depend strongly on the basis set: compare them at one level only.")
    if any(map(is_cluster, species)):
        notes.append(
            "A cluster out of one frame of a simulation is one configuration of many, as a classical force field made"
            " it" + ("." if final.solvent else "; in the gas phase nothing screens its charges from each other.")
        )
    if any(one.multiplicity > 1 for one in species):
        notes.append("Open-shell molecules: the HOMO is the highest occupied orbital of either spin.")
    if any(one.atoms > 8 and not is_cluster(one) for one in species):
        notes.append("One conformer each, the lowest of ten by its force field: no search was made.")
    return notes


def _file_lines(files: Sequence[Artifact]) -> list[str]:
    artifacts = {artifact.path: artifact for artifact in files}
    if not artifacts:
        return []
    lines = [f"## Files ({counted(len(artifacts), 'file')}, relative to the workspace)", ""]
    for artifact in artifacts.values():
        lines.append(f"- `{artifact.path}` ({artifact.role or 'file'}, {artifact.size_bytes} bytes, SHA-256"
                     f" `{artifact.sha256[:16]}…`)")  # fmt: skip
    return [*lines, ""]
