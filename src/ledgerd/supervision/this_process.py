"""What a process does for itself: its loop, priority, files, memory, and the arguments that its node writes to it."""

from __future__ import annotations

import ctypes
import gc
import logging
import os
import sys
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import msgspec

if sys.platform != "win32":
    import resource

log = logging.getLogger(__name__)

T = TypeVar("T")

SEARCHED_AT = 100_000
"""Objects that were made and not freed since the last search; by default 700. Blocks, operations and objects of the
state hold no cycles, and a replay makes fewer than this between two commits. To search at 20,000 takes a fiftieth of
the time in which blocks are applied; by default it is a twentieth.
"""

_SET_DUMPABLE = 4
"""`PR_SET_DUMPABLE` of prctl(2)."""


def on_a_loop(main: Callable[[], Coroutine[Any, Any, T]]) -> T:
    if sys.platform == "win32":
        import asyncio  # noqa: PLC0415 - as below

        return asyncio.run(main())
    import uvloop  # noqa: PLC0415 - many commands have no loop, and it does not exist for Windows

    return uvloop.run(main())


def read_arguments(packed: bytes, kind: type[T]) -> T:
    """Read the arguments that the node has sent. If they are missing or cut short, the node was killed: end this
    process too, silently.
    """
    try:
        return msgspec.json.decode(packed, type=kind)
    except msgspec.ValidationError:
        raise
    except msgspec.DecodeError:
        sys.exit(1)


def give_way(steps: int) -> None:
    """Lower the priority by this `nice` increment; continue without that if the system forbids it."""
    if sys.platform == "win32":
        return
    try:
        os.nice(steps)
    except OSError as problem:
        log.warning("the priority of this process cannot be lowered: %(reason)s", {"reason": problem.strerror})


def files_allowed(needed: int) -> int:
    """Raise the soft limit as far as it takes and the hard limit allows; so many may be open then."""
    if sys.platform == "win32":
        return needed
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return needed
    allowed = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, allowed), hard))
    return max(soft, allowed)


def bound_memory(most: int) -> None:
    """Give this process at most so many bytes of its own; what asks for more gets a `MemoryError`."""
    if sys.platform != "win32":
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def forbid_dumps() -> None:
    """Write no core file from now on; on Linux, let only root read this memory or attach to the process."""
    if sys.platform != "win32":
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        library = ctypes.CDLL(None, use_errno=True)
        if library.prctl(_SET_DUMPABLE, 0, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "prctl")


@contextmanager
def lasting_modules() -> Iterator[None]:
    """Import what lives until the end of the process.

    A node has some hundred thousand objects of that kind. Without this its start and its end go through all of them a
    few times, for a quarter of their processor time, and each full collection in between stops every thread for it.
    """
    gc.disable()
    try:
        yield
        gc.freeze()
    finally:
        gc.enable()


def search_rarely() -> None:
    gc.set_threshold(SEARCHED_AT)
