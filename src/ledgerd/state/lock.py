"""One writer at a time: a lock on a file beside the state, which the system releases when its process ends."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import IO

from ledgerd.state.errors import StoreLocked

LOCK_FILE = "writer.lock"


def holder_of(folder: Path) -> int | None:
    """The process that has the lock, 0 where its number is not known; nothing while nobody has it.

    It holds the lock itself for a moment, without writing to the file.
    """
    try:
        file = (folder / LOCK_FILE).open("rb")
    except OSError:
        return None
    with file:
        try:
            _try_shared(file)
        except OSError:
            file.seek(0)
            text = file.read(32).decode("ascii", "replace").strip()
            return int(text) if text.isdecimal() else 0
    return None


def lock_writer(folder: Path) -> IO[bytes]:
    """Lock the folder for writing until the returned file is closed; `StoreLocked` when another process has it."""
    file = (folder / LOCK_FILE).open("a+b")
    try:
        _lock(file)
    except OSError as error:
        file.seek(0)
        holder = file.read(32).decode("ascii", "replace").strip()
        file.close()
        raise StoreLocked(
            f"{folder} is in use by another node{f' (process {holder})' if holder else ''}: "
            "stop that one, or give this one another data directory"
        ) from error
    file.truncate(0)
    file.write(b"%d" % os.getpid())
    file.flush()
    return file


if sys.platform == "win32":
    import msvcrt

    _LOCKED_BYTE = 1 << 30
    """Beyond the text, which other processes must be able to read."""

    def _lock(file: IO[bytes]) -> None:
        file.seek(_LOCKED_BYTE)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)

    _try_shared = _lock

else:
    import fcntl

    def _lock(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _try_shared(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
