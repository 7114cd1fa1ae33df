"""Which log a chain keeps, and how much of it: all blocks from the first, or, where it began with a snapshot, the
latest of them (spec 03, sections 24 and 25).
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ledgerd.chain.log.block_log import BlockLog
from ledgerd.chain.log.rolling import RollingBlockLog
from ledgerd.codec import codec_of
from ledgerd.protocol.block import Block
from ledgerd.protocol.identifiers import BlockId

ROLLING_BLOCKS = 100_000
"""How many blocks a rolling log keeps at least, once it has them (`dlt-block-log-max-blocks`)."""


def open_log(folder: Path, irreversible: int, head: int, head_id: BlockId) -> BlockLog:
    """The log of a state. One that has irreversible blocks and no log of them began with a snapshot.

    A rolling log that ends with the last irreversible block is the state's own, however short it is: right after an
    import it has one block, which the reference loses at a restart (spec 06, section 8.2, quirk).
    """
    log = BlockLog.open(folder)
    if irreversible == 0 or log.head_number:
        return log
    log.close()
    rolling = RollingBlockLog.open(folder)
    is_own = rolling.head_number == irreversible or rolling.is_consistent_with(head)
    if not is_own and not _goes_on_from(rolling, head, head_id):
        rolling.reset()
    return rolling


def _goes_on_from(log: RollingBlockLog, head: int, head_id: BlockId) -> bool:
    """Whether a log that is ahead of the state continues it, so that its blocks can be replayed.

    It does when the node was killed before a commit, or when the state comes from an older snapshot.
    """
    packed = log.read(head + 1)
    return packed is not None and codec_of(Block).decode_exactly(packed).previous == head_id


def append_irreversible(
    log: BlockLog, blocks: Iterable[tuple[int, bytes]], rolling_blocks: int, irreversible: int = 0
) -> None:
    """Append blocks that became irreversible, and sync the log.

    After a crash the log may have some of them already. A rolling log starts again after a gap. Where no blocks are to
    be kept, they are dropped up to the last irreversible one, which stays in the state, since branches may leave the
    trunk there.
    """
    if isinstance(log, RollingBlockLog) and rolling_blocks == 0:
        any(number >= irreversible for number, _ in blocks)
        return
    for number, packed in blocks:
        if number <= log.head_number:
            continue
        if isinstance(log, RollingBlockLog) and log.head_number and number > log.head_number + 1:
            log.reset()
        log.append(number, packed)
    log.sync()


def trim(log: BlockLog, rolling_blocks: int) -> None:
    """Truncate a rolling log that holds more than twice as many blocks as it should."""
    if isinstance(log, RollingBlockLog) and rolling_blocks and log.count > 2 * rolling_blocks:
        log.truncate_before(log.head_number - rolling_blocks + 1)
