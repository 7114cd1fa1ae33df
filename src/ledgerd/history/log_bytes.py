"""Parts of blocks straight from the files of a log, for readers in other processes."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from itertools import islice, takewhile
from pathlib import Path
from typing import NamedTuple

from ledgerd.chain.block_log import FULL_LOG
from ledgerd.chain.log_files import OFFSET, LogFiles, LogKind, read_at

NEIGHBOURS = 2_048
"""Blocks whose places are read from the index at once."""

AT_ONCE = 256 * 1024
"""Bytes that are read at once, though some of them are not wanted: each reading costs as much as many bytes."""


class Span(NamedTuple):
    """A part of a block."""

    block: int
    first: int
    end: int


class LogBytes:
    """The log of a folder, read in parts; what a part should be, the caller knows and checks."""

    def __init__(self, folder: Path, kind: LogKind = FULL_LOG) -> None:
        self._folder = folder
        self._kind = kind
        self._files: LogFiles | None = None

    def refresh(self) -> None:
        """Take notice of files that were put in the place of the old ones, or have only now been made."""
        if self._files is None or self._files.replaced:
            self.close()
            with suppress(FileNotFoundError):
                self._files = LogFiles(self._folder, self._kind, writable=False)
        if self._files is not None and self._kind.header:
            self._files.read_first()

    def read(self, spans: Sequence[Span]) -> list[bytes]:
        """The bytes of parts of blocks, by the numbers of these; fewer of each where the log does not have them."""
        if self._files is None:
            return [b""] * len(spans)
        starts = self._starts([span.block for span in spans])
        found: list[bytes] = []
        known, known_from = b"", 0
        for place, (span, start) in enumerate(zip(spans, starts, strict=True)):
            if start is None:
                found.append(b"")
                continue
            first, size = start + span.first - known_from, span.end - span.first
            if first < 0 or first + size > len(known):
                known_from = start + span.first
                known = read_at(self._files.data, _end_of_run(spans, starts, place) - known_from, known_from)
                first = 0
            found.append(known[first : first + size])
        return found

    def _starts(self, blocks: Sequence[int]) -> list[int | None]:
        """Where blocks begin in the file, as far as the index knows; neighbours are looked up together."""
        files = self._files
        found: list[int | None] = []
        known, low = b"", 0
        for place, block in enumerate(blocks):
            if files is None or block < files.first:
                found.append(None)
                continue
            at = (block - low) * OFFSET.size
            if at < 0 or at + OFFSET.size > len(known):
                low, at = block, 0
                following = takewhile((low + NEIGHBOURS).__gt__, islice(blocks, place, None))
                known = read_at(files.index, (max(following) - low + 1) * OFFSET.size, files.place_of(low))
            entry = known[at : at + OFFSET.size]
            found.append(int(OFFSET.unpack(entry)[0]) if len(entry) == OFFSET.size else None)
        return found

    def close(self) -> None:
        """Let the files go."""
        if self._files is not None:
            self._files.close()
        self._files = None


def _end_of_run(spans: Sequence[Span], starts: Sequence[int | None], place: int) -> int:
    """How far to read from the beginning of a part, so that parts close behind it are read as well."""
    first = end = (starts[place] or 0) + spans[place].first
    for following in range(place, len(spans)):
        start = starts[following]
        if start is None or start < first - spans[place].first:
            break
        if following > place and start + spans[following].end - first > AT_ONCE:
            break
        end = max(end, start + spans[following].end)
    return end
