"""Structures into a simulation and out of it, with real GROMACS: an optimised cation goes in, a cluster comes out."""

from __future__ import annotations

from orchestrator.chemistry.geometry import broken_bonds, embed
from orchestrator.inputs import input_file
from tasks.records import JobState
from tasks.settings import Settings
from tasks.specs import dump_spec, parse_spec
from tasks.store import Store
from tasks.workspace import write_artifact
from tests.integration.dynamics.conftest import WATER, result_of
from tests.integration.worker.conftest import StartWorker, artifact_path, submit, wait_for

TMA = "C[N+](C)(C)C"


def test_a_cation_goes_in_as_it_was_optimised_and_comes_out_with_its_neighbours(
    settings: Settings, submitting: Store, start_worker: StartWorker
) -> None:
    start_worker(cores=2)
    given = embed(TMA).xyz.encode()
    file = write_artifact(settings.workspace / "tma.xyz", given, settings.workspace, "geometry")
    cation = {"smiles": TMA, "name": "TMA", "count": 2, "geometry": "cation-1.xyz"}
    system = {"cations": [cation], "counter_ion": "chloride", "counter_ions": 2, "water": 190, "edge_nm": 1.9}
    cluster = {"cation": "TMA", "counter_ion": "chloride", "counter_ions": 1, "waters": 2}
    changes = {
        "system": system,
        "inputs": {"cation-1.xyz": input_file(file).model_dump()},
        "analysis": {"cluster": cluster},
        "production_ps": 2,
        "minimisation_steps": 500,
    }
    (done,) = submit(submitting, dump_spec(parse_spec({**WATER, **changes})))
    record = wait_for(submitting, done, JobState.SUCCEEDED, JobState.FAILED, seconds=300)
    assert record.state is JobState.SUCCEEDED, record.failure
    taken = result_of(submitting, done).cluster
    assert taken and taken.charge == 0 and taken.time_ps == 2
    assert [one.species for one in taken.members] == ["TMA", "chloride", "water", "water"]
    assert all(2.5 < one.distance_angstrom < 12 for one in taken.members[1:])
    xyz = artifact_path(settings, record, "cluster").read_text()
    assert broken_bonds(f"{TMA}.[Cl-].O.O", xyz) == []
