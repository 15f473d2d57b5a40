"""The spec of an analysis: what can be asked for, and what is refused before anything is queued."""

from __future__ import annotations

from typing import Any

import pytest

from tasks.errors import InputError
from tasks.specs import WavefunctionSpec, dump_spec, parse_spec, queue_of

FILE = {"path": "jobs/ab/ab-0/orbitals.chk", "sha256": "0" * 64, "size_bytes": 5}


def spec(**values: Any) -> WavefunctionSpec:
    found = parse_spec({"kind": "wavefunction", "inputs": {"wavefunction": FILE}, **values})
    assert isinstance(found, WavefunctionSpec)
    return found


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("homo", "HOMO"),
        ("LUMO + 2", "LUMO+2"),
        ("HOMO-0", "HOMO"),
        ("LUMO+0 beta", "LUMO beta"),
        ("Homo-1 (Beta)", "HOMO-1 beta"),
        ("12", "12"),
        ("12 ALPHA", "12 alpha"),
    ],
)
def test_orbitals_are_named_in_one_way(written: str, meant: str) -> None:
    assert spec(orbitals=[written, meant]).orbitals == (meant,)


@pytest.mark.parametrize(
    ("values", "field", "said"),
    [
        ({"orbitals": ["LUMO-1"]}, "orbitals", "is not an orbital"),
        ({"orbitals": ["HOMO+1"]}, "orbitals", "is not an orbital"),
        ({"orbitals": ["0"]}, "orbitals", "is not an orbital"),
        ({"orbitals": ["SOMO"]}, "orbitals", "is not an orbital"),
        ({"orbitals": [], "analyses": ["pictures"]}, "orbitals", "is empty"),
        ({"orbitals": [str(i) for i in range(1, 23)]}, "orbitals", "at most 20"),
        ({"analyses": []}, "analyses", "is empty"),
        ({"analyses": ["aim"]}, "analyses.0", "orbitals"),
        ({"spacing_angstrom": 0.01}, "spacing_angstrom", "0.05"),
        ({"inputs": {}}, "inputs", "exactly one file"),
        ({"inputs": {"wavefunction": FILE, "more": FILE}}, "inputs", "exactly one file"),
        ({"engine": "orca"}, "engine", "multiwfn"),
    ],
)
def test_what_makes_no_sense_is_refused_with_its_field(values: dict[str, Any], field: str, said: str) -> None:
    with pytest.raises(InputError) as refused:
        spec(**values)
    assert refused.value.field == field
    assert said in str(refused.value)


def test_a_spec_is_read_back_as_it_was_written_and_waits_in_its_engine_s_queue() -> None:
    one = spec(analyses=["hirshfeld", "pictures"], orbitals=["LUMO+1", "HOMO"], engine="multiwfn", label="TMA")
    assert parse_spec(dump_spec(one)) == one
    assert queue_of(one) == "multiwfn"
    assert (one.task, one.analyses) == ("analysis", ("hirshfeld", "pictures"))
    assert one.files() == {
        "cube.LUMO+1": "LUMO-plus-1.cube",
        "cube.HOMO": "HOMO.cube",
        "picture.LUMO+1": "LUMO-plus-1.png",
        "picture.HOMO": "HOMO.png",
    }
