"""Fetches the past: file by file, from the newest missing block down, each proven before it gets its place."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, Protocol

from ledgerd.archive.arriving import to_disk
from ledgerd.archive.errors import ArchiveRefused, ArchiveUnwritable
from ledgerd.archive.known import KnownBlocks
from ledgerd.archive.proof import Proven, prove
from ledgerd.archive.sealed import SealedFile, list_sums, seal
from ledgerd.chain.log.files import LogKind, paths_of, sums_path, write_sums
from ledgerd.protocol.types.identifiers import BlockId
from ledgerd.state.errors import StoreLocked
from ledgerd.state.files.lock import holder_of, lock_writer

ARRIVING = "arriving"

MOST_BLOCKS = 1_000_000
"""Blocks of one file: the places and checksums of all of them are in memory until it is proven."""

SPARE_BYTES = 256 << 20
"""Bytes that stay free on the disk."""


class PastSource(Protocol):
    """A source of blocks of the past: a peer or a web server."""

    def file_with(self, number: int) -> SealedFile | None:
        """A file that has a block; None if there is none."""

    def obtain(self, file: SealedFile, path: Path, room: int) -> None:
        """Write a file of at most this many bytes. Bytes that are in it already were obtained before. Raises
        `SourceFault`.
        """

    def close(self) -> None:
        """End the connection."""


class FetchProgress(NamedTuple):
    """The progress of a fetch."""

    done: int
    wanted: int


class Fetch:
    """One run of a fetch, from its sources to proven files."""

    def __init__(
        self,
        archive: Path,
        known: KnownBlocks,
        source: PastSource,
        report: Callable[[FetchProgress], None] = lambda _: None,
    ) -> None:
        self._archive = archive
        self._arriving = archive / ARRIVING
        self._known = known
        self._source = source
        self._report = report

    def run(self, lowest: int = 1) -> int:
        with to_disk(self._arriving):
            self._arriving.mkdir(parents=True, exist_ok=True)
        with self._alone():
            return self._down_to(max(1, lowest))

    def _down_to(self, lowest: int) -> int:
        wanted = max(0, self._known.earliest - lowest)
        while (earliest := self._known.earliest) > lowest:
            file = self._source.file_with(earliest - 1)
            if file is None:
                break
            count = file.last - file.first + 1
            if count > MOST_BLOCKS:
                raise ArchiveRefused(
                    f"{file.name} has {count} blocks: more than {MOST_BLOCKS} are not taken in one file"
                )
            for path in self._arriving.iterdir():
                if path.name != file.name:
                    path.unlink()
            last_id = self._known.id_at(file.last)
            if last_id is None:
                raise ArchiveRefused(
                    f"{file.name} reaches beyond block {self._known.latest}, the last that this directory has: "
                    "wait until the node has more blocks"
                )
            self._report(FetchProgress(wanted - (earliest - lowest), wanted))
            self._fetch(file, last_id)
        self._report(FetchProgress(wanted - max(0, self._known.earliest - lowest), wanted))
        return self._known.earliest

    @contextmanager
    def _alone(self) -> Iterator[None]:
        try:
            lock = lock_writer(self._archive)
        except StoreLocked:
            holder = holder_of(self._archive)
            raise ArchiveUnwritable(
                f"another `ledgerd archive fetch`{f' (process {holder})' if holder else ''} writes to {self._archive}"
            ) from None
        with lock:
            yield

    def _fetch(self, file: SealedFile, last_id: BlockId) -> None:
        path = self._arriving / file.name
        room = shutil.disk_usage(self._arriving).free - SPARE_BYTES
        self._source.obtain(file, path, room)
        try:
            proven = prove(path, file, last_id)
        except ArchiveRefused:
            path.unlink()
            raise
        with to_disk(path):
            _finish(path, file, proven)
            seal(self._arriving, file.kind, self._archive, file)
            list_sums(self._archive)


def _finish(path: Path, file: SealedFile, proven: Proven) -> None:
    kind: LogKind = file.kind
    index = paths_of(path.parent, kind)[1]
    index.write_bytes(proven.packed_index)
    write_sums(sums_path(path.parent, kind), file.first, proven.sums)
    for each in (path, index):
        with each.open("rb+") as opened:
            os.fsync(opened.fileno())
