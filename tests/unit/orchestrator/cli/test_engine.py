"""`simrelay engine list`: what live workers offer."""

from __future__ import annotations

from orchestrator.cli.engine import offered
from orchestrator.views import WorkerView
from tasks.records import EngineOffer


def worker(name: str, *engines: tuple[str, str, tuple[str, ...]]) -> WorkerView:
    offers = tuple(EngineOffer(engine=engine, version=version, tasks=tasks) for engine, version, tasks in engines)
    return WorkerView(id=name, name=name, host="h", state="active", cores=1, memory_mb=1, engines=offers)


def test_every_version_is_a_row_with_what_it_computes_and_its_workers() -> None:
    both = ("optimisation", "single_point")
    rows = offered(
        [
            worker("b", ("orca", "6.0.1", both), ("program", "", ("relax",))),
            worker("a", ("orca", "6.0.1", both[::-1])),
            worker("c", ("orca", "5.0.4", both), ("pyscf", "2.14.0", ("single_point",))),
        ]
    )
    assert [(row["engine"], row["version"], row["workers"]) for row in rows] == [
        ("orca", "5.0.4", ["c"]),
        ("orca", "6.0.1", ["a", "b"]),
        ("program", "", ["b"]),
        ("pyscf", "2.14.0", ["c"]),
    ]
    orca, program, pyscf = rows[1], rows[2], rows[3]
    assert orca["tasks"] == ["optimisation", "single_point"]
    assert orca["solvent_models"] == ["CPCM", "SMD"]
    assert "B3LYP" in orca["methods"] and "BP86" not in orca["methods"]
    assert (program["tasks"], program["methods"]) == (["relax"], [])
    assert pyscf["tasks"] == ["single_point"]
