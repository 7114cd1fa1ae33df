"""The snapshot to serve: the newest one of the directory, with its checksum, which is computed once."""

from __future__ import annotations

import asyncio
import hashlib
import os
from io import BufferedReader
from pathlib import Path
from typing import NamedTuple

from ledgerd.snapshot.directory import StoredSnapshot, newest_in
from ledgerd.snapshot.serving import Offer
from ledgerd.supervision.threads import in_thread


class _State(NamedTuple):
    """Size and time of a file when its checksum was computed."""

    path: Path
    inode: int
    size: int
    modified: int


class ServedSnapshot:
    """The snapshots of a directory, for the server."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._counting = asyncio.Lock()
        self._known: tuple[_State, bytes] | None = None

    async def take(self) -> tuple[Offer, BufferedReader] | None:
        """The newest snapshot, as an open file, which stays readable if it is deleted."""
        async with self._counting:
            return await in_thread(self._take)

    def _take(self) -> tuple[Offer, BufferedReader] | None:
        newest = newest_in(self._folder)
        if newest is None:
            return None
        try:
            file = newest.path.open("rb")
        except OSError:
            return None
        try:
            return self._offer(newest, file), file
        except BaseException:
            file.close()
            raise

    def _offer(self, kept: StoredSnapshot, file: BufferedReader) -> Offer:
        about = os.fstat(file.fileno())
        state = _State(kept.path, about.st_ino, about.st_size, about.st_mtime_ns)
        if self._known is None or self._known[0] != state:
            self._known = state, hashlib.file_digest(file, "sha256").digest()
        return Offer(kept.path, kept.number, state.size, self._known[1])
