"""Copies what is new in a block log to the archive; what the log has no more, `ledgerd archive fetch` gets."""

from __future__ import annotations

import logging
from pathlib import Path

from ledgerd.archive.writer import ArchiveWriter
from ledgerd.chain.log.block_log import BlockLogReader
from ledgerd.chain.log.rolling import RollingBlockLogReader

log = logging.getLogger(__name__)

SLICE = 1_000


class Copying:
    """An archive that follows the logs of a directory, of which the node writes one or the other."""

    def __init__(self, logs: Path, archive: Path, size: int) -> None:
        self._logs = (BlockLogReader.open(logs), RollingBlockLogReader.open(logs))
        self._writer = ArchiveWriter(archive, size)

    def step(self) -> bool:
        """Copy the next blocks; whether there are more."""
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
            self._writer.take(number, packed)
        self._writer.sync()
        return last < head

    def close(self) -> None:
        self._writer.close()
        for each in self._logs:
            each.close()
