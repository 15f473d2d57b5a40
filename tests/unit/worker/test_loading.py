"""Whether programs can be started: engines really load what they need, and a failing check says why."""

from __future__ import annotations

import sys

import pytest

from tests.conftest import missing
from worker.engines.base import Offer
from worker.engines.registry import make_engine
from worker.engines.xtb import XTB
from worker.loading import check_trouble


def test_an_engine_that_was_found_can_be_loaded() -> None:
    offer = XTB.detect()
    if offer is None:
        missing("xtb")
    assert make_engine(offer).trouble() == ""


@pytest.mark.parametrize("name", ["pyscf", "xtb", "pso", "wavefunction"])
def test_an_engine_whose_package_cannot_be_imported_says_so(name: str) -> None:
    command = (sys.executable, "-S", "-P", "-c", "import no_such_package")
    trouble = make_engine(Offer(engine=name, version="", command=command)).trouble()
    assert trouble.endswith("ModuleNotFoundError: No module named 'no_such_package'")


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (("true",), ""),
        (("no-such-program",), "no-such-program: No such file or directory"),
        (("sh", "-c", "echo libx is missing >&2; exit 3"), "ended with 3: libx is missing"),
    ],
)
def test_a_check_says_what_is_wrong(command: tuple[str, ...], said: str) -> None:
    found = check_trouble(command, {})
    assert found.endswith(said)
    assert bool(found) == bool(said)
