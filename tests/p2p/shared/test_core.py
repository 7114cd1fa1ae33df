"""Lines of the log that strangers cause."""

from __future__ import annotations

import logging

import pytest

from ledgerd.p2p.shared.core import LONGEST_LINE, PEER_LINES, log_peer


def test_lines_of_all_peers_are_of_one_kind(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    log_peer("62.1.1.1:1", "closing")
    log_peer("62.1.1.2:1", "banned", logging.WARNING)
    assert [record.getMessage() for record in caplog.records] == ["62.1.1.1:1: closing", "62.1.1.2:1: banned"]
    assert {getattr(record, "rate", None) for record in caplog.records} == {PEER_LINES}


def test_a_line_quotes_so_much_of_the_other_side(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    log_peer("x", "y" * 10_000)
    assert len(caplog.records[0].getMessage()) < LONGEST_LINE + 10
