"""Engines as this host has them."""

from __future__ import annotations

import pytest

from worker.engines.pyscf import PySCF
from worker.engines.xtb import XTB


@pytest.fixture
def pyscf() -> PySCF:
    offer = PySCF.detect()
    assert offer is not None
    return PySCF(offer)


@pytest.fixture
def xtb() -> XTB:
    offer = XTB.detect()
    assert offer is not None
    return XTB(offer)
