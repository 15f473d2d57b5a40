"""OpenMP for tblite, which expects the system's GNU one: a bare Debian has none, and LLVM's from PyPI stands in."""

from __future__ import annotations

import ctypes
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

_NAME = "libgomp.so.1"
_PACKAGE = "cmeel-libomp"


def has_system_openmp() -> bool:
    """Tell whether the system has the library."""
    try:
        ctypes.CDLL(_NAME)
    except OSError:
        return False
    return True


def installed_openmp() -> Path | None:
    """Find the folder of LLVM's library, which takes GNU's name and calls."""
    try:
        found = [path for path in files(_PACKAGE) or () if path.name == _NAME]
    except PackageNotFoundError:
        return None
    return Path(str(found[0].locate())).parent if found else None


def openmp_environment() -> dict[str, str]:
    """Give the variables with which a program finds the library; empty if the system has it."""
    folder = None if has_system_openmp() else installed_openmp()
    return {"LD_LIBRARY_PATH": str(folder)} if folder else {}
