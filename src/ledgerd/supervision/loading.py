"""The modules of a process that runs for long: loaded without searches for cycles, and never searched again."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


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
