from __future__ import annotations

import re

import pytest

from orchestrator.planning import dry_run, make_plan
from tasks.errors import InputError
from tasks.specs import SwarmSpec
from tasks.swarms import DEFAULT_OBJECTIVES

ASKED = "Design piperidinium cations for the backbone PBF_BB_1"


def swarm(text: str) -> SwarmSpec:
    spec = make_plan(text)[1].steps[0].goal.swarm
    assert spec is not None
    return spec


def curve(text: str, name: str) -> tuple[tuple[float, float], ...]:
    return next(o.curve for o in swarm(text).objectives if o.property == name)


def test_a_design_is_a_swarm_and_its_best_candidate_verified_by_dft_in_water() -> None:
    decision, plan, species = make_plan(ASKED)
    assert (decision.rule, decision.agent, species) == ("keyword_route", "hem_agent", ())
    assert [(s.number, s.agent, s.depends_on) for s in plan.steps] == [
        (1, "hem_agent", ()),
        (2, "chemistry_agent", (1,)),
        (3, "qm_agent", (2,)),
        (4, "qm_agent", (3,)),
        (5, "summary_agent", (1, 2, 3, 4)),
    ]
    assert "structure" in plan.step(2).goal.properties
    assert (plan.step(3).goal.task, plan.step(3).goal.method) == ("optimisation", "GFN2-xTB")
    final = plan.step(4).goal
    assert (final.method, final.basis, final.solvent, final.geometry_step) == ("B3LYP", "def2-SVP", "water", 3)
    spec = swarm(ASKED)
    assert (spec.families, spec.backbone, spec.objectives) == (("piperidinium",), "PBF_BB_1", DEFAULT_OBJECTIVES)


@pytest.mark.parametrize(
    ("text", "field", "expected"),
    [
        (f"{ASKED} with 40 particles", "particles", 40),
        (f"{ASKED} by a swarm of 12", "particles", 12),
        (f"{ASKED} in 5 steps, seed 7", "steps", 5),
        (f"{ASKED} in 5 steps, seed 7", "seed", 7),
        (f"{ASKED}, 12 generations", "steps", 12),
        (f"{ASKED}, at most 15 heavy atoms", "max_heavy_atoms", 15),
        (f"{ASKED} with methyl, ethyl and benzyl substituents", "substituents", ("methyl", "ethyl", "benzyl")),
        (f"{ASKED} without benzyl and butyl", "substituents",
         ("methyl", "ethyl", "propyl", "isopropyl", "2-methoxyethyl")),
        ("Design imidazolium or spiro ammonium cations for PP_BB_1", "families", ("imidazolium", "spiro_ammonium")),
        ("Design tetraalkylammonium cations for '[*]c1ccc([*])cc1'", "backbone", "[*]c1ccc([*])cc1"),
        ("design pyrrolidinium cations for pp_bb_1", "backbone", "PP_BB_1"),
    ],
)  # fmt: skip
def test_sizes_seeds_and_fragments_are_read_from_the_text(text: str, field: str, expected: object) -> None:
    assert getattr(swarm(text), field) == expected


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    # Outside of a stated range the desirability falls to zero over a margin: 1 eV, 0.5 mmol/g, 50 g/mol.
    [
        (f"{ASKED}, LUMO above -2 eV", "lumo_ev", ((-3.0, 0.0), (-2.0, 1.0))),
        (f"{ASKED}, LUMO > −1.5 eV", "lumo_ev", ((-2.5, 0.0), (-1.5, 1.0))),
        (f"{ASKED} with an IEC between 2 and 2.5 mmol/g", "iec_mmol_per_g",
         ((1.5, 0.0), (2.0, 1.0), (2.5, 1.0), (3.0, 0.0))),
        (f"{ASKED}, molar mass below 200 g/mol", "molar_mass_g_per_mol", ((200.0, 1.0), (250.0, 0.0))),
        (f"{ASKED} and a high SN2 barrier", "sn2_barrier_kcal_per_mol", ((8.0, 0.0), (20.0, 1.0))),
    ],
)  # fmt: skip
def test_ranges_become_desirabilities(text: str, name: str, expected: tuple[tuple[float, float], ...]) -> None:
    assert curve(text, name) == expected


def test_several_candidates_are_verified_and_compared_at_the_level_that_is_named() -> None:
    plan = make_plan(f"{ASKED}, and verify the best three at PBE0/def2-TZVP in methanol")[1]
    assert plan.step(1).goal.candidates == 3
    final = plan.step(4).goal
    assert (final.method, final.basis, final.solvent, final.compare) == ("PBE0", "def2-TZVP", "methanol", True)


@pytest.mark.parametrize(
    ("text", "candidates"),
    [
        (f"{ASKED}, the 5 best", 5),
        (f"{ASKED}, the best ten", 10),
        (f"{ASKED}, top-5", 5),
        (f"{ASKED} and verify the six most promising", 6),
        (f"{ASKED}, then compute the 3 best at PBE0", 3),
    ],
)
def test_the_number_of_candidates_is_read_however_it_is_said(text: str, candidates: int) -> None:
    assert make_plan(text)[1].step(1).goal.candidates == candidates


def test_the_verification_has_the_whole_level_and_the_resources_that_are_named() -> None:
    asked = f"{ASKED}, verify the best at PBE0-D3BJ/def2-TZVP with SMD in methanol on 8 cores and 4 GB"
    relaxed, final = (step for step in make_plan(asked)[1].steps if step.agent == "qm_agent")
    assert (final.goal.dispersion, final.goal.solvent_model, final.goal.solvent) == ("D3BJ", "SMD", "methanol")
    assert (relaxed.goal.solvent_model, relaxed.goal.solvent) == (None, "methanol")
    for step in (relaxed, final):
        assert (step.goal.cores, step.goal.memory_mb) == (8, 4096)
    assert final.goal.protocol == "PBE0-D3(BJ)/def2-TZVP//GFN2-xTB in methanol"
    assert "PBE0-D3(BJ)/def2-TZVP" in final.description


def test_a_design_in_the_gas_phase_names_no_solvent() -> None:
    steps = [step for step in make_plan(f"{ASKED}, verify the best in the gas phase")[1].steps if step.goal.protocol]
    assert {step.goal.solvent for step in steps} == {None}
    assert not any(" in " in step.goal.protocol or "None" in step.description for step in steps)


@pytest.mark.parametrize(
    ("text", "name", "bound"),
    # 4.184 kJ are one kcal.
    [
        (f"{ASKED}, barrier above 83.68 kJ/mol", "sn2_barrier_kcal_per_mol", 20.0),
        (f"{ASKED}, barrier above 20 kcal/mol", "sn2_barrier_kcal_per_mol", 20.0),
        (f"{ASKED}, LUMO above -2000 meV", "lumo_ev", -2.0),
        (f"{ASKED}, molar mass above 0.2 kg/mol", "molar_mass_g_per_mol", 200.0),
    ],
)
def test_a_bound_is_read_in_its_unit(text: str, name: str, bound: float) -> None:
    assert curve(text, name)[-1] == pytest.approx((bound, 1.0))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{ASKED}, the top 3 and the best 5", "'3 and 5' are several numbers"),
        (f"{ASKED}, compute the Gibbs energies of the best 3", "gibbs of the candidates, which a design does not"),
        (f"{ASKED}, verify the best at PBE0/def2-TZVP//PBE/def2-SVP", "'PBE' is not the level of a design's geom"),
        (f"{ASKED}, LUMO above -40 kcal/mol", "gives it in kcal/mol. Give it in ev"),
        (f"{ASKED}, low molar mass", "'backbone PBF_BB_1, low molar mass' says no bound"),
        (f"{ASKED} with a low LUMO", "says no bound"),
        (f"{ASKED} with a LUMO of -2 eV", "says no bound"),
        (f"{ASKED}, without fluorine", "'backbone PBF_BB_1, without fluorine' leaves out what no design reads"),
        (f"{ASKED}, fluorine-free", "leaves out what no design reads"),
        (f"{ASKED} at 350 K", "temperature: 350.0 has no meaning for a design"),
        (f"{ASKED} with 20 ps of dynamics", "holds '20 ps'"),
        (f"{ASKED}, 40 particles or 20 particles", "'20 and 40' are several numbers"),
        (f"{ASKED}, verify at wB97X-D3BJ/def2-SVP", "'D3BJ' has no parameters for wB97X"),
    ],
)
def test_what_a_design_does_not_read_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        make_plan(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Design cations for PBF_BB_1", "names no family of cations to design. Known are tetraalkylammonium"),
        ("Design piperidinium cations", "names no backbone. Known are PBF_BB_1"),
        ("Design piperidinium cations for PX_BB_1", "'PX_BB_1' is not a known backbone"),
        ("Design piperidinium cations for PBF_BB_1 and PP_BB_1", "are several backbones"),
        (f"{ASKED} with 1 particle", "particles: "),
        (f"{ASKED}, verify the top 50", "cannot be verified"),
        (f"{ASKED}, IEC between 3 and 2", "is no range"),
        (f"{ASKED} and their NMR shifts", "NMR shifts, which no agent computes yet"),
        (f"{ASKED} at the B9LYP level", "method: 'B9LYP'"),
        ("optimise HEM backbone", "names no family"),
    ],
)
def test_what_is_missing_or_not_known_is_asked_for(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make_plan(text)


def test_a_dry_run_shows_the_exact_swarm_and_counts_the_steps_after_it() -> None:
    planned = dry_run(f"{ASKED}, 10 particles, 4 steps, best 2")
    (job,) = planned["steps"][0]["jobs"]
    assert job["spec"]["kind"] == "swarm" and job["spec"]["label"] == "piperidinium on PBF_BB_1"
    # At most 40 molecules of 1.2 s.
    assert job["estimated_cost"]["core_seconds"] == pytest.approx(48)
    # Two candidates in two quantum steps besides.
    assert planned["estimated_cost"]["jobs"] == 1 + 4
    assert planned["estimated_cost"]["core_seconds"] > 48 + 2 * 10
    assert planned["queued"] == 0
