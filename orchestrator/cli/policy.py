"""``simrelay policy list|promote|rollback|audit``: rules for failures, made out of episodes that agree."""

from __future__ import annotations

from typing import Annotated

import typer

from orchestrator.cli.connect import client, owner
from orchestrator.cli.output import Json, answer, moment, note, print_json, print_table

app = typer.Typer(help="Rules for failed steps, promoted out of episodes that agree.", no_args_is_help=True)


@app.command("list")
def list_rules(as_json: Json = False) -> None:
    """List the active rules, and all versions of the policy."""
    with client() as service:
        policy = service.policy()
    if as_json:
        print_json(policy)
        return
    rules = len(policy.rules)
    note(f"version {policy.active} is active, with {rules} rule{'' if rules == 1 else 's'}")
    if policy.rules:
        rows = ((name, rule.action, ", ".join(rule.episodes)) for name, rule in sorted(policy.rules.items()))
        print_table(("failure", "action", "episodes"), rows)
    if policy.versions:
        versions = ((v.version, v.before, v.by, moment(v.created), v.why) for v in policy.versions)
        print_table(("version", "made out of", "by", "at", "what"), versions)


@app.command()
def promote(
    signature: Annotated[str, typer.Argument(metavar="SIGNATURE", help="Of the failure; `simrelay memory list`.")],
    as_json: Json = False,
) -> None:
    """Make a rule of what two or more runs verified for a failure, in a new version of the policy."""
    with client() as service:
        done = service.promote({"signature": signature, "by": owner()})
    if as_json:
        print_json(done)
        return
    answer(f"version {done.version}: {done.rule.action} for {signature}, on {len(done.rule.episodes)} episodes")


@app.command()
def rollback(
    version: Annotated[int, typer.Argument(metavar="VERSION", min=0, help="The version to go back to; 0 is empty.")],
    why: Annotated[str, typer.Option("--why", help="The reason, for the record.")],
    as_json: Json = False,
) -> None:
    """Make an earlier version of the policy the active one; no version and no episode is changed."""
    with client() as service:
        done = service.roll_back({"version": version, "by": owner(), "why": why})
    if as_json:
        print_json(done)
        return
    answer(f"version {version} is active" if done.answer == "ok" else f"version {version} was active before")


@app.command()
def audit(
    count: Annotated[int, typer.Option(min=1, max=1000, help="How many lines at most.")] = 50, as_json: Json = False
) -> None:
    """Show who recorded, revoked, promoted and rolled back what, newest first."""
    with client() as service:
        lines = service.policy(audit=count).audit
    if as_json:
        print_json(lines)
        return
    columns = ("at", "what", "by", "about", "why")
    rows = ((moment(n.at), n.what, n.who, n.episode or n.signature or f"version {n.version}", n.why) for n in lines)
    print_table(columns, rows)
