"""What an operator reads while a node syncs."""

from __future__ import annotations

import logging

import pytest

from ledgerd.p2p.sync.report import SyncReport, duration
from tests.p2p.scripted_talk import Talk


def test_a_line_comes_every_few_seconds_with_height_speed_and_time_left() -> None:
    report = SyncReport()
    assert report.line(100.0, 1_000, 81_000, 3) is None
    assert report.line(104.0, 5_000, 81_000, 3) is None
    assert (
        report.line(105.0, 9_000, 81_000, 3) == "syncing: block 9,000 of 81,000 (11 %), 1,600 blocks/s, 45 s left, "
        "from 3 peers"
    )
    assert report.line(109.0, 12_000, 81_000, 3) is None
    assert (
        report.line(110.0, 9_005, 81_000, 1) == "syncing: block 9,005 of 81,000 (11 %), 1 blocks/s, 19 h 59 min left, "
        "from 1 peer"
    )


def test_a_sync_that_stands_still_says_so_and_its_end_is_told_once() -> None:
    report = SyncReport()
    report.line(0.0, 1_000, 2_000, 1)
    assert report.line(5.0, 1_000, 2_000, 2) == "syncing: block 1,000 of 2,000, waiting for blocks from 2 peers"
    assert report.line(10.0, 2_000, 2_000, 0) == (
        "syncing: block 2,000 of 2,000 (100 %), 200 blocks/s, 0 s left, from 0 peers"
    )
    assert report.line(15.0, 2_001, 2_001, 0) is None


def test_a_sync_of_a_few_blocks_is_not_logged() -> None:
    report = SyncReport()
    assert [report.line(5.0 * n, 1_000 + n, 1_100, 1) for n in range(5)] == [None] * 5


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.4, "0 s"), (59, "59 s"), (60, "1 min 0 s"), (3_725, "1 h 2 min"), (200_000, "2 d 7 h")],
)
def test_a_time_is_told_in_its_two_largest_units(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_a_syncing_node_tells_how_far_it_is(talk: Talk, caplog: pytest.LogCaptureFixture) -> None:
    talk.now += 3_000
    talk.meet(head_block_num=1_100, dlt_latest_block=1_100)
    with caplog.at_level(logging.INFO):
        for _ in range(7):
            talk.now += 1
            talk.network.watch_sync(talk.now)
    lines = [record.message for record in caplog.records if record.message.startswith("syncing")]
    assert lines == ["syncing: block 112 of 1,100, waiting for blocks from 1 peer"]
