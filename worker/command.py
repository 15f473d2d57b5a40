"""The worker's commands: ``simrelay worker`` serves jobs, ``simrelay worker detect`` finds the engines of this host."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from tasks.errors import ConfigurationError
from tasks.logs import configure_logging
from tasks.programs import load_programs
from tasks.settings import load_settings
from tasks.units import memory_mb
from worker.detect import detect_engines, read_engines_toml, write_engines_toml
from worker.engines.base import Offer

app = typer.Typer(help="Serve jobs on this host.", no_args_is_help=False)


@app.callback(invoke_without_command=True)
def serve(
    context: typer.Context,
    cores: Annotated[int, typer.Option(help="Cores to offer; 0: all that this process may use.")] = 0,
    memory: Annotated[str, typer.Option(help="Memory to offer, such as '16 GB'; empty: 90 % of the host's.")] = "",
    tag: Annotated[list[str] | None, typer.Option(help="Also take jobs with this tag; may be repeated.")] = None,
    name: Annotated[str, typer.Option(help="Name of this worker; empty: the host's.")] = "",
) -> None:
    """Register this host's engines and serve jobs until told to stop."""
    if context.invoked_subcommand:
        return
    from worker.service import Host, WorkerService, host_cores, host_memory_mb, host_name

    settings = load_settings()
    configure_logging(settings.log_level)
    if not settings.redis_url.get_secret_value():
        raise ConfigurationError("SIMRELAY_REDIS_URL is not set: a worker needs the Redis of its installation")
    path = settings.home / "engines.toml"
    if not path.exists():
        write_engines_toml(path, detect_engines())
    programs = load_programs(settings.home / "programs.toml")
    offers = [offer for offer in read_engines_toml(path) if offer.engine != "program"]
    if programs:
        offers.append(Offer(engine="program", version="", command=(), tasks=tuple(programs)))
    if not offers:
        raise ConfigurationError(f"{path}: offers no engine, and no program is declared in programs.toml")
    host = Host(
        name=name or host_name(),
        cores=cores or host_cores(),
        memory_mb=memory_mb(memory, "--memory") if memory else host_memory_mb() * 9 // 10,
        offers=tuple(offers),
        programs=programs,
        tags=tuple(tag or ()),
    )
    WorkerService(settings, host).run()


@app.command()
def doctor(as_json: Annotated[bool, typer.Option("--json", help="Print the findings as JSON.")] = False) -> None:
    """Tell what this host is able to compute, and what is wrong; exits with 1 if something configured does not work."""
    from worker.doctor import examine
    from worker.service import host_cores, host_memory_mb

    findings = []
    for finding in examine(load_settings(), host_cores(), host_memory_mb()):
        findings.append(finding)
        if not as_json:
            typer.echo(f"{finding.mark:<8} {finding.what:<14} {finding.detail}")
    if as_json:
        typer.echo(json.dumps([vars(finding) for finding in findings], indent=2))
    if any(finding.mark == "wrong" for finding in findings):
        raise typer.Exit(1)


@app.command()
def detect(
    output: Annotated[Path | None, typer.Option(help="Where to write; empty: engines.toml in SIMRELAY_HOME.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print what was found as JSON.")] = False,
) -> None:
    """Find the engines of this host and write engines.toml."""
    path = output or load_settings().home / "engines.toml"
    offers = [offer for offer in detect_engines() if offer.engine != "program"]
    write_engines_toml(path, offers)
    if as_json:
        found = [{"engine": o.engine, "version": o.version, "tasks": o.tasks, "command": o.command} for o in offers]
        typer.echo(json.dumps({"path": str(path), "engines": found}))
        return
    for offer in offers:
        typer.echo(f"{offer.engine:<10} {offer.version:<10} {', '.join(offer.tasks)}")
    typer.echo(f"written to {path}" if offers else f"no engine was found; {path} is empty")
