"""Requests for frequencies, heat, dispersion and solvent models, and the specs that they become."""

from __future__ import annotations

import pytest

from orchestrator.planning.cost import estimate
from orchestrator.planning.decide import make_plan
from orchestrator.planning.request import read_request
from orchestrator.planning.specs import spec_for
from tasks.errors import InputError
from tasks.quantum import QuantumSpec


def last_spec(text: str) -> QuantumSpec:
    _, plan, species = make_plan(text)
    step = [step for step in plan.steps if step.agent == "qm_agent"][-1]
    return spec_for(species[0], step.goal)


@pytest.mark.parametrize(
    ("text", "properties"),
    [
        ("Calculate the vibrational frequencies of water", {"frequencies"}),
        ("Gibbs free energy of water at 350 K", {"gibbs"}),
        ("What is the free energy of TMA?", {"gibbs"}),
        ("zero-point energy and enthalpy of water", {"zero_point", "enthalpy"}),
        ("total energy and zero-point energy of water", {"energy", "zero_point"}),
        ("thermochemistry of TMA", {"zero_point", "enthalpy", "entropy", "gibbs"}),
        ("entropy of water and its HOMO", {"entropy", "homo"}),
        ("normal modes of water", {"frequencies"}),
    ],
)
def test_words_for_heat_and_vibrations_are_told_from_plain_energies(text: str, properties: set[str]) -> None:
    assert set(read_request(text).electronic) == properties


def test_heat_is_computed_where_its_own_level_has_the_minimum() -> None:
    decision, plan, _ = make_plan("Gibbs energy of water with PBE0/def2-TZVP at 350 K and 2 bar")
    assert decision.agent == "qm_agent"
    first, second = (step.goal for step in plan.steps if step.agent == "qm_agent")
    assert (first.task, first.method, first.temperature_kelvin) == ("optimisation", "GFN2-xTB", None)
    assert (second.task, second.method, second.basis) == ("optimisation_frequencies", "PBE0", "def2-TZVP")
    assert second.protocol == "PBE0/def2-TZVP"
    spec = last_spec("Gibbs energy of water with PBE0/def2-TZVP at 350 K and 2 bar")
    assert (spec.task, spec.temperature_kelvin, spec.pressure_pascal) == ("optimisation_frequencies", 350.0, 2e5)


@pytest.mark.parametrize(
    ("text", "task", "method"),
    [
        ("frequencies of water with GFN2-xTB", "optimisation_frequencies", "GFN2-xTB"),
        ("frequencies of water at B3LYP/def2-SVP without optimisation", "frequencies", "B3LYP"),
        ("frequencies of water with xtb without optimisation", "frequencies", "GFN2-xTB"),
        ("HOMO of water at B3LYP", "single_point", "B3LYP"),
    ],
)
def test_the_task_follows_from_the_words(text: str, task: str, method: str) -> None:
    spec = last_spec(text)
    assert (spec.task, spec.method) == (task, method)
    assert (spec.temperature_kelvin, spec.pressure_pascal) == (298.15, 101_325.0)


@pytest.mark.parametrize(
    ("text", "dispersion"),
    [
        ("energy of water at B3LYP-D3BJ/def2-SVP", "D3BJ"),
        ("energy of water at B3LYP-D3(BJ)/def2-SVP", "D3BJ"),
        ("energy of water with PBE0-D4", "D4"),
        ("energy of water with B3LYP and D4 dispersion", "D4"),
        ("energy of water with B3LYP and D3BJ", "D3BJ"),
        ("energy of water with PBE0 and dispersion correction", "D3BJ"),
        ("energy of water with PBE0", None),
    ],
)
def test_dispersion_is_read_and_stands_in_the_level(text: str, dispersion: str | None) -> None:
    assert last_spec(text).dispersion == dispersion
    _, plan, _ = make_plan(text)
    shown = {"D3BJ": "-D3(BJ)/def2-SVP", "D4": "-D4/def2-SVP", None: "/def2-SVP"}[dispersion]
    assert shown in plan.steps[-1].goal.protocol


@pytest.mark.parametrize(
    ("text", "model", "solvent"),
    [
        ("HOMO of TMA in water with SMD", "SMD", "water"),
        ("HOMO of TMA using the SMD model in water at B3LYP/def2-SVP", "SMD", "water"),
        ("HOMO of TMA with SMD(methanol)", "SMD", "methanol"),
        ("HOMO of TMA in SMD water", "SMD", "water"),
        ("HOMO of TMA in implicit water with C-PCM", "CPCM", "water"),
        ("HOMO of TMA in water", "CPCM", "water"),
        ("HOMO of TMA with GFN2-xTB in water", "ALPB", "water"),
    ],
)
def test_the_solvent_model_is_read_and_used_where_it_fits(text: str, model: str, solvent: str) -> None:
    spec = last_spec(text)
    assert (spec.solvent_model, spec.solvent) == (model, solvent)


def test_the_tight_binding_step_before_takes_its_own_solvent_model() -> None:
    _, plan, species = make_plan("Optimise TMA in water with SMD and give its HOMO at B3LYP-D4/def2-SVP")
    first, second = (step.goal for step in plan.steps if step.agent == "qm_agent")
    assert spec_for(species[0], first).solvent_model == "ALPB"
    assert spec_for(species[0], first).dispersion is None
    assert (spec_for(species[0], second).solvent_model, second.dispersion) == ("SMD", "D4")
    assert second.protocol == "B3LYP-D4/def2-SVP//GFN2-xTB in water (SMD)"


@pytest.mark.parametrize(
    ("text", "field", "problem"),
    [
        ("HOMO of water at 350 K", "temperature", "has no meaning"),
        ("Gibbs energy of water at 350 K and at 400 K", "temperature", "are several"),
        ("HOMO of TMA with SMD", "solvent_model", "without a solvent"),
        ("HOMO of TMA with GFN2-xTB in water with SMD", "solvent_model", "is not for GFN2-xTB"),
        ("energy of water with M06-2X-D4", "dispersion", "has no parameters for M06-2X"),
        ("energy of water with GFN2-xTB and D4", "dispersion", "cannot be chosen"),
        ("energy of water with B3LYP-D3", "dispersion", "is not offered"),
        ("Gibbs energy of water at -10 K", "temperature_kelvin", "greater than 0"),
    ],
)
def test_what_cannot_be_is_refused(text: str, field: str, problem: str) -> None:
    with pytest.raises(InputError) as caught:
        make_plan(text)
    assert caught.value.field == field
    assert problem in str(caught.value)


def test_celsius_is_read() -> None:
    assert last_spec("Gibbs energy of water at 25 °C").temperature_kelvin == pytest.approx(298.15)


def test_frequencies_cost_more_than_an_optimisation() -> None:
    """Tetramethylammonium, B3LYP/def2-SVP on two threads: 56 s for the optimisation, 401 s for the frequencies."""
    spec = last_spec("frequencies of TMA at B3LYP/def2-SVP")
    assert estimate(spec).core_seconds == pytest.approx(2 * (56 + 401), rel=0.3)
