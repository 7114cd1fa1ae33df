"""Lines of the log that strangers cause."""

from __future__ import annotations

import logging

import pytest

from ledgerd.p2p.shared.notices import BURST, LONGEST, Notices


def test_so_many_lines_and_then_how_many_more(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    notices = Notices(0)
    for _ in range(1_000):
        notices.tell(0, "62.1.1.1:1", "closing")
    assert len(caplog.records) == BURST
    notices.sum_up(61)
    assert caplog.records[-1].getMessage() == f"{1_000 - BURST} more lines of peers were left out"
    notices.sum_up(200)
    assert len(caplog.records) == BURST + 1


def test_a_line_quotes_so_much_of_the_other_side(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    Notices(0).tell(0, "x", "y" * 10_000)
    assert len(caplog.records[0].getMessage()) < LONGEST + 10
