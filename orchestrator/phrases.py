"""Small words that findings are made of."""

from __future__ import annotations

import re
from collections.abc import Sequence

from orchestrator.state import Species


def counted(number: int, noun: str) -> str:
    """Give ``1 atom``, ``2 atoms``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def signed(charge: int) -> str:
    """Give a charge with its sign, zero without."""
    return f"{charge:+d}" if charge else "0"


def listed(words: Sequence[str]) -> str:
    """Give ``a, b and c``."""
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1]))) if words else ""


def slugs(species: Sequence[Species]) -> list[str]:
    """Give each molecule a different name that can be a file's."""
    names: list[str] = []
    for number, one in enumerate(species, 1):
        slug = re.sub(r"[^A-Za-z0-9]+", "-", one.name).strip("-").lower()[:60] or f"molecule-{number}"
        # A SMILES loses its brackets and bonds here, so two may look alike.
        names.append(slug if slug not in names and one.name != one.smiles else f"{slug}-{number}")
    return names
