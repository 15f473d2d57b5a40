"""Runs in the store: held under an epoch, woken by batches and people, let go only when nothing is left to look at."""

from __future__ import annotations

import pytest

from tasks import runs
from tasks.errors import Conflict, LeaseLost, NotFound
from tasks.records import InboxEntry, RunState
from tests.integration.store.world import World

CANCEL = InboxEntry(id="cancel", kind="cancel")


def create(world: World, *names: str) -> None:
    """Create runs of requests of their own."""
    for name in names:
        assert world.store.run(runs.create(name, "ada", f"request of {name}")).answer == "created"


def wait(world: World, run: str = "run", *, awaits: tuple[str, ...] = ()) -> int:
    """Create a run that waits; gives the epoch under which it was held."""
    held = world.run(run)
    assert world.store.run(runs.release(run, held.epoch, RunState.WAITING, awaits=awaits))
    return held.epoch


def look(number: int) -> InboxEntry:
    """Make an entry of no further meaning."""
    return InboxEntry(id=f"look-{number}", kind="look")


def test_runs_are_claimed_in_the_order_in_which_they_became_ready(world: World) -> None:
    create(world, "b")
    began = world.now_ms()
    while world.now_ms() == began:
        continue
    create(world, "a")
    assert [world.take().id, world.take().id] == ["b", "a"]
    assert world.store.run(runs.claim("orchestrator", world.settings)) is None


def test_only_a_claim_raises_the_epoch(world: World) -> None:
    assert world.run().epoch == 1
    world.lapse_run("run")
    assert world.expire().runs == ("run",)
    record = world.run_record()
    assert (record.state, record.epoch) == (RunState.QUEUED, 1)
    assert world.take("run").epoch == 2
    assert world.run_record().state is RunState.ACTIVE


def test_a_renewed_run_is_not_taken_and_an_old_epoch_renews_nothing(world: World) -> None:
    first = world.run()
    world.lapse_run("run")
    assert world.store.run(runs.renew("run", first.epoch, world.settings)) is False
    assert world.expire().runs == ()
    world.lapse_run("run")
    world.expire()
    with pytest.raises(LeaseLost):
        world.store.run(runs.renew("run", first.epoch, world.settings))
    world.take("run")
    for act in (
        runs.renew("run", first.epoch, world.settings),
        runs.look("run", first.epoch),
        runs.release("run", first.epoch, RunState.WAITING),
        runs.write_checkpoint("run", first.epoch, runs.CheckpointWrite()),
    ):
        with pytest.raises(LeaseLost):
            world.store.run(act)


def test_a_run_given_back_is_ready_at_once(world: World) -> None:
    held = world.run()
    world.store.run(runs.post("run", look(1)))
    assert world.store.run(runs.release("run", held.epoch, RunState.QUEUED))
    assert world.take("run").epoch == 2
    assert world.run_record().takedowns == 0


def test_the_inbox_keeps_its_order_and_takes_each_entry_once(world: World) -> None:
    held = world.run()
    said = [world.store.run(runs.post("run", look(number))) for number in (2, 1, 2, 3)]
    assert said == ["ok", "ok", "same", "ok"]
    entries = world.store.run(runs.look("run", held.epoch)).inbox
    assert [entry.id for entry in entries] == ["look-2", "look-1", "look-3"]
    world.store.run(runs.write_checkpoint("run", held.epoch, runs.CheckpointWrite(acks=("look-2", "look-3"))))
    assert world.store.run(runs.post("run", look(2))) == "same"
    assert [entry.id for entry in world.store.run(runs.look("run", held.epoch)).inbox] == ["look-1"]


def test_an_entry_comes_out_of_the_inbox_as_it_was_put_in(world: World) -> None:
    held = world.run()
    entry = InboxEntry.model_validate(
        {"id": "a", "kind": "answer", "value": {"steps": [], "limit": 12345678901234567, "share": 0.1, "none": None}}
    )
    world.store.run(runs.post("run", entry))
    assert world.store.run(runs.look("run", held.epoch)).inbox == (entry,)
    world.store.run(runs.write_checkpoint("run", held.epoch, runs.CheckpointWrite(acks=("a",))))
    assert world.store.run(runs.look("run", held.epoch)).inbox == ()


@pytest.mark.parametrize("state", [RunState.WAITING, RunState.NEEDS_PERSON])
def test_what_is_said_to_a_waiting_run_wakes_it(world: World, state: RunState) -> None:
    held = world.run()
    assert world.store.run(runs.release("run", held.epoch, state))
    assert world.run_record().state is state
    assert world.store.run(runs.claim("orchestrator", world.settings)) is None
    assert world.store.run(runs.post("run", CANCEL)) == "ok"
    again = world.take("run")
    assert again.inbox == (CANCEL,)
    assert world.store.run(runs.renew("run", again.epoch, world.settings)) is True


def test_what_is_said_to_a_run_that_ended_changes_nothing(world: World) -> None:
    held = world.run()
    world.store.run(runs.post("run", look(1)))
    assert world.store.run(runs.release("run", held.epoch, RunState.FAILED, error="why"))
    assert world.store.run(runs.post("run", CANCEL)) == "ended"
    record = world.run_record()
    assert (record.state, record.error, record.cancel_requested) == (RunState.FAILED, "why", False)
    assert world.redis.exists(world.key("run:run:inbox")) == 0
    with pytest.raises(NotFound):
        world.store.run(runs.post("nobody", CANCEL))


def test_a_batch_that_completes_wakes_the_run_that_waits_for_it(world: World) -> None:
    world.worker("w1")
    held = world.run()
    world.submit("a", owner=world.run_owner(held), batch="batch")
    token = world.start("a")
    assert world.store.run(runs.release("run", held.epoch, RunState.WAITING, awaits=["batch"]))
    world.succeed(token)
    again = world.take("run")
    assert [entry.batch for entry in again.inbox] == ["batch"]


def test_a_run_cannot_succeed_while_a_batch_of_its_own_is_open(world: World) -> None:
    world.worker("w1")
    held = world.run()
    world.submit("a", owner=world.run_owner(held), batch="batch")
    assert not world.store.run(runs.release("run", held.epoch, RunState.SUCCEEDED))
    world.succeed(world.start("a"))
    world.store.run(runs.write_checkpoint("run", held.epoch, runs.CheckpointWrite(acks=("batch:batch",))))
    assert world.store.run(runs.release("run", held.epoch, RunState.SUCCEEDED, answer="42"))
    assert (world.run_record().answer, world.run_record().state) == ("42", RunState.SUCCEEDED)


def test_a_checkpoint_lands_with_its_pointer_and_registry_in_one_step(world: World) -> None:
    held = world.run()
    write = runs.CheckpointWrite(
        documents=(("cp:1", '{"a": {"b": 1}, "list": []}'),),
        merges=(("cp:1", '{"a": {"c": 2}}'),),
        pointers=(("latest", "cp:1"),),
        members=(("writes", 7, "w:1"),),
        checkpoint=("cp:1", "writes"),
    )
    world.store.run(runs.write_checkpoint("run", held.epoch, write))
    assert world.redis.json().get("cp:1") == {"a": {"b": 1, "c": 2}, "list": []}
    assert world.redis.get("latest") == "cp:1"
    assert world.redis.zscore("writes", "w:1") == 7


def test_pruning_keeps_the_newest_and_the_pointers_target(world: World) -> None:
    held = world.run()
    for number in range(5):
        write = runs.CheckpointWrite(
            documents=((f"cp:{number}", "{}"),),
            pointers=(("latest", "cp:1"),),
            members=((f"writes:{number}", 0, f"w:{number}"),),
            checkpoint=(f"cp:{number}", f"writes:{number}"),
        )
        world.store.run(runs.write_checkpoint("run", held.epoch, write))
    with pytest.raises(LeaseLost):
        world.store.run(runs.prune_checkpoints("run", held.epoch + 1, "latest"))
    assert world.store.run(runs.prune_checkpoints("run", held.epoch, "latest", keep=2)) == 2
    kept = [number for number in range(5) if world.redis.exists(f"cp:{number}")]
    assert kept == [1, 3, 4]


def take_down(world: World, *names: str) -> None:
    """Let an orchestrator take runs and die with all of them."""
    world.forget_losses()
    for name in names:
        world.take(name)
    for name in names:
        world.lapse_run(name)
    assert set(world.expire().runs) == set(names)


def test_a_run_that_takes_its_orchestrator_down_three_times_is_poison(world: World) -> None:
    create(world, "run")
    for count in (1, 2, 3):
        take_down(world, "run")
        assert world.run_record().takedowns == count
    assert world.take("run").poison


def test_a_checkpoint_that_lands_begins_the_count_anew(world: World) -> None:
    create(world, "run")
    take_down(world, "run")
    take_down(world, "run")
    held = world.take("run")
    write = runs.CheckpointWrite(documents=(("cp", "{}"),), checkpoint=("cp", "writes"))
    world.store.run(runs.write_checkpoint("run", held.epoch, write))
    assert world.run_record().takedowns == 0
    world.lapse_run("run")
    world.expire()
    assert not world.take("run").poison


def test_pending_writes_do_not_begin_the_count_anew(world: World) -> None:
    create(world, "run")
    take_down(world, "run")
    held = world.take("run")
    world.store.run(runs.write_checkpoint("run", held.epoch, runs.CheckpointWrite()))
    assert world.run_record().takedowns == 1


def test_an_orchestrator_that_lost_several_runs_is_held_against_none(world: World) -> None:
    create(world, "a", "b")
    take_down(world, "a", "b")
    assert [world.run_record(name).takedowns for name in ("a", "b")] == [0, 0]


def test_a_run_whose_lease_ends_a_moment_later_counts_as_lost_at_the_same_time(world: World) -> None:
    create(world, "a", "b")
    world.take("a")
    world.take("b")
    world.redis.zadd(world.key("runs:leased"), {"b": world.now_ms() + world.settings.lease_ms() // 4})
    world.lapse_run("a")
    world.expire()
    world.lapse_run("b")
    world.expire()
    assert [world.run_record(name).takedowns for name in ("a", "b")] == [0, 0]


def test_a_request_attaches_to_the_unfinished_run_for_the_same(world: World) -> None:
    def ask(run: str, owner: str = "ada", text: str = "Compare  these", **options: object) -> tuple[str, str]:
        made = world.store.run(runs.create(run, owner, text, options=options))
        return made.answer, made.run

    assert ask("run-1") == ("created", "run-1")
    assert ask("run-2", text="compare these ") == ("attached", "run-1")
    assert ask("run-3", owner="bob") == ("created", "run-3")
    assert ask("run-4", limit=3) == ("created", "run-4")
    assert ask("run-1") == ("exists", "run-1")
    assert world.store.run(runs.create("run-5", "ada", "compare these", attach=False)).answer == "created"
    assert ask("run-6") == ("attached", "run-5")
    world.store.run(runs.post("run-5", CANCEL))
    assert ask("run-7") == ("created", "run-7")
    held = world.take("run-1")
    world.store.run(runs.release("run-1", held.epoch, RunState.FAILED))
    assert ask("run-8") == ("attached", "run-7")


def test_the_same_run_for_something_else_is_a_conflict(world: World) -> None:
    create(world, "run")
    for owner, text, options in (
        ("ada", "another", {}),
        ("bob", "request of run", {}),
        ("ada", "request of run", {"x": 1}),
    ):
        with pytest.raises(Conflict):
            world.store.run(runs.create("run", owner, text, options=options))


def test_a_waiting_run_costs_no_claim_until_it_is_woken(world: World) -> None:
    wait(world, awaits=("not yet opened",))
    assert world.store.run(runs.claim("orchestrator", world.settings)) is None
    assert world.run_record().holder == ""


def test_what_a_run_used_of_a_model_is_booked_under_its_epoch_and_never_falls_below_nought(world: World) -> None:
    first = world.run()
    spent = world.store.run(runs.spend("run", first.epoch, calls=1, prompt_tokens=900, completion_tokens=2000))
    assert (spent.calls, spent.prompt_tokens, spent.completion_tokens) == (1, 900, 2000)
    spent = world.store.run(runs.spend("run", first.epoch, prompt_tokens=-100, completion_tokens=-5000))
    assert (spent.calls, spent.prompt_tokens, spent.completion_tokens) == (1, 800, 0)
    world.lapse_run("run")
    world.expire()
    second = world.take("run")
    with pytest.raises(LeaseLost):
        world.store.run(runs.spend("run", first.epoch, calls=1))
    assert world.store.run(runs.spend("run", second.epoch)) == spent
    record = world.run_record()
    assert (record.model_calls, record.model_prompt_tokens, record.model_completion_tokens) == (1, 800, 0)
