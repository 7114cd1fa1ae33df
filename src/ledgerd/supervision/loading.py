"""Searches for cycles: none among the modules of a process that runs for long, and few where blocks are applied."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

SEARCHED_AT = 20_000
"""Objects that were made and not freed since the last search; by default 700. Blocks, operations and objects of the
state hold no cycles: at the default the searches take a twentieth of the time that it takes to apply a block.
"""


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
