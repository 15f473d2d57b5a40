"""Free text and ranges over jobs, for people: a RediSearch index on the job hashes. Nothing is decided by it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import ResponseError
from redis.exceptions import TimeoutError as RedisTimeoutError

from tasks.errors import InputError, Unreachable
from tasks.store import AsyncStore

TAGS = ("owner", "state", "engine", "task", "queue", "run", "batch")
NUMBERS = ("created_ms", "energy_hartree", "homo_ev", "lumo_ev", "gap_ev", "dipole_debye")
_SCHEMA = (
    *("label", "TEXT"),
    *(part for name in TAGS for part in (name, "TAG")),
    *(part for name in NUMBERS for part in (name, "NUMERIC", *(("SORTABLE",) if name == "created_ms" else ()))),
)
_RANGE = re.compile(r"(?P<low>-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)?\.\.(?P<high>-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)?", re.I)


@dataclass(frozen=True, kw_only=True)
class Found:
    """One page of ids of jobs, newest first.

    Attributes
    ----------
    total
        How many fit altogether.
    incomplete
        Why the index may miss some; empty: it holds all jobs.
    """

    ids: tuple[str, ...]
    total: int
    incomplete: str


def index_name(store: AsyncStore) -> str:
    """Give the name of the index of this installation."""
    return f"{store.settings.key_prefix}jobs-index"


async def ensure_index(store: AsyncStore) -> None:
    """Make the index if there is none yet."""
    prefix = f"{store.settings.key_prefix}job:"
    create = ("FT.CREATE", index_name(store), "ON", "HASH", "PREFIX", "1", prefix, "SCHEMA", *_SCHEMA)
    try:
        await _command(store, *create)
    except ResponseError as error:
        if "already exists" not in str(error).lower():
            raise


async def _command(store: AsyncStore, *parts: str) -> Any:
    client: Any = store.client  # commands of modules have no typed methods
    return await client.execute_command(*parts)


def parse_range(text: str, field: str) -> tuple[float | None, float | None]:
    """Read a range ``low..high``, of which one end may be left out.

    Raises
    ------
    InputError
        If it is not one.
    """
    match = _RANGE.fullmatch(text.strip())
    if not match or not (match["low"] or match["high"]):
        raise InputError(field, text, "is not a range", "Give '-5..2.5', '..2.5' or '-5..'.")
    low, high = (float(match[end]) if match[end] else None for end in ("low", "high"))
    if low is not None and high is not None and low > high:
        raise InputError(field, text, "begins above its end", f"Give '{match['high']}..{match['low']}'.")
    return low, high


def query(text: str, tags: Mapping[str, str], ranges: Mapping[str, tuple[float | None, float | None]]) -> str:
    """Write the query: all words of the text (as beginnings of words), all tags, all ranges."""
    parts = [f"@label:({word}*)" for word in re.findall(r"\w{2,}", text)]
    parts += [f"@label:({word})" for word in re.findall(r"\b\w\b", text)]
    parts += [f"@{name}:{{{_escaped(value)}}}" for name, value in tags.items() if value]
    for name, (low, high) in ranges.items():
        parts.append(f"@{name}:[{'-inf' if low is None else repr(low)} {'+inf' if high is None else repr(high)}]")
    return " ".join(parts) or "*"


def _escaped(value: str) -> str:
    return re.sub(r"([^A-Za-z0-9_])", r"\\\1", value)


async def search(
    store: AsyncStore,
    text: str = "",
    *,
    tags: Mapping[str, str] | None = None,
    ranges: Mapping[str, tuple[float | None, float | None]] | None = None,
    offset: int = 0,
    count: int = 50,
) -> Found:
    """Find jobs by words of their label, exact tags and ranges of their results.

    Parameters
    ----------
    tags
        Exact values of any of ``TAGS``.
    ranges
        Both ends, either may be None, of any of ``NUMBERS``, in the unit that the name tells.

    Raises
    ------
    InputError
        If a name is not one of those.
    Unreachable
        If Redis does not answer.
    """
    tags, ranges = tags or {}, ranges or {}
    for name in (*tags, *ranges):
        if name not in (*TAGS, *NUMBERS):
            raise InputError("search", name, "is not indexed", f"Indexed are label, {', '.join((*TAGS, *NUMBERS))}.")
    ask = (
        *("FT.SEARCH", index_name(store), query(text, tags, ranges), "NOCONTENT"),
        *("SORTBY", "created_ms", "DESC", "LIMIT", str(offset), str(count), "DIALECT", "2"),
    )
    try:
        answer = await _command(store, *ask)
        incomplete = await _incomplete(store)
    except (RedisConnectionError, RedisTimeoutError) as error:
        raise Unreachable(f"Redis does not answer ({type(error).__name__})") from error
    total, keys = _hits(answer)
    prefix = len(store.settings.key_prefix) + len("job:")
    return Found(ids=tuple(key[prefix:] for key in keys), total=total, incomplete=incomplete)


def _hits(answer: Any) -> tuple[int, list[str]]:
    """Read the answer of FT.SEARCH in either shape that servers give."""
    if isinstance(answer, dict):
        values = {_text(name): value for name, value in answer.items()}
        return int(values["total_results"]), [_text(_pairs(row)["id"]) for row in values["results"]]
    return int(answer[0]), [_text(key) for key in answer[1:]]


async def _incomplete(store: AsyncStore) -> str:
    """Say why the index may miss jobs; empty: it does not."""
    info = _pairs(await _command(store, "FT.INFO", index_name(store)))
    share = float(_text(info.get("percent_indexed", 1)))
    failures = int(float(_text(info.get("hash_indexing_failures", 0))))
    said = []
    if share < 1:
        said.append(f"only {share:.0%} of the jobs are indexed yet")
    if failures:
        said.append(f"{failures} changes of jobs could not be indexed")
    return " and ".join(said)


def _pairs(flat: Any) -> dict[str, Any]:
    if isinstance(flat, dict):
        return {_text(name): value for name, value in flat.items()}
    return {_text(flat[i]): flat[i + 1] for i in range(0, len(flat) - 1, 2)}


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)
