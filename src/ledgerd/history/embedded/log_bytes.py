"""Reads parts of blocks from the files of a log, in other processes."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from contextlib import suppress
from itertools import takewhile
from pathlib import Path

from ledgerd.chain.log.block_log import FULL_LOG
from ledgerd.chain.log.files import LARGEST_FILE, OFFSET, LogFiles, read_at

NEIGHBOURS = 2_048
"""Blocks whose offsets are read from the index at once."""

AT_ONCE = 256 * 1024
"""Bytes that are read at once, even if some are not needed, since each read has a fixed cost."""

Span = tuple[int, int, int]
"""A part of a block: block number, start and end."""


class LogBytes:
    """The log in a folder, read in parts. The caller checks what it gets."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files: LogFiles | None = None

    def refresh(self) -> None:
        if self._files is None or self._files.replaced:
            self.close()
            with suppress(FileNotFoundError):
                self._files = LogFiles(self._folder, FULL_LOG, writable=False)

    def read(self, spans: Sequence[Span]) -> list[bytes]:
        """Read these spans in the given order; the result is shorter where the log does not have them all."""
        found: list[bytes] = []
        begins = self._begins(spans)
        while len(found) < len(spans):
            place = len(found)
            first = begins[place]
            if first is None or first > LARGEST_FILE or self._files is None:
                found.append(b"")
                continue
            within = range(first, first + AT_ONCE).__contains__
            run = [begin for begin in takewhile(within, begins[place:]) if begin is not None]
            _, start, stop = spans[place + len(run) - 1]
            data = read_at(self._files.data, run[-1] + stop - start - first, first)
            found += [
                data[begin - first : begin - first + stop - start]
                for begin, (_, start, stop) in zip(run, spans[place:], strict=False)
            ]
        return found

    def _begins(self, spans: Sequence[Span]) -> list[int | None]:
        files, found = self._files, list[int | None]()
        if files is None:
            return [None] * len(spans)
        blocks = [block for block, _, _ in spans]
        while len(found) < len(spans):
            place = len(found)
            low = blocks[place]
            if low < files.first:
                found.append(None)
                continue
            following = bisect_left(blocks, low + NEIGHBOURS, place)
            raw = read_at(files.index, (blocks[following - 1] - low + 1) * OFFSET.size, files.place_of(low))
            starts = [start for (start,) in OFFSET.iter_unpack(raw[: len(raw) // OFFSET.size * OFFSET.size])]
            known = len(starts)
            found += [
                starts[block - low] + first if block - low < known else None
                for block, first, _ in spans[place:following]
            ]
        return found

    def close(self) -> None:
        if self._files is not None:
            self._files.close()
        self._files = None
