"""Files on a disk: written so that a loss of power leaves the former content, or all of the new; and read up to a
bound, where somebody else may have made them.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, BinaryIO

from ledgerd.basics.closing import on_error

_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
"""The first on every system; a pipe is opened without waiting for a writer."""


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


def open_file(path: Path) -> BinaryIO:
    """Open a file for reading. `OSError`: it cannot be opened, or is no file: a pipe or a device may never come to an
    end, or never begin.
    """
    opened = os.open(path, _FLAGS)
    with on_error(lambda: os.close(opened)):
        mode = os.fstat(opened).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "it is a pipe or a device, and no file", str(path))
        return os.fdopen(opened, "rb")


def read_file(path: Path, most: int) -> bytes:
    """All bytes of a file. `OSError`: it cannot be read, is no file, or has more than so many bytes."""
    with open_file(path) as file:
        raw = file.read(most + 1)
    if len(raw) > most:
        raise OSError(errno.EFBIG, f"it has more than {most:,} bytes", str(path))
    return raw


def waited_for_in(folders: Iterable[Path]) -> Path | None:
    """A pipe or a device in one of these folders, if there is one: whoever opens it may wait for ever."""
    for folder in folders:
        with suppress(FileNotFoundError, NotADirectoryError):
            for path in folder.iterdir():
                with suppress(OSError):
                    mode = path.stat().st_mode
                    if stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
                        return path
    return None
