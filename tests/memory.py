"""Memory as a place for files: what is written there is made durable all the same, which costs next to nothing."""

from __future__ import annotations

import os
from pathlib import Path

MEMORY = Path("/dev/shm")  # noqa: S108 - directories in it are made by tempfile


def memory_folder(enough: int) -> Path | None:
    """Memory, where there is enough of it, in bytes, that programs can be run from."""
    if not MEMORY.is_dir() or not os.access(MEMORY, os.W_OK):
        return None
    told = os.statvfs(MEMORY)
    return MEMORY if told.f_bavail * told.f_frsize >= enough and not told.f_flag & os.ST_NOEXEC else None
