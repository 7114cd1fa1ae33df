"""The archive follows the log of a node, whichever it is, and leaves out what the log has lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledgerd.archive.sealed import ArchivedBlocks, SealedFile, sealed_files
from ledgerd.archive.writer import SLICE, Copying
from ledgerd.chain.log.block_log import BlockLog
from ledgerd.chain.log.rolling import RollingBlockLog
from tests.chain.logged_blocks import packed_block, unsynced


def fill(log: BlockLog, first: int, last: int) -> None:
    for number in range(first, last + 1):
        log.append(number, packed_block(number))


def copy_all(copying: Copying) -> int:
    steps = 1
    while copying.step():
        steps += 1
    return steps


def test_a_whole_log_is_copied_from_its_beginning_and_then_followed(tmp_path: Path) -> None:
    with unsynced():
        log = BlockLog.open(tmp_path)
        copying = Copying(tmp_path, tmp_path / "archive", 1_000)
        assert not copying.step(), "there is nothing yet"
        fill(log, 1, 2 * SLICE + 10)
        assert copy_all(copying) == 3
        fill(log, 2 * SLICE + 11, 3 * SLICE)
        copy_all(copying)
        copying.close()
    assert sealed_files(tmp_path / "archive") == [
        SealedFile(1, 999),
        SealedFile(1000, 1999),
        SealedFile(2000, 2999),
    ]


def test_blocks_that_a_rolling_log_has_dropped_are_left_out(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with unsynced():
        log = RollingBlockLog.open(tmp_path)
        fill(log, 501, 520)
        copying = Copying(tmp_path, tmp_path / "archive", 100)
        copy_all(copying)
        assert not caplog.records
        fill(log, 521, 700)
        log.truncate_before(571)
        copy_all(copying)
        copying.close()
    (told,) = [each.getMessage() for each in caplog.records if "left out" in each.getMessage()]
    assert told.startswith("block_archive: blocks 521 to 570 are not in the log any more")
    assert sealed_files(tmp_path / "archive") == [SealedFile(501, 520), SealedFile(571, 599), SealedFile(600, 699)]
    assert ArchivedBlocks(tmp_path / "archive").first_before(701) == 701
    assert ArchivedBlocks(tmp_path / "archive").first_before(700) == 571
