"""What an operator reads while a node syncs."""

from __future__ import annotations

import logging

import pytest

from ledgerd.node.config.logging.handlers import stays
from ledgerd.p2p.sync.watch import SyncReport
from tests.p2p.scripted_talk import Talk


def text(report: SyncReport, now: float, head: int, target: int, peers: int) -> str | None:
    step = report.step(now, head, target, peers)
    return None if step is None else step.text


def test_a_step_has_height_speed_time_left_and_peers() -> None:
    report = SyncReport()
    assert report.begins(1_000, 81_000)
    assert not report.begins(80_900, 81_000)
    assert text(report, 100.0, 1_000, 81_000, 3) is None
    assert not report.begins(1_000, 81_000)
    assert text(report, 100.1, 5_000, 81_000, 3) is None
    assert text(report, 105.0, 9_000, 81_000, 3) == (
        "syncing: block 9,000 of 81,000 (11 %), 1,600 blocks/s, 45 s left, from 3 peers"
    )


def test_a_sync_that_stands_still_says_so_and_its_end_is_told_once() -> None:
    report = SyncReport()
    report.step(0.0, 1_000, 2_000, 1)
    assert text(report, 5.0, 1_000, 2_000, 2) == "syncing: block 1,000 of 2,000, waiting for blocks from 2 peers"
    assert text(report, 10.0, 2_000, 2_000, 0) == (
        "syncing: block 2,000 of 2,000 (100 %), 100 blocks/s, 0 s left, from 0 peers"
    )
    assert text(report, 15.0, 2_001, 2_001, 0) is None


def test_a_sync_of_a_few_blocks_is_not_logged() -> None:
    report = SyncReport()
    assert [report.step(5.0 * n, 1_000 + n, 1_100, 1) for n in range(5)] == [None] * 5


def test_a_syncing_node_tells_how_far_it_is(talk: Talk, caplog: pytest.LogCaptureFixture) -> None:
    talk.now += 3_000
    talk.meet(head_block_num=1_100, dlt_latest_block=1_100)
    with caplog.at_level(logging.INFO):
        for _ in range(7):
            talk.now += 1
            talk.network.watch_sync(talk.now)
    records = [record for record in caplog.records if record.message.startswith("syncing")]
    lines = [record.message for record in records if stays(record)]
    assert len(records) > len(lines)
    assert lines == ["syncing: block 112 of 1,100, waiting for blocks from 1 peer"]
