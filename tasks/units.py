"""Reading amounts that people write: ``4 GB``, ``90 min``, ``02:30:00``."""

from __future__ import annotations

import re

from tasks.errors import InputError

_MEMORY_MB = {
    "": 1.0,
    "m": 1.0,
    "mb": 1.0,
    "mib": 1.0,
    "g": 1024.0,
    "gb": 1024.0,
    "gib": 1024.0,
    "t": 1024.0**2,
    "tb": 1024.0**2,
}
_SECONDS = {
    **dict.fromkeys(("", "s", "sec", "secs", "second", "seconds"), 1.0),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), 60.0),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), 3600.0),
    **dict.fromkeys(("d", "day", "days"), 86400.0),
}
_AMOUNT = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*")
# Slurm's forms: [days-]hours:minutes:seconds and minutes:seconds (sbatch manual, --time).
_CLOCK = re.compile(r"(?:(\d+)-)?(\d+):(\d{2})(?::(\d{2}))?")


def memory_mb(value: object, field: str = "memory") -> int:
    """Read an amount of memory; a bare number is in MB.

    Raises
    ------
    InputError
        If it is not an amount of memory.
    """
    match = _AMOUNT.fullmatch(str(value))
    if not match or match[2].lower() not in _MEMORY_MB:
        raise InputError(field, value, "is not an amount of memory", "Give for example '2 GB' or 2000 (MB).")
    return round(float(match[1]) * _MEMORY_MB[match[2].lower()])


def duration_seconds(value: object, field: str = "walltime") -> int:
    """Read a time span: seconds, a number with a unit, or Slurm's ``[d-]hh:mm:ss`` and ``mm:ss``.

    Raises
    ------
    InputError
        If it is not a time span.
    """
    text = str(value).strip()
    if clock := _CLOCK.fullmatch(text):
        days, first, second, third = (int(part or 0) for part in clock.groups())
        if clock[4] is None and clock[1] is None:
            return first * 60 + second
        return days * 86400 + first * 3600 + second * 60 + third
    match = _AMOUNT.fullmatch(text)
    if not match or match[2].lower() not in _SECONDS:
        raise InputError(field, value, "is not a time", "Give for example '90 min', '02:00:00' or 7200 (seconds).")
    return round(float(match[1]) * _SECONDS[match[2].lower()])


_PICOSECONDS = {"fs": 1e-3, "ps": 1.0, "ns": 1e3, "µs": 1e6, "us": 1e6, "": 1.0}
_LENGTH = re.compile(r"\s*(\d+(?:\.\d+)?(?:e[+-]?\d+)?)\s*(fs|ps|ns|[uµ]s)?\s*", re.IGNORECASE)
_TEMPERATURE = re.compile(r"\s*([+-]?\d+(?:\.\d+)?)\s*(K|kelvin|°C|degC|C|celsius)?\s*", re.IGNORECASE)


def picoseconds(value: object, field: str = "length of time") -> float:
    """Read a simulated time: picoseconds, or a number with ``fs``, ``ps``, ``ns`` or ``µs``.

    Raises
    ------
    InputError
        If it is not a simulated time.
    """
    match = _LENGTH.fullmatch(str(value))
    if not match:
        raise InputError(field, value, "is not a simulated time", "Give for example '50 ps', '2 ns' or 50 (ps).")
    return round(float(match[1]) * _PICOSECONDS[(match[2] or "").lower()], 9)


def whole_picoseconds(value: object) -> int:
    """Read a simulated time in whole picoseconds.

    Raises
    ------
    InputError
        If it is not a simulated time, or not in whole picoseconds.
    """
    length = picoseconds(value, "frame_spacing_ps")
    if length != int(length):
        raise InputError("frame_spacing_ps", value, "is not a whole number of picoseconds", "Take 1 ps or more.")
    return int(length)


def kelvin(value: object) -> float:
    """Read a temperature: kelvin, or a number with ``K`` or ``°C``.

    Raises
    ------
    InputError
        If it is not a temperature.
    """
    match = _TEMPERATURE.fullmatch(str(value))
    if not match:
        raise InputError("temperature_kelvin", value, "is not a temperature", "Give for example '353 K' or '80 °C'.")
    celsius = (match[2] or "K").lower() not in ("k", "kelvin")
    return round(float(match[1]) + (273.15 if celsius else 0.0), 6)


def amounts(data: object, where: str) -> object:
    """Give a table of resources with ``memory`` and ``walltime``, as people write them, in MB and seconds."""
    if not isinstance(data, dict):
        return data
    data = dict(data)
    if "memory" in data:
        data["memory_mb"] = memory_mb(data.pop("memory"), f"{where}.memory")
    if "walltime" in data:
        data["walltime_seconds"] = duration_seconds(data.pop("walltime"), f"{where}.walltime")
    return data


def clock(seconds: float) -> str:
    """Show a time span as ``h:mm:ss``."""
    whole = round(seconds)
    return f"{whole // 3600}:{whole % 3600 // 60:02d}:{whole % 60:02d}"
