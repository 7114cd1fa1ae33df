"""Keeping the memory of the process that holds the keys from others: beside core files and debuggers, from swap."""

from __future__ import annotations

import ctypes
import errno
import resource
import sys

from ledgerd.supervision.undumpable import forbid_dumps

MLOCK_ALL = 3
"""What is in memory now, and what comes later."""
LOCKED_BYTES = 512 << 20
"""Less than this is not worth it: with memory locked, a limit that is reached ends the process."""


def protect_memory() -> None:
    """Refuse core files and debuggers from here on, and swap where the limits allow.

    Raises:
        OSError: The system refuses, so that no key may be read.
    """
    if sys.platform != "linux":
        raise OSError(errno.ENOSYS, "only Linux can keep the keys in memory from other processes")
    forbid_dumps()
    _, most = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    if most == resource.RLIM_INFINITY or most >= LOCKED_BYTES:
        resource.setrlimit(resource.RLIMIT_MEMLOCK, (most, most))
        ctypes.CDLL(None).mlockall(MLOCK_ALL)  # where it fails, swap is the owner's to encrypt
