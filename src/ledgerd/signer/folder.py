"""A signer's folder: the record of what it signed last, whether it was stopped cleanly, and the lock on both."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

import msgspec

from ledgerd.basics.durable import sync_folder
from ledgerd.producer.signing.double_sign import FILE
from ledgerd.protocol.errors import OperatorError
from ledgerd.signer.locks import OTHERS_WRITE, lock_folder
from ledgerd.signer.record import SignerRecord

MARK = "stopped_cleanly"


class CleanStop(msgspec.Struct, frozen=True):
    """Which file was the record when the signer stopped: a copy of it, as from a backup, is another file."""

    inode: int
    changed: int
    """Nanoseconds; no program can set that time of a file."""


class SignerFolder:
    """One folder, for as long as it is locked."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if folder.stat().st_mode & OTHERS_WRITE:
            raise OperatorError(f"others than its owner may write to {folder}: `chmod 700 {folder}`")
        self._mark, self._path = folder / MARK, folder / FILE
        with ExitStack() as stack:
            stack.enter_context(lock_folder(folder))
            self.has_stopped_cleanly = self._consume_mark()
            self.record = SignerRecord(folder, has_stopped_cleanly=self.has_stopped_cleanly)
            self._close: Callable[[], None] = stack.pop_all().close

    def _consume_mark(self) -> bool:
        """Whether the last stop was clean; from now on, until the next one, it was not."""
        try:
            mark = msgspec.json.decode(self._mark.read_bytes(), type=CleanStop)
        except FileNotFoundError:
            return False
        except (OSError, ValueError, msgspec.MsgspecError):
            mark = None
        try:
            self._mark.unlink()
            sync_folder(self._mark.parent)
        except OSError as problem:
            raise OperatorError(f"{self._mark} cannot be removed ({problem.strerror}): see to the disk") from problem
        return mark is not None and mark == self._now()

    def _now(self) -> CleanStop | None:
        try:
            found = self._path.stat()
        except OSError:
            return None
        return CleanStop(found.st_ino, found.st_ctime_ns)

    def mark_clean(self) -> None:
        """Note that the signer stops and signs nothing more; without a record there is nothing to note."""
        self.record.close(is_last=True)
        mark = None if self.record.block is None else self._now()
        if mark is None:
            return
        with self._mark.open("wb") as file:
            file.write(msgspec.json.encode(mark))
            file.flush()
            os.fsync(file.fileno())
        sync_folder(self._mark.parent)

    def close(self) -> None:
        self.record.close(is_last=False)
        self._close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        self.close()
