"""How much of the chain its log keeps: all blocks from the first, or, where it began with a snapshot, the latest
(spec 03, sections 24 and 25). Which of the two it is, is decided in `opening`.
"""

from __future__ import annotations

from collections.abc import Iterable

from ledgerd.chain.log.block_log import BlockLog
from ledgerd.chain.log.rolling import RollingBlockLog

ROLLING_BLOCKS = 100_000
"""How many blocks a rolling log keeps at least, once it has them (`dlt-block-log-max-blocks`)."""


def append_irreversible(log: BlockLog, blocks: Iterable[tuple[int, bytes]], rolling_blocks: int) -> None:
    """Append blocks that became irreversible, and sync the log.

    After a crash the log may have some of them already. A rolling log starts again after a gap, and keeps nothing where
    no blocks are to be kept.
    """
    if isinstance(log, RollingBlockLog) and rolling_blocks == 0:
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
