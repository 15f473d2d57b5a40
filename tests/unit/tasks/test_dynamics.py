from __future__ import annotations

from typing import Any

import pytest

from tasks.dynamics import DynamicsSpec
from tasks.errors import InputError
from tasks.specs import dump_spec, engine_of, parse_spec, queue_of

CATION = {"smiles": "C[N+](C)(C)C", "count": 8}


def spec(**changes: Any) -> DynamicsSpec:
    """Read a spec of eight cations in water with some changes."""
    data = {"kind": "dynamics", "system": {"cations": [CATION], "water": 500}, **changes}
    read = parse_spec({name: value for name, value in data.items() if value is not None})
    assert isinstance(read, DynamicsSpec)
    return read


def test_lengths_and_temperatures_are_read_in_people_s_units() -> None:
    read = spec(production_ps="2 ns", nvt_ps="50 ps", npt_ps=20, temperature_kelvin="80 °C", frame_spacing_ps="2 ps")
    assert (read.production_ps, read.nvt_ps, read.npt_ps) == (2000, 50, 20)
    assert read.temperature_kelvin == pytest.approx(353.15)
    assert read.frame_spacing_ps == 2
    assert (engine_of(read), queue_of(read), read.task) == ("gromacs", "gromacs", "molecular_dynamics")
    assert parse_spec(dump_spec(read)) == read


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"system": None}, "system: None is missing. Give either system"),
        ({"production_ps": "1 fortnight"}, r"production_ps: '1 fortnight' is not a simulated time\. Give for example"),
        ({"frame_spacing_ps": 0.2}, "frame_spacing_ps: 0.2 is not a whole number of picoseconds"),
        ({"frame_spacing_ps": 3, "production_ps": 50}, "production_ps: 50.0 is not a multiple of the frame"),
        ({"time_step_fs": 1.7}, "time_step_fs: 1.7 does not divide the frame spacing"),
        ({"time_step_fs": 5}, "time_step_fs"),
        ({"temperature_kelvin": "warm"}, "temperature_kelvin: 'warm' is not a temperature"),
        ({"system": {"cations": [CATION], "edge_nm": 2.0}}, r"'2\.00 nm' is too small .*needs 2\.2 nm"),
        ({"system": {"water": 0}}, "leaves the box empty"),
        ({"system": {"waters_per_cation": 10}}, "without cations"),
        ({"system": {"cations": [CATION], "water": 10, "waters_per_cation": 10}}, "contradicts waters_per_cation"),
        ({"production_ps": 50, "analysis": {"fit_window_ps": [2, 20]}}, "does not lie within a block of 10 ps"),
        ({"production_ps": 50, "analysis": {"fit_window_ps": [2, 3]}}, "holds fewer than 3 frames"),
        ({"system": None, "files": {"coordinates": "a.gro", "topology": "a.top"}}, "'a.gro' is not among the inputs"),
        ({"system": None, "files": {"coordinates": "a.xyz", "topology": "a.top"}}, "is not the name of a .gro or .pdb"),
    ],
)  # fmt: skip
def test_what_cannot_be_simulated_is_refused_with_what_would_be_right(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        spec(**changes)


@pytest.mark.parametrize(
    ("production", "blocks", "window"),
    # From a tenth to half of a block, in frames of 1 ps; nothing if that holds fewer than three of them.
    [(1000, 5, (20, 100)), (50, 5, (1, 5)), (30, 5, (1, 3)), (20, 5, None)],
)
def test_a_line_is_fitted_within_half_a_block(
    production: float, blocks: int, window: tuple[float, float] | None
) -> None:
    assert spec(production_ps=production, analysis={"blocks": blocks}).window_ps() == window


TMA_BOX = {"cations": [{"smiles": "C[N+](C)(C)C", "name": "TMA", "count": 8}], "counter_ion": "chloride"}


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"system": {"cations": [{"smiles": "C[N+](C)(C)C", "count": 8, "geometry": "tma.xyz"}]}},
         "system.cations.0.geometry"),
        ({"analysis": {"cluster": {"cation": "DMP", "counter_ion": "chloride"}}}, "analysis.cluster.cation"),
        ({"analysis": {"cluster": {"cation": "TMA", "counter_ion": "bromide"}}}, "analysis.cluster.counter_ion"),
        ({"analysis": {"cluster": {"cation": "TMA", "counter_ions": 0}}}, "analysis.cluster"),
    ],
)  # fmt: skip
def test_structures_and_clusters_that_are_not_there_are_refused(changes: dict[str, object], field: str) -> None:
    with pytest.raises(InputError) as refused:
        parse_spec({"kind": "dynamics", "system": TMA_BOX, **changes})
    assert refused.value.field == field


def test_a_spec_without_structures_and_clusters_is_what_it_was() -> None:
    written = dump_spec(parse_spec({"kind": "dynamics", "system": TMA_BOX}))
    assert "cluster" not in written["analysis"]
    assert "geometry" not in written["system"]["cations"][0]
