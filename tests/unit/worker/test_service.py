"""What a worker tells of its host."""

from __future__ import annotations

import json
from pathlib import Path

from pydantic import SecretStr

from tasks.programs import ProgramDeclaration
from tasks.settings import Settings
from tasks.workers import Registration
from worker.engines.base import Offer
from worker.service import Host, WorkerService


class Unconnected(WorkerService):
    """A worker that has not looked at the workspace."""

    def workspace_trouble(self) -> str | None:
        return None


def registration(tmp_path: Path, *tags: str) -> Registration:
    program = ProgramDeclaration.model_validate(
        {
            "command": ["/bin/true"],
            "success": "ok",
            "environment": {"LICENCE_KEY": "secret"},
            "licence": {"name": "relax", "count": 3},
        }
    )
    offers = (
        Offer(engine="xtb", version="1", command=("x",), tasks=("single_point",)),
        Offer(engine="program", version="", command=(), tasks=("relax",)),
    )
    settings = Settings.model_validate({"home": tmp_path, "redis_url": SecretStr("redis://:x@127.0.0.1:1/0")})
    host = Host(name="n", cores=2, memory_mb=100, offers=offers, programs={"relax": program}, tags=tags)
    return Unconnected(settings, host).registration()


def test_a_worker_serves_its_engines_and_programs_with_and_without_its_tags(tmp_path: Path) -> None:
    assert registration(tmp_path).queues == ("program.relax", "xtb")
    assert registration(tmp_path, "gpu").queues == ("program.relax", "program.relax@gpu", "xtb", "xtb@gpu")


def test_a_programs_environment_may_be_secret_and_is_not_registered(tmp_path: Path) -> None:
    assert "secret" not in json.dumps(registration(tmp_path).declarations)


def test_a_licence_counts_for_a_programs_queues_with_and_without_tag(tmp_path: Path) -> None:
    found = registration(tmp_path, "gpu").licences
    assert {queue: (held.name, held.count) for queue, held in found.items()} == {
        "program.relax": ("relax", 3),
        "program.relax@gpu": ("relax", 3),
    }


def test_a_worker_has_another_id_at_every_start(tmp_path: Path) -> None:
    assert registration(tmp_path).id != registration(tmp_path).id
