"""Resource limits of this process within a `with` block."""

from __future__ import annotations

import gc
import os
import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def no_descriptor_left(but: int = 0) -> Iterator[None]:
    """No file, socket or pipe can be opened, but for so many; those that are open go on."""
    gc.collect()  # what is left over from before needs descriptors when it is told of
    before, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    first_free = os.open(os.devnull, os.O_RDONLY)
    os.close(first_free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (first_free + but, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (before, hard))


def open_descriptors() -> int:
    """How many this process has, where the platform tells."""
    return len(list(Path("/proc/self/fd").iterdir())) if sys.platform == "linux" else 0
