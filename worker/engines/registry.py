"""The engines of this version: adding one is one file, and one entry here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tasks.programs import ProgramDeclaration
from worker.engines.base import Engine, Offer
from worker.engines.gromacs import Gromacs
from worker.engines.multiwfn import Multiwfn
from worker.engines.orca import Orca
from worker.engines.program import Program
from worker.engines.pso import ParticleSwarm
from worker.engines.pyscf import PySCF
from worker.engines.wavefunction import Wavefunction
from worker.engines.xtb import XTB

# An engine is generic in its spec; which one it takes is known only where a job of its queue is at hand.
ENGINES: dict[str, type[Engine[Any]]] = {
    engine.name: engine for engine in (PySCF, XTB, Orca, Gromacs, ParticleSwarm, Wavefunction, Multiwfn, Program)
}


def make_engine(offer: Offer, programs: Mapping[str, ProgramDeclaration] | None = None) -> Engine[Any]:
    """Give the engine of an offer.

    Parameters
    ----------
    offer
        One entry of ``engines.toml``.
    programs
        The host's declared programs, for the engine ``program``.
    """
    if offer.engine == Program.name:
        return Program(offer, programs or {})
    return ENGINES[offer.engine](offer)
