"""Memory that stays until a search for cycles: what refers to itself in a circle."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def nothing_stays(most: int) -> Iterator[None]:
    """Fail if more bytes than these are in use behind the block, where no cycles are searched meanwhile."""
    gc.collect()
    gc.disable()
    tracemalloc.start()
    try:
        yield
        stays, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        gc.enable()
    assert stays < most, f"{stays} bytes stay"
