"""Writes irreversible blocks to an unfinished file, which is sealed at the end of its range (spec 11, section 9.7)."""

from __future__ import annotations

import logging
from pathlib import Path

from ledgerd.archive.sealed import SealedFile, list_sums, seal, sealed_files
from ledgerd.chain.log.block_log import BlockLog, BlockLogReader
from ledgerd.chain.log.files import OFFSET, LogKind, paths_of, sums_path
from ledgerd.chain.log.rolling import RollingBlockLogReader

log = logging.getLogger(__name__)

UNFINISHED = "partial"


class ArchiveWriter:
    """One process writes an archive at a time: the node, whose lock of the data directory sees to it."""

    def __init__(self, folder: Path, size: int) -> None:
        self._folder = folder
        self._unfinished = folder / UNFINISHED
        self._size = size
        self._file: BlockLog | None = None
        sealed = sealed_files(folder)
        self.archived = max((file.last for file in sealed), default=0)
        self._unfinished.mkdir(parents=True, exist_ok=True)
        self._continue()

    def append(self, number: int, packed: bytes) -> None:
        """Append a block. One that does not follow the last one begins another file."""
        if self._file is not None and not self._belongs(number, self._file.head_number):
            self._seal()
        if self._file is None:
            self._file = BlockLog.open(self._unfinished, unfinished(number - number % self._size))
        self._file.append(number, packed)
        self.archived = number
        if number % self._size == self._size - 1:
            self._seal()

    def sync(self) -> None:
        if self._file is not None:
            self._file.sync()

    def close(self) -> None:
        if self._file is not None:
            self._file.sync()
            self._file.close()
            self._file = None

    def _belongs(self, number: int, last: int) -> bool:
        return number == last + 1 and number // self._size == last // self._size

    def _seal(self) -> None:
        file, self._file = self._file, None
        if file is None:
            return
        kind, sealed = file.kind, SealedFile(file.first_number, file.head_number)
        file.sync()
        file.close()
        seal(self._unfinished, kind, self._folder, sealed)
        list_sums(self._folder)

    def _continue(self) -> None:
        names = {path.name.removesuffix(".index").removesuffix(".sums") for path in self._unfinished.iterdir()}
        for name in sorted(names, reverse=True):
            kind = LogKind(name, OFFSET.size, "")
            file = BlockLog.open(self._unfinished, kind) if self._file is None else None
            if file is not None and file.head_number > self.archived:
                self._file, self.archived = file, file.head_number
                continue
            if file is not None:
                file.close()
            for path in (*paths_of(self._unfinished, kind), sums_path(self._unfinished, kind)):
                path.unlink(missing_ok=True)


def unfinished(first: int) -> LogKind:
    remedy = "stop the node and delete this file and those beside it that begin with its name"
    return LogKind(f"blocks-{first:010}", OFFSET.size, remedy)


SLICE = 1_000


class Copying:
    """An archive that follows the logs of a directory, of which the node writes one or the other."""

    def __init__(self, logs: Path, archive: Path, size: int) -> None:
        self._logs = (BlockLogReader.open(logs), RollingBlockLogReader.open(logs))
        self._writer = ArchiveWriter(archive, size)

    def step(self) -> bool:
        source = next((each for each in self._logs if each.head_number), None)
        if source is None:
            return False
        first, head = source.first_number, source.head_number
        begin = self._writer.archived + 1
        if begin < first and begin > 1:
            log.warning(
                "block_archive: blocks %(first)d to %(last)d are not in the log any more and are left out: "
                "`ledgerd archive fetch` gets them",
                {"first": begin, "last": first - 1},
            )
        begin = max(begin, first)
        last = min(head, begin + SLICE - 1)
        for number, packed in source.scan(begin, last):
            self._writer.append(number, packed)
        self._writer.sync()
        return last < head

    def close(self) -> None:
        self._writer.close()
        for each in self._logs:
            each.close()
