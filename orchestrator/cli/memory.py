"""``simrelay memory list|show|recall|revoke``: what was learnt from failed steps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from orchestrator.cli.connect import client, owner
from orchestrator.cli.output import Json, answer, moment, more, note, print_json, print_pairs, print_table

if TYPE_CHECKING:
    from tasks.memory import Episode

app = typer.Typer(help="What was learnt from failed steps, and is tried first the next time.", no_args_is_help=True)
EpisodeId = Annotated[str, typer.Argument(metavar="EPISODE", help="Id of the episode.")]
Signature = Annotated[
    str, typer.Option(help="Of the failure: agent, task, engine, kind of theory and error class, with colons between.")
]


@app.command("list")
def list_episodes(
    signature: Signature = "",
    status: Annotated[str, typer.Option(help="Those of this status, such as verified_success.")] = "",
    action: Annotated[str, typer.Option(help="Those of this action, such as other_engine.")] = "",
    run: Annotated[str, typer.Option(help="Those of this run.")] = "",
    cursor: Annotated[str, typer.Option(help="Where the last page ended.")] = "",
    count: Annotated[int, typer.Option(min=1, max=1000, help="How many at most.")] = 50,
    as_json: Json = False,
) -> None:
    """List episodes, newest first."""
    with client() as service:
        page = service.episodes(
            signature=signature, status=status, action=action, run=run, cursor=cursor, count=count
        )  # fmt: skip
    if as_json:
        print_json(page)
        return
    if not page.episodes:
        note("nothing is remembered" if not (signature or status or action or run) else "no episode fits")
        return
    columns = ("episode", "failure", "action", "status", "trust", "recorded")
    print_table(
        columns,
        ((e.id, e.signature, e.action, e.status, f"{e.trust:.2f}", moment(e.changed)) for e in page.episodes),
        right=("trust",),
    )
    more(page.cursor, "episodes")


@app.command()
def show(episode: EpisodeId, as_json: Json = False) -> None:
    """Show one episode: what failed, what was tried, what was checked, and whether it is recalled."""
    with client() as service:
        found = service.episode(episode)
    if as_json:
        print_json(found)
        return
    _print(found.episode)
    answer(f"recalled    {'no: ' + found.not_recalled if found.not_recalled else 'yes'}")


@app.command()
def recall(
    signature: Signature = "",
    run: Annotated[str, typer.Option(help="Instead of a signature: a run whose failures are meant.")] = "",
    step: Annotated[int, typer.Option(min=0, help="Of that run: only this step.")] = 0,
    as_json: Json = False,
) -> None:
    """Say what memory and policy would try for a failure, best first."""
    with client() as service:
        found = service.recall(signature=signature, run=run, step=step)
    if as_json:
        print_json(found)
        return
    if not found.proposals:
        note(f"nothing is recalled for {', '.join(found.signatures)}: a diagnosis by its error class decides")
        return
    rows = (
        (p.signature, p.action, ", ".join(f"{k} {v}" for k, v in p.parameters.items()), p.source, p.by)
        for p in found.proposals
    )
    print_table(("failure", "action", "with", "source", "by"), rows)


@app.command()
def revoke(
    episode: EpisodeId,
    why: Annotated[str, typer.Option("--why", help="The reason, for the record.")],
    as_json: Json = False,
) -> None:
    """Take an episode out of what is recalled, for good."""
    with client() as service:
        done = service.revoke_episode(episode, {"by": owner(), "why": why})
    if as_json:
        print_json(done)
        return
    answer(f"{episode} revoked" if done.answer == "ok" else f"{episode} was revoked before")


def _print(episode: Episode) -> None:
    content = episode.content
    print_pairs(
        (
            ("episode", episode.id),
            ("failure", episode.signature),
            ("action", episode.action),
            ("with", ", ".join(f"{name} {value}" for name, value in content.parameters.items())),
            ("means", content.consequence),
            ("chosen by", content.source),
            ("status", episode.status.value),
            ("trust", f"{episode.trust:.2f}"),
            ("run", f"{episode.run}, step {content.step}, round {content.round}"),
            ("failed", ", ".join(content.jobs)),
            ("in place", ", ".join(content.repairs)),
            ("recorded", moment(episode.changed)),
            ("revoked by", f"{episode.by}: {episode.why}" if episode.by else ""),
        )
    )
    for check in content.checks:
        answer(f"  {'✓' if check.passed else '✗'} {check.name}: {check.text}")
    for evidence in content.evidence:
        answer(f"  evidence: {evidence.what} of job {evidence.job}, SHA-256 {evidence.sha256[:16]}…")
