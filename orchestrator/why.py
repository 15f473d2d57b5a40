"""Why a job has not started, in one sentence."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any


def explain(job: str, said: dict[str, Any]) -> str:
    """Put into words what the store says of a job that may not have started.

    Parameters
    ----------
    said
        As ``tasks.listing.ahead`` gives it.
    """
    state, place = said["state"], said["place"]
    match state:
        case "RUNNING":
            return f"Job {job} has started: it runs."
        case "SUCCEEDED" | "FAILED" | "CANCELLED":
            return f"Job {job} has ended: {state}."
        case "HELD":
            return f"Job {job} is held; it starts when somebody lets it go."
        case "PARKED":
            return f"Job {job} waits for a batch of jobs of its own, and goes on when that is complete."
    if place == "delayed":
        moment = datetime.fromtimestamp(said["delayed_until_ms"] / 1000, UTC).astimezone()
        seconds = max(0, round((said["delayed_until_ms"] - said["now_ms"]) / 1000))
        return f"Job {job} is tried again at {moment:%H:%M:%S}, in {seconds} s, after a failure."
    if place == "offered":
        return f"Job {job} was offered to a worker and starts in a moment."
    return _not_offered(job, said)


def _not_offered(job: str, said: dict[str, Any]) -> str:
    queue, cores, memory = said["queue"], said["cores"], said["memory_mb"]
    workers = said["workers"] or []
    serving = [worker for worker in workers if worker["serves"]]
    if not serving:
        ever = "" if said["declared"] else ", and none ever has"
        alive = f"; {len(workers)} other worker{'s are' if len(workers) != 1 else ' is'} alive" if workers else ""
        return f"No live worker offers {queue}{ever}{alive}."
    active = [worker for worker in serving if worker["state"] == "active"]
    quarantined = [worker for worker in serving if worker["state"] == "quarantined"]
    if not active and quarantined:
        one = quarantined[0]
        return f"Worker {one['id']}, which offers {queue}, is quarantined: {one['reason'].rstrip('.')}."
    if not active:
        return f"Every worker that offers {queue} is stopping and takes no more work."
    if all(worker["cores"] < cores for worker in active):
        most = max(worker["cores"] for worker in active)
        return f"It asks for {cores} cores, and no worker that offers {queue} has more than {most}."
    if all(worker["memory_mb"] < memory for worker in active):
        most = max(worker["memory_mb"] for worker in active)
        return f"It asks for {memory} MB, and no worker that offers {queue} has more than {most}."
    if all(worker["cores"] < cores or worker["memory_mb"] < memory for worker in active):
        return f"No single worker that offers {queue} has both {cores} cores and {memory} MB."
    unlicensed = [worker["licence"] for worker in active if worker.get("licence")]
    if len(unlicensed) == len(active):
        one = unlicensed[0]
        return f"It waits for a licence: all {one['count']} of {one['name']} are taken by other jobs."
    if said["ahead"]:
        others = "1 job is" if said["ahead"] == 1 else f"{said['ahead']} jobs are"
        return f"It waits its turn: {others} before it in the queue {queue}, {_busy(active)}."
    if any(worker["free_cores"] >= cores and worker["free_memory_mb"] >= memory for worker in active):
        if not any(worker["workspace_seen"] for worker in active):
            return f"No worker that offers {queue} sees this installation's workspace, where the job has begun."
        return f"It is next in the queue {queue}, and is offered in a moment."
    free = max(worker["free_cores"] for worker in active)
    return (
        f"It is next in the queue {queue}, and waits until {cores} core{'s' if cores != 1 else ''} and {memory} MB"
        f" are free on one worker (most free now: {max(free, 0)} core{'s' if free != 1 else ''})."
    )


def _busy(workers: list[dict[str, Any]]) -> str:
    cores = sum(worker["cores"] for worker in workers)
    free = sum(max(worker["free_cores"], 0) for worker in workers)
    return f"{cores - free} of {cores} cores are taken"
