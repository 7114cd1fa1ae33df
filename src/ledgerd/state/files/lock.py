"""One writer at a time: a lock on a file beside the state, which the system releases when its process ends.

Another lock keeps those who open the state from those who replace its files.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import IO

from ledgerd.state.errors import StoreLocked

LOCK_FILE = "writer.lock"
SWAP_FILE = "swap.lock"
"""Locked while the files of a state are put in the place of others, and, shared, while a process of another program
opens them: LMDB's two files must be of the same state.
"""

TRIES, PAUSE_SECONDS = 20, 0.05


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
            text = _holder_in(file)
            return int(text) if text.isdecimal() else 0
    return None


def lock_writer(folder: Path) -> IO[bytes]:
    """Lock the folder for writing until the returned file is closed; `StoreLocked` when another process has it."""
    file = (folder / LOCK_FILE).open("a+b")
    try:
        _lock_soon(file)
    except OSError as error:
        holder = _holder_in(file)
        file.close()
        raise StoreLocked(
            f"{folder} is in use by another node{f' (process {holder})' if holder else ''}: "
            "stop that one, or give this one another data directory"
        ) from error
    file.truncate(0)
    file.write(b"%d" % os.getpid())
    file.flush()
    return file


def _holder_in(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read(32).decode("ascii", "replace").strip()


def _lock_soon(file: IO[bytes]) -> None:
    """Lock it; of a process that was killed, a child that was just being started holds the lock for a moment yet."""
    pause = Event()
    for _ in range(TRIES - 1):
        try:
            return _lock(file)
        except OSError:
            pause.wait(PAUSE_SECONDS)
    return _lock(file)


@contextmanager
def swapping(folder: Path) -> Iterator[None]:
    """Put other files of a state in place within the block, while nobody opens them."""
    if not folder.is_dir():
        yield
        return
    with (folder / SWAP_FILE).open("a+b") as file:
        _wait_and_lock(file)
        yield


@contextmanager
def files_stay(folder: Path) -> Iterator[None]:
    """Nobody replaces the files within the block. `StoreLocked`: somebody does so now. `OSError`: without a folder."""
    with (folder / SWAP_FILE).open("a+b") as file:
        try:
            _try_shared(file)
        except OSError as error:
            raise StoreLocked(f"the files of {folder} are being replaced") from error
        yield


if sys.platform == "win32":
    import msvcrt

    _LOCKED_BYTE = 1 << 30
    """Beyond the text, which other processes must be able to read."""

    def _lock(file: IO[bytes]) -> None:
        file.seek(_LOCKED_BYTE)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)

    _try_shared = _lock

    def _wait_and_lock(file: IO[bytes]) -> None:
        file.seek(_LOCKED_BYTE)
        msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)

else:
    import fcntl

    def _lock(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _try_shared(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)

    def _wait_and_lock(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_EX)
