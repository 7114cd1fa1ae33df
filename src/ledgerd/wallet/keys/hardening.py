"""Keeping the memory of a process from others: no core file, no debugger, no swap where the system allows."""

from __future__ import annotations

import ctypes
import resource

PR_SET_DUMPABLE = 4
MLOCK_ALL = 3
"""What is in memory now, and what comes later."""
LOCKED_BYTES = 512 << 20
"""Less than this is not worth it: with memory locked, a limit that is reached ends the process."""


def protect_memory() -> None:
    """Refuse core files and debuggers from here on.

    Raises:
        OSError: The system refuses, so that no key may be read.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    library = ctypes.CDLL(None, use_errno=True)
    if library.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "this process could not be kept from being dumped")
    _, most = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    if most == resource.RLIM_INFINITY or most >= LOCKED_BYTES:
        resource.setrlimit(resource.RLIMIT_MEMLOCK, (most, most))
        library.mlockall(MLOCK_ALL)  # where it fails, swap is the owner's to encrypt
