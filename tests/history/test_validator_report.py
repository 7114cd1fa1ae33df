"""The report on a validator, from packed blocks and operations that are made up."""

from __future__ import annotations

from contextlib import closing
from decimal import Decimal
from pathlib import Path

from ledgerd.basics.durations import DAY
from ledgerd.chain.log.block_log import BlockLog
from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.history.embedded.embedded import EmbeddedStore
from ledgerd.history.settings import HistorySettings
from ledgerd.history.validator_report import ValidatorReport, first_block_since, time_of, validator_of
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.types.identifiers import NO_BLOCK
from tests.history.histories import HISTORY_FOLDER, closed_view
from tests.history.made_blocks import NAMES, START, block_on, told


def blocks(count: int) -> list[Block]:
    made: list[Block] = []
    for number in range(1, count + 1):
        made.append(block_on(made[-1].id if made else NO_BLOCK, number, ()))
    return made


def opened(folder: Path) -> BlockLog:
    folder.mkdir()
    return BlockLog.open(folder)


def test_time_and_validator_are_read_from_the_start_of_a_block() -> None:
    (block,) = blocks(1)

    assert (time_of(block.packed), validator_of(block.packed)) == (block.timestamp, block.validator)


def test_the_first_block_of_a_time_is_found(tmp_path: Path) -> None:
    with closing(BlockLog.open(tmp_path)) as log:
        assert first_block_since(log, 0) == 0
        for block in blocks(20):
            log.append(block.number, block.packed)
        log.sync()
        for number in (1, 7, 20):
            assert first_block_since(log, START + 3 * number) == number
            assert first_block_since(log, START + 3 * number - 2) == number
        assert first_block_since(log, START + 61) == 21


def test_blocks_are_counted_on_their_days() -> None:
    report = ValidatorReport(NAMES[0])
    mine = [block.packed.replace(b"\x03v-0", bytes([len(NAMES[0])]) + NAMES[0].encode()) for block in blocks(4)]

    report.count_blocks([*mine, *(block.packed for block in blocks(3))])

    assert [(day.day, day.made) for day in report.days] == [("2027-01-15", 4)]
    assert START % DAY < DAY - 100


def test_rewards_are_added_up_from_the_history(tmp_path: Path) -> None:
    with closing(opened(tmp_path / STATE_FOLDER)) as log:
        with EmbeddedStore(tmp_path / HISTORY_FOLDER, HistorySettings(), log) as store:
            store.record([told(block) for block in blocks(9)])
        report = ValidatorReport(NAMES[0])
        with closed_view(tmp_path) as view:
            report.count_operations(view, 1, 9)

    (day,) = report.days
    assert day.reward == Decimal(3 + 6 + 9) / 1_000_000
    assert (day.votes_given, day.votes_taken, day.switched_off) == (0, 0, 0)
