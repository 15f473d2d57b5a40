"""``simrelay doctor``: what this host is able to compute, and what is wrong or missing, with what would be right."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from redis.exceptions import RedisError

from tasks.errors import ConfigurationError
from tasks.programs import load_programs
from tasks.settings import Settings
from tasks.store import connect
from worker.detect import read_engines_toml
from worker.engines.base import Offer
from worker.engines.registry import ENGINES, make_engine

#: ``missing``: it is not there, and nothing needs it; ``wrong``: something that is configured does not work
Mark = Literal["ok", "missing", "wrong"]
_GB = 10**9
#: less than this is too little for the scratch files of one ordinary calculation
_LEAST_FREE_GB = 5.0


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One line of the report."""

    what: str
    mark: Mark
    detail: str


def examine(settings: Settings, cores: int, memory_mb: int) -> Iterator[Finding]:
    """Look at this host, one thing after the other."""
    yield Finding(what="host", mark="ok", detail=f"{cores} cores, {memory_mb} MB of memory")
    yield _folder("scratch", settings.scratch)
    yield _folder("workspace", settings.workspace)
    yield _redis(settings)
    yield from _engines(settings)


def _folder(what: str, folder: Path) -> Finding:
    probe = folder / f".doctor-{secrets.token_hex(4)}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe.write_bytes(b"x")
        probe.unlink()
        free = shutil.disk_usage(folder).free / _GB
    except OSError as error:
        return Finding(what=what, mark="wrong", detail=f"{folder} cannot be written: {error.strerror or error}")
    mark: Mark = "ok" if free >= _LEAST_FREE_GB else "wrong"
    return Finding(what=what, mark=mark, detail=f"{folder}, {free:.1f} GB free")


def _redis(settings: Settings) -> Finding:
    if not settings.redis_url.get_secret_value():
        detail = "SIMRELAY_REDIS_URL is not set: `simrelay up` starts a Redis of its own, a worker elsewhere needs it"
        return Finding(what="redis", mark="missing", detail=detail)
    try:
        client = connect(settings)
        info = client.info()
        modules = sorted({str(module["name"]) for module in client.module_list()})
    except (RedisError, OSError) as error:
        return Finding(what="redis", mark="wrong", detail=f"does not answer: {error}")
    lacking = [name for name in ("search", "ReJSON") if name not in modules]
    version = str(info.get("redis_version", "?"))
    if lacking:
        return Finding(what="redis", mark="wrong", detail=f"{version}, without the modules {', '.join(lacking)}")
    if info.get("aof_enabled") == 0:
        detail = f"{version}, keeps nothing on disk at once: set `appendonly yes`, or a restart loses accepted jobs"
        return Finding(what="redis", mark="wrong", detail=detail)
    return Finding(what="redis", mark="ok", detail=f"{version} with {', '.join(modules)}")


def _engines(settings: Settings) -> Iterator[Finding]:
    path = settings.home / "engines.toml"
    try:
        configured = {offer.engine: offer for offer in read_engines_toml(path)} if path.exists() else {}
        programs = load_programs(settings.home / "programs.toml")
    except ConfigurationError as error:
        yield Finding(what="engines", mark="wrong", detail=str(error))
        return
    for name, engine in ENGINES.items():
        if name == "program":
            continue
        found = configured.get(name) or engine.detect()
        if found is None:
            yield Finding(what=name, mark="missing", detail=f"not found: it needs {engine.needs}")
            continue
        trouble = make_engine(found).trouble()
        detail = trouble or _told(found)
        if name not in configured:
            detail += " (found now; `simrelay worker detect` writes it down)"
        yield Finding(what=name, mark="wrong" if trouble else "ok", detail=detail)
    for name, program in programs.items():
        command = shutil.which(program.command[0])
        detail = f"{command}" if command else f"{program.command[0]} is not there"
        yield Finding(what=f"program {name}", mark="ok" if command else "wrong", detail=detail)


def _told(offer: Offer) -> str:
    tasks = f": {', '.join(offer.tasks)}" if offer.tasks else ""
    command = os.path.basename(offer.command[0]) if offer.command else ""
    return f"{offer.version or 'version unknown'}, {command}{tasks}"
