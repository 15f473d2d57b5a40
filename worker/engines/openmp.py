"""GNU OpenMP for tblite, which expects the system's: a bare Debian has none, but the wheel of PySCF carries one."""

from __future__ import annotations

import ctypes
from importlib.util import find_spec
from pathlib import Path

_NAME = "libgomp.so.1"


def has_system_openmp() -> bool:
    """Tell whether the system has the library."""
    try:
        ctypes.CDLL(_NAME)
    except OSError:
        return False
    return True


def carried_openmp() -> Path | None:
    """Find the library that PySCF carries."""
    spec = find_spec("pyscf")
    folders = spec.submodule_search_locations if spec else None
    found = sorted(Path(next(iter(folders))).glob("lib/libgomp*.so*")) if folders else []
    return found[0] if found else None


def openmp_environment(scratch: Path) -> dict[str, str]:
    """Give the variables with which a program finds the library; empty if the system has it."""
    carried = None if has_system_openmp() else carried_openmp()
    if carried is None:
        return {}
    # The loader looks for a file of exactly that name.
    folder = scratch / "libraries"
    folder.mkdir(exist_ok=True)
    (folder / _NAME).symlink_to(carried)
    return {"LD_LIBRARY_PATH": str(folder)}
