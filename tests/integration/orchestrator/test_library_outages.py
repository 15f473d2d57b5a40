"""A question to the library in a run, while what keeps the library is killed, away, or back again."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

from orchestrator.agents import AGENTS, Context, Work
from orchestrator.agents.literature import LiteratureAgent
from orchestrator.library import open_library
from orchestrator.planning.asked import Asked, Planned
from orchestrator.planning.research import LIBRARY, plan_research
from orchestrator.stack.redis_server import RedisServer
from orchestrator.state import Decision, Step
from tasks import runs
from tasks.settings import Settings
from tasks.store import Store, connect
from tests.integration.orchestrator.conftest import create, holding, run_in, until
from tests.library.qdrant_over_http import QdrantOverHttp
from tests.library.stand_in_embeddings import embeddings_server
from tests.own_redis import server, settings

__all__ = ["server", "settings"]

QUESTION = "What do my documents say about the conductivity of S-07?"
QUOTED = "“The conductivity of the invented S-07 is 118 mS/cm.” [1]"


class WaitingAgent(LiteratureAgent):
    """Says when it begins, and searches only when it is told to; the real one in all else."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def plan_jobs(self, step: Step, context: Context) -> Work:
        """Wait, then do the step."""
        with (self.folder / "begun").open("a") as stream:
            stream.write("x")
        while not (self.folder / "go").exists():
            time.sleep(0.02)
        try:
            return super().plan_jobs(step, context)
        except Exception as error:
            (self.folder / "raised").write_text(str(error))
            raise


def plan_search(asked: Asked) -> Planned:
    """Plan a question to the library and its report."""
    return Planned(decision=Decision(rule="named", agent="rag_agent"), plan=plan_research(asked.text, LIBRARY))


def fill(settings: Settings, folder: Path) -> None:
    """Add one document."""
    (folder / "one.txt").write_text("Title: On S-07\n\nThe conductivity of the invented S-07 is 118 mS/cm.")
    with open_library(settings) as library:
        library.add(folder / "one.txt", "one.txt")


async def exists(path: Path) -> None:
    """Wait for a file."""

    async def look() -> bool:
        return path.exists()

    await until(look, what=path.name)


async def test_a_redis_that_is_killed_during_the_step_is_waited_for(
    settings: Settings, server: RedisServer, tmp_path: Path
) -> None:
    # Given a run whose step has begun
    fill(settings, tmp_path)
    create(Store(connect(settings), settings), QUESTION)
    async with holding(settings, plan=plan_search, agents={**AGENTS, "rag_agent": WaitingAgent(tmp_path)}) as holder:
        await exists(tmp_path / "begun")
        # When Redis is killed, the step searches in vain, and Redis comes back
        assert server.process
        server.process.kill()
        server.process.wait()
        (tmp_path / "go").touch()
        await exists(tmp_path / "raised")
        server.start()
        # Then the step is done again, and nothing has failed
        record = await run_in(holder.store, "r1", "SUCCEEDED", "FAILED", seconds=60)
        state = await holder.view("r1")
    assert (record.state, record.error) == ("SUCCEEDED", "")
    assert QUOTED in record.answer
    assert "Redis does not answer" in (tmp_path / "raised").read_text()
    assert len((tmp_path / "begun").read_text()) > 1
    assert state.plan.step(1).error == ""
    assert state.report
    assert "the invented S-07 is 118 mS/cm" in (settings.workspace / state.report.path).read_text()


async def test_a_qdrant_that_is_away_fails_the_step_with_its_name_and_the_run_can_be_taken_up(
    settings: Settings, tmp_path: Path
) -> None:
    with embeddings_server() as url, QdrantOverHttp() as qdrant:
        changes = {"embeddings_url": url, "embeddings_model": "words-256", "qdrant_url": qdrant.url}
        using = settings.model_copy(update=changes)
        await asyncio.to_thread(fill, using, tmp_path)
        store = Store(connect(using), using)
        create(store, QUESTION)
        qdrant.stop()
        async with holding(using, plan=plan_search, agents=AGENTS) as holder:
            record = await run_in(holder.store, "r1", "SUCCEEDED", "FAILED", seconds=60)
            assert record.state == "FAILED"
            assert "step 1 (rag_agent): the library's store cannot be reached: Qdrant does not answer" in record.error
            assert "Nothing found" not in record.answer
            # When it is back, and the run is taken up again
            qdrant.start()
            store.run(runs.create("r2", "ana", QUESTION, retry_of="r1"))
            record = await run_in(holder.store, "r2", "SUCCEEDED", "FAILED", seconds=60)
    assert (record.state, record.error) == ("SUCCEEDED", "")
    assert QUOTED in record.answer
