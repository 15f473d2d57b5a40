from __future__ import annotations

import pytest

from orchestrator.planning import dry_run, make_plan
from orchestrator.planning.dynamics import read_dynamics
from tasks.errors import InputError

TYPICAL = "Run MD of 8 N,N-dimethylpiperidinium hydroxide pairs in water at 353 K for 50 ps and plot the MSD"


def test_the_typical_request_becomes_one_exact_job() -> None:
    decision, plan, species = make_plan(TYPICAL)
    assert (decision.rule, decision.agent) == ("keyword_route", "md_agent")
    assert [(step.agent, step.depends_on) for step in plan.steps] == [
        ("chemistry_agent", ()),
        ("md_agent", (1,)),
        ("summary_agent", (1, 2)),
    ]
    assert [one.smiles for one in species] == ["C[N+]1(C)CCCCC1"]
    (spec,) = read_dynamics(TYPICAL).specs
    assert spec.system
    assert spec.system.cations[0].count == 8
    assert (spec.system.counter_ion, spec.system.counter_ions) == ("hydroxide", 8)
    assert (spec.temperature_kelvin, spec.production_ps, spec.resources.cores) == (353, 50, 2)
    assert "as much water as fills the box" in plan.step(2).description


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("MD of 512 water molecules at 25 °C for 200 ps, 50 ps NPT, frames every 2 ps",
         {"production_ps": 200, "npt_ps": 50, "frame_spacing_ps": 2, "temperature_kelvin": 298.15}),
        ("MD of 8 TMA bromide pairs with 500 waters at 80 °C, equilibrate 20 ps, then 50 ps, fit from 2 to 8 ps",
         {"nvt_ps": 20, "npt_ps": 20, "production_ps": 50, "temperature_kelvin": 353.15}),
        ("Simulate 8 pairs of BTMA hydroxide in a 3 nm box of water at 300 K for 2 ns on 4 cores with a 1 fs time step",
         {"production_ps": 2000, "time_step_fs": 1}),
        ("MD of 8 'C[N+](C)(C)C' chloride pairs in water at 300 K and 5 bar, 1 ns NVT production, cut-off 0.9 nm",
         {"pressure_bar": 5, "cutoff_nm": 0.9, "ensemble": "NVT", "production_ps": 1000}),
    ],
)  # fmt: skip
def test_units_and_settings_come_from_the_text(text: str, expected: dict[str, object]) -> None:
    (spec,) = read_dynamics(text).specs
    assert {name: getattr(spec, name) for name in expected} == pytest.approx(expected)


@pytest.mark.parametrize(
    ("text", "temperatures", "hydration", "boxes"),
    [
        ("MD of 10 TMA chloride pairs at λ = 60, 80 and 100, 300, 320 and 340 K, 1 ns",
         (300, 320, 340), (60, 80, 100), 1),
        ("MD of 8 TMA hydroxide pairs in water from 300 to 360 K in steps of 20 K for 1 ns",
         (300, 320, 340, 360), (None,), 1),
        ("MD of 8 TMA hydroxide pairs with 60 waters per cation at 300 and 350 K for 1 ns", (300, 350), (60,), 1),
        ("Compare the diffusion of hydroxide with 8 pairs of TMA and DMP in water at 353 K for 100 ps",
         (353,), (None,), 2),
    ],
)  # fmt: skip
def test_a_sweep_fans_out_into_one_batch(
    text: str, temperatures: tuple[float, ...], hydration: tuple[float | None, ...], boxes: int
) -> None:
    specs = read_dynamics(text).specs
    assert len(specs) == len(temperatures) * len(hydration) * boxes
    assert tuple(dict.fromkeys(spec.temperature_kelvin for spec in specs)) == temperatures
    assert tuple(dict.fromkeys(spec.system.waters_per_cation for spec in specs if spec.system)) == hydration
    assert len({spec.label for spec in specs}) == len(specs)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "Run a molecular dynamics simulation of water",
            "does not say the temperature, nor the length of the production",
        ),
        (
            "MD of tetramethylammonium hydroxide at 300 K for 1 ns",
            r"does not say how many cations \(or pairs\)\. Ask for",
        ),
        ("Run MD at 300 K for 1 ns", "does not say what is in the box"),
        (
            "MD of 8 TMA hydroxide pairs in water at 300 K for 1 ns and the conductivity",
            "asks for conductivity, which no",
        ),
        ("MD of 8 TMA nitrate pairs at 300 K for 10 ps", "'nitrate' has no parameters as a counter-ion"),
        ("MD of 8 TMA hydroxide pairs at 300 K with λ = 5 for 50 ps", "is too small for a cut-off"),
        ("MD simulation with diffusion and LUMO of TMA at 300 K", "Ask for the one and the other in two requests"),
        ("MD of my box.gro and topol.top at 300 K for 1 ns", "Submit a job of kind dynamics with files and inputs"),
        ("MD of 8 TMA hydroxide pairs in water at 3000 K for 1 ns", "temperature_kelvin"),
    ],
)
def test_what_is_missing_or_impossible_is_said(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make_plan(text)


def test_a_dry_run_shows_exact_specs_and_their_cost() -> None:
    planned = dry_run(TYPICAL)
    (job,) = planned["steps"][1]["jobs"]
    assert job["spec"]["engine"] == "gromacs"
    assert job["spec"]["system"]["water"] == 529
    # 250 ps of 1,795 atoms at 1.5e-6 core-seconds an atom and step
    assert job["estimated_cost"]["core_seconds"] == pytest.approx(337, rel=0.15)
    assert planned["queued"] == 0
