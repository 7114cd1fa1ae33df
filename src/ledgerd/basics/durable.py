"""Makes files durable: a loss of power leaves the former content, or all of the new."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import IO, Any


def put_in_place(fresh: Path, file: Path) -> None:
    """Give a complete file its name, in place of another, once its bytes are on the disk."""
    with fresh.open("rb") as opened:
        os.fsync(opened.fileno())
    fresh.replace(file)
    sync_folder(file.parent)


def write_whole(file: Path, raw: bytes) -> None:
    """Give a file this content in one step."""
    fresh = file.with_name(f"{file.name}.new")
    fresh.write_bytes(raw)
    put_in_place(fresh, file)


def sync(file: IO[Any]) -> None:
    """Make what was written to an open file durable."""
    file.flush()
    os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable, where folders can be synced."""
    with suppress(PermissionError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
