"""Parts of blocks straight from the files of a log, for readers in other processes."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from ledgerd.chain.block_log import FULL_LOG
from ledgerd.chain.log_files import LogFiles, LogKind, read_at


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

    def start_of(self, number: int) -> int | None:
        """Where a block starts in the file; nothing when the log does not have it."""
        return None if self._files is None else self._files.start_of(number)

    def read(self, begin: int | None, start: int, size: int) -> bytes:
        """So many bytes of a block that begins somewhere; fewer when the log does not have them."""
        if self._files is None or begin is None:
            return b""
        return read_at(self._files.data, size, begin + start)

    def close(self) -> None:
        """Let the files go."""
        if self._files is not None:
            self._files.close()
        self._files = None
