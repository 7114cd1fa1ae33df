"""Keeping the memory of the process that holds the keys from others: from core files, from debuggers, from swap."""

from __future__ import annotations

import ctypes
import errno
import resource
import sys
from pathlib import Path

from ledgerd.supervision.this_process import forbid_dumps

MLOCK_NOW, MLOCK_LATER, MLOCK_ON_USE = 1, 2, 4
"""What is in memory, what comes later; both only when it is used, so that nothing is read for its sake."""
ALL_MEMORY = MLOCK_NOW | MLOCK_LATER
LOCKED_BYTES = 512 << 20
"""With a lower limit not all memory is locked: where a limit is reached, the process ends."""
CAPABILITY = 1 << 14
"""`CAP_IPC_LOCK`: no limit."""
STATUS = Path("/proc/self/status")


def protect_memory() -> None:
    """Refuse core files and debuggers from here on, and swap where the limits allow."""
    if sys.platform != "linux":
        raise OSError(errno.ENOSYS, "only Linux can keep the keys in memory from other processes")
    forbid_dumps()
    _, most = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (most, most))
    if most == resource.RLIM_INFINITY or most >= LOCKED_BYTES or _has_no_limit():
        library = ctypes.CDLL(None)
        if library.mlockall(ALL_MEMORY | MLOCK_ON_USE) != 0:  # before Linux 4.4 there was no such choice
            library.mlockall(ALL_MEMORY)


def keep_from_swap(secret: bytes) -> None:
    """Lock the pages that hold a secret, which the usual limit has room for; where it has none, swap is the owner's to
    encrypt. They stay locked when the secret is gone: others are beside it.
    """
    if sys.platform == "linux":
        place = ctypes.cast(ctypes.c_char_p(secret), ctypes.c_void_p)
        ctypes.CDLL(None).mlock(place, ctypes.c_size_t(len(secret)))


def _has_no_limit() -> bool:
    try:
        lines = STATUS.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return False
    effective = next((line for line in lines if line.startswith("CapEff:")), "CapEff: 0")
    return bool(int(effective.split()[1], 16) & CAPABILITY)
