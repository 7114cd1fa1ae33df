"""The longest sound history in a directory: its block log, or else its newest snapshot and the blocks after that."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from ledgerd.adopt.vizd_directory import AdoptionRefused, VizdDirectory
from ledgerd.chain.log.source import LogSource
from ledgerd.protocol.errors import OperatorError
from ledgerd.snapshot.errors import SnapshotError
from ledgerd.snapshot.importing.build import read_snapshot

STATE_OF_EACH_BYTE = 0.5
"""Bytes of state for a byte of a block log, at most, in the chains that were measured; never below `LEAST_STATE`."""

STATE_OF_SNAPSHOT = 12
"""Bytes of state for each byte of a compressed snapshot."""

LEAST_STATE = 256 << 20

BLOCKS_A_SECOND = 800
"""Blocks that are checked and applied in a second, about, with a few transactions in each."""

SNAPSHOT_BYTES_A_SECOND = 1 << 20
"""Bytes of a compressed snapshot that are imported in a second, about."""


class FoundHistory(NamedTuple):
    """The blocks with which a data directory can begin."""

    snapshot: Path | None
    """The snapshot to begin with; None if the block log has all blocks."""
    log: Path | None
    """The blocks from 1 on, or those after the snapshot."""
    first: int
    """The first block that is known whole: 1, or that of the snapshot."""
    last: int
    bytes: int
    torn: int
    """Bytes at the end of the log that are no whole block, and are left out."""

    @property
    def needed_bytes(self) -> int:
        state = self.bytes * (STATE_OF_SNAPSHOT if self.snapshot else STATE_OF_EACH_BYTE)
        return self.bytes + max(LEAST_STATE, int(state))

    @property
    def seconds(self) -> int:
        blocks = self.last - self.first + 1
        imported = self.bytes / SNAPSHOT_BYTES_A_SECOND if self.snapshot else 0
        return int(blocks / BLOCKS_A_SECOND + imported) + 1


def longest(directory: VizdDirectory, report: Callable[[str], None]) -> FoundHistory:
    whole = _of_full_log(directory.full_log, report)
    later = next(_of_snapshots(directory, report), None)
    if whole is not None and (later is None or whole.last >= later.last or not whole.torn):
        return whole
    if later is None:
        raise AdoptionRefused(f"{directory.folder} has neither a sound block log nor a sound snapshot: see above why")
    if whole is not None:
        report(
            f"{directory.full_log} is sound up to block {whole.last} alone: the snapshot of block {later.first} is "
            "taken, which reaches further"
        )
    return later


def _of_full_log(path: Path | None, report: Callable[[str], None]) -> FoundHistory | None:
    if path is None:
        return None
    try:
        with LogSource(path, up_to_damage=True) as log:
            if log.first_number == 1 and log.head_number:
                return FoundHistory(None, path, 1, log.head_number, path.stat().st_size - log.torn, log.torn)
            report(f"{path} has no whole block 1, and is left out")
    except OperatorError as problem:
        report(str(problem))
    return None


def _of_snapshots(directory: VizdDirectory, report: Callable[[str], None]) -> Iterator[FoundHistory]:
    for each in directory.snapshots:
        try:
            snapshot = read_snapshot(each.path)
        except SnapshotError as problem:
            report(f"{each.path} is left out: {problem}")
            continue
        number, size = snapshot.head_number, each.path.stat().st_size
        log = _behind(directory.rolling_log, number, report) or _behind(directory.full_log, number, report)
        behind = FoundHistory(None, None, number, number, 0, 0) if log is None else log
        yield behind._replace(snapshot=each.path, bytes=size + behind.bytes)


def _behind(path: Path | None, number: int, report: Callable[[str], None]) -> FoundHistory | None:
    if path is None:
        return None
    try:
        with LogSource(path, up_to_damage=True) as log:
            if 0 < log.first_number <= number + 1 <= log.head_number:
                share = (log.head_number - number) / (log.head_number - log.first_number + 1)
                return FoundHistory(None, path, number, log.head_number, int(path.stat().st_size * share), log.torn)
    except OperatorError as problem:
        report(str(problem))
    return None
