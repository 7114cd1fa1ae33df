"""Keeps the memory of a process that holds keys out of core files, and from other processes of its user."""

from __future__ import annotations

import ctypes
import sys

if sys.platform != "win32":
    import resource

_SET_DUMPABLE = 4
"""`PR_SET_DUMPABLE` of prctl(2)."""


def forbid_dumps() -> None:
    """Write no core file from now on; on Linux, let only root read this memory or attach to the process."""
    if sys.platform != "win32":
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        library = ctypes.CDLL(None, use_errno=True)
        if library.prctl(_SET_DUMPABLE, 0, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "prctl")
