from __future__ import annotations

import re

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


BOX = "MD of 8 TMA hydroxide pairs in water"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{BOX} at -10 °C for 50 ps", {"temperature_kelvin": 263.15}),
        (f"{BOX} at 50 degrees C for 50 ps", {"temperature_kelvin": 323.15}),
        (f"{BOX} at 300 K and 10 MPa for 50 ps", {"pressure_bar": 100}),
        (f"{BOX} at 300 K and 1000 kPa for 50 ps", {"pressure_bar": 10}),
        (f"{BOX} at 300 K for 50 ps, 1.2 nm cutoff", {"cutoff_nm": 1.2}),
        (f"{BOX} at 300 K for 50 ps with a cut-off of 12 Å", {"cutoff_nm": 1.2}),
        (f"{BOX} at 300 K for 50 ps, seed 7", {"seed": 7}),
        (f"{BOX} at 300 K, NVT equilibration of 500 ps, then 50 ps", {"nvt_ps": 500, "npt_ps": 100}),
        (f"{BOX} at 300 K, NVT and NPT equilibration of 20 ps each, then 50 ps", {"nvt_ps": 20, "npt_ps": 20}),
        (f"{BOX} at 300 K for 50 ps without annealing", {"production_ps": 50}),
        (f"{BOX} at 300 K for 50 ps. At 300 K it is a liquid.", {"temperature_kelvin": 300}),
    ],
)
def test_a_sign_a_unit_and_a_stage_are_read_as_they_are_written(text: str, expected: dict[str, object]) -> None:
    (spec,) = read_dynamics(text).specs
    assert {name: getattr(spec, name) for name in expected} == pytest.approx(expected)


def test_memory_composition_and_edges_are_read() -> None:
    text = (
        "MD of 4 TMA and 4 DMP in the same box with 8 hydroxide, a 4 x 4 x 4 nm box, in water at 300 K for 1 ns, 8 GB"
    )
    (spec,) = read_dynamics(text).specs
    assert spec.system
    assert [one.count for one in spec.system.cations] == [4, 4]
    assert (spec.system.counter_ions, spec.system.edge_nm) == (8, 4.0)
    assert spec.resources.memory_mb == 8192


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{BOX} at 300 to 360 K for 50 ps", "'300 to 360 K' is a range of temperatures without its step"),
        (f"{BOX} between 300 and 360 K for 50 ps", "without its step"),
        (f"{BOX} at 300 K for 50 ps and at 350 K for 100 ps", "'300 K and 350 K' stand in several places"),
        (f"{BOX} at 122 °F for 50 ps", "holds '122 °F', which nothing here reads"),
        (f"{BOX} at 50 degrees for 50 ps", "holds '50 degrees'"),
        (f"{BOX} at 300 K and 1 and 10 bar for 50 ps", "holds '1'"),
        (f"{BOX} at 300 K for 50 ps and 100 ps", "holds '100 ps'"),
        (f"{BOX} at 300 K, λ from 60 to 100, for 50 ps", "'λ from 60 to 100' holds '60'"),
        (f"{BOX} at 300 K for 50 ps on two cores", "holds 'two cores'"),
        (f"{BOX} at 300 K for 50 ps, 5 wt%", "holds '5 wt%'"),
        (f"{BOX} at 300 K, 20 ps NVT, 30 ps NVT, for 50 ps", "gives the NVT stage a second length"),
        (f"{BOX} at 300 K for 50 ps in the NVT ensemble", "names NVT, not for which stage"),
        (f"{BOX} in a 4 x 4 x 8 nm box at 300 K for 50 ps", "is no cube"),
        (f"{BOX} in a rectangular box at 300 K for 50 ps", "a box that is not cubic"),
        ("MD of 8 TMA and 4 hydroxide in water at 300 K for 50 ps", "do not make the box neutral"),
        ("MD of 8 TMA hydroxide pairs in TIP4P/2005 water at 300 K for 50 ps", "a water model other than SPC/E"),
        ("MD of 8 TMA hydroxide pairs in D2O at 300 K for 50 ps", "heavy water"),
        ("MD of 8 TMA hydroxide pairs in sulfolane at 300 K for 50 ps", "puts the box into sulfolane"),
        ("MD of 8 TMA hydroxide pairs in methanol at 300 K for 50 ps", "'in methanol' is no solvent of a box"),
        (f"{BOX} at 300 K for 50 ps in NVE", "the NVE ensemble"),
        (f"{BOX} at 300 K for 50 ps and its viscosity", "viscosity, which no agent computes"),
        (f"{BOX} at 300 K for 50 ps and the dielectric constant", "the dielectric constant"),
        (f"{BOX} at 300 K for 50 ps and residence times", "residence times"),
        (f"{BOX} at 300 K for 50 ps with OPLS-AA", "a force field other than GAFF"),
        (f"{BOX} at 300 K for 50 ps with a Langevin thermostat", "another thermostat"),
        (f"{BOX} at 300 K for 50 ps, 3 replicas", "replicas"),
        (f"{BOX} at 300 K for 50 ps after annealing", "annealing"),
        (f"{BOX} at 300 K for 50 ps with B3LYP charges", "'B3LYP' is a level of theory"),
    ],
)
def test_what_a_request_says_and_nothing_reads_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        read_dynamics(text)


@pytest.mark.parametrize(
    ("text", "temperatures", "hydration", "boxes"),
    [
        ("MD of 10 TMA chloride pairs at λ = 60, 80 and 100, 300, 320 and 340 K, 1 ns",
         (300, 320, 340), (60, 80, 100), 1),
        ("MD of 10 TMA chloride pairs at λ = 60, 300 K, 1 ns", (300,), (60,), 1),
        ("MD of 10 TMA chloride pairs at λ = 60, 300 and 320 K, 1 ns", (300, 320), (60,), 1),
        ("MD of 10 TMA chloride pairs at 300 K, 60 waters per cation, 1 ns", (300,), (60,), 1),
        (f"{BOX} at 300/320/340 K for 50 ps", (300, 320, 340), (None,), 1),
        (f"{BOX} at 300 K and 50 °C for 50 ps", (300, 323.15), (None,), 1),
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
