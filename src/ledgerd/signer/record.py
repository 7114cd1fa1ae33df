"""The record of what a signer has signed last: two places that are written by turns, each in place and durable at once.

One flush of a few hundred bytes is what a signature waits for; to replace a file takes the disk four times as long. A
place that a loss of power has torn leaves the other one, of the slot before: its signature had not left yet.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from ledgerd.basics.durable import sync_folder, write_whole
from ledgerd.producer.signing.double_sign import FILE, LastSigned, NewerRecord
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.errors import OperatorError

OTHER = f"{FILE}.other"
SIZE = 2_048
"""Bytes of a place: a record of a header and blanks, so that its size never changes."""


class SignerRecord:
    """The two places of a folder, while its signer runs."""

    def __init__(self, folder: Path, *, has_stopped_cleanly: bool) -> None:
        self._paths = (folder / FILE, folder / OTHER)
        found = list(_found(folder, may_be_torn=not has_stopped_cleanly))
        newest = max(found, key=lambda each: each.time, default=None)
        self.block: Block | None = None if newest is None else newest.block
        """The block that was signed last; a signer keeps its header alone."""
        if newest is None:
            self._paths[0].unlink(missing_ok=True)  # it is blank
        self._form = newest or LastSigned(folder, None)
        self._descriptors: list[int] = []
        self._next = 1
        try:
            write_whole(self._paths[0], self._padded(self.block))
            write_whole(self._paths[1], self._padded(None))
            self._descriptors += [os.open(path, os.O_WRONLY) for path in self._paths]
        except OSError as problem:
            raise self._refused(problem) from problem

    def record(self, block: Block) -> None:
        """Record a block; when this returns, a loss of power no longer takes it away."""
        descriptor = self._descriptors[self._next]
        try:
            _write(descriptor, self._padded(block))
            _flush(descriptor)
        except OSError as problem:
            raise self._refused(problem) from problem
        self.block, self._next = block, 1 - self._next

    def close(self, *, is_last: bool) -> None:
        """Close the files; the last time, leave only one file, as a node has it."""
        for descriptor in self._descriptors:
            os.close(descriptor)
        self._descriptors.clear()
        if is_last and self.block is not None:
            write_whole(self._paths[0], self._padded(self.block))
            self._paths[1].unlink(missing_ok=True)
            sync_folder(self._paths[1].parent)

    def _padded(self, block: Block | None) -> bytes:
        return (b"" if block is None else self._form.encoded(block)).ljust(SIZE)

    def _refused(self, problem: OSError) -> OperatorError:
        return OperatorError(
            f"{self._paths[0]} cannot be written ({problem}), and nothing is signed: check the disk's free space and "
            "the permissions"
        )


def _found(folder: Path, *, may_be_torn: bool) -> Iterator[LastSigned]:
    """The records in the files. After an unclean stop one of them may be torn, if the other is sound; one that a newer
    signer has written is not torn.
    """
    problems: list[OperatorError] = []
    count = 0
    for name in (FILE, OTHER):
        try:
            if not (folder / name).read_bytes().strip():
                continue
        except FileNotFoundError:
            continue
        except OSError as problem:
            raise OperatorError(f"{folder / name} cannot be read: {problem.strerror}") from problem
        try:
            yield LastSigned(folder, None, name)
            count += 1
        except NewerRecord:
            raise
        except OperatorError as problem:
            problems.append(problem)
    if problems and not (may_be_torn and count):
        raise problems[0]


def _write(descriptor: int, data: bytes) -> None:
    if os.pwrite(descriptor, data, 0) != SIZE:
        raise OSError("too little was written")


def _flush(descriptor: int) -> None:
    """Make what was written durable; its size is as it was, so that the data are all there is to flush."""
    flush = getattr(os, "fdatasync", os.fsync)  # macOS has no fdatasync
    flush(descriptor)
