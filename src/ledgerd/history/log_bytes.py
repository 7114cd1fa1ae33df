"""Parts of blocks straight from the files of a log, for readers in other processes."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from itertools import islice, takewhile
from pathlib import Path

from ledgerd.chain.block_log import FULL_LOG
from ledgerd.chain.log_files import OFFSET, LogFiles, LogKind, read_at

NEIGHBOURS = 2_048
"""Blocks whose places are read from the index at once."""

AT_ONCE = 256 * 1024
"""Bytes that are read at once, though some of them are not wanted: each reading costs as much as many bytes."""


Span = tuple[int, int, int]
"""A part of a block: the number of this, the place where the part begins, and the one where it ends."""


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
        file, found, place = self._files.data, list[bytes](), 0
        begins = self._begins(spans)
        while place < len(spans):
            first, last = begins[place], place
            if first is None:
                found.append(b"")
                place += 1
                continue
            end = first
            for last in range(place, len(spans)):
                begin = begins[last]
                if begin is None or begin < first or (last > place and begin + spans[last][2] - first > AT_ONCE):
                    break
                end = max(end, begin + spans[last][2] - spans[last][1])
            else:
                last += 1
            data = read_at(file, end - first, first)
            for (_, start, stop), begin in zip(spans[place:last], begins[place:last], strict=True):
                at = (begin or 0) - first
                found.append(data[at : at + stop - start])
            place = last
        return found

    def _begins(self, spans: Sequence[Span]) -> list[int | None]:
        """Where parts begin in the file, as far as the index knows; neighbours are looked up together."""
        files, found, low, known = self._files, list[int | None](), 0, b""
        for place, (block, first, _) in enumerate(spans):
            at = (block - low) * OFFSET.size
            if files is None or block < files.first:
                found.append(None)
                continue
            if at < 0 or at + OFFSET.size > len(known):
                low, at = block, 0
                following = takewhile((low + NEIGHBOURS).__gt__, (each[0] for each in islice(spans, place, None)))
                known = read_at(files.index, (max(following) - low + 1) * OFFSET.size, files.place_of(low))
            entry = known[at : at + OFFSET.size]
            found.append(OFFSET.unpack(entry)[0] + first if len(entry) == OFFSET.size else None)
        return found

    def close(self) -> None:
        """Let the files go."""
        if self._files is not None:
            self._files.close()
        self._files = None
