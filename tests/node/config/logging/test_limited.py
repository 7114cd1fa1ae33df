"""Lines above the rate of their kind are left out of the log and counted."""

from __future__ import annotations

import logging

from ledgerd.node.config.logging.handlers import Limited
from ledgerd.snapshot.exchange.server import REFUSALS, REFUSALS_SECONDS
from ledgerd.supervision.line_rates import COUNT_SECONDS, USUAL, LineRate, limited
from ledgerd.supervision.progress import ProgressLine, shown
from tests.logs import MOMENT, KeptLines, made

FEW = LineRate("lines of peers", burst=3, a_second=0.01)


def of_peer(number: int, seconds: float = 0.0) -> logging.LogRecord:
    record = made("%(peer)s: closing", {"peer": number})
    vars(record).update(limited(FEW))
    record.created += seconds
    return record


def test_a_kind_with_a_name_is_counted_under_it() -> None:
    kept = KeptLines()
    handler = Limited([kept])
    for number in range(1_000):
        handler.handle(of_peer(number))
    assert kept.texts == ["0: closing", "1: closing", "2: closing"]

    handler.handle(made("another line %(n)d", {"n": 1}, line=7))
    assert kept.texts[3:] == ["another line 1"]
    later = made("another line %(n)d", {"n": 2}, line=7)
    later.created += COUNT_SECONDS
    handler.handle(later)
    assert kept.texts[4:] == ["997 more lines of peers were left out", "another line 2"]


def test_any_other_kind_is_a_place_in_the_code() -> None:
    kept = KeptLines()
    handler = Limited([kept])
    for number in range(int(USUAL.burst) + 5):
        handler.handle(made("block %(block)d", {"block": number}))
        handler.handle(made("other %(n)d", {"n": number}, line=number + 1_000))
    handler.close()

    assert len(kept.texts) == 2 * USUAL.burst + 5 + 1
    assert kept.texts[-1] == f"5 more lines like 'block {int(USUAL.burst) + 4}' were left out"


def test_details_and_progress_have_no_limit() -> None:
    kept = KeptLines()
    handler = Limited([kept])
    step = ProgressLine("syncing", 0, 0.0).at(1, 10, 1.0)
    assert step is not None
    for _ in range(1_000):
        handler.handle(made("detail %(n)d", {"n": 1}, level=logging.DEBUG))
        record = made("%s", step.text)
        vars(record).update(shown(step))
        handler.handle(record)
    assert len(kept.texts) == 2_000


def test_each_target_has_its_level() -> None:
    loud, all_ = KeptLines(logging.ERROR), KeptLines()
    handler = Limited([loud, all_])
    handler.handle(made("warning %(n)d", {"n": 1}))
    assert (loud.texts, all_.texts) == ([], ["warning 1"])


def test_a_count_has_the_time_of_the_line_that_brings_it() -> None:
    times: list[float] = []

    class Times(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            times.append(record.created - MOMENT)

    handler = Limited([Times()])
    for number in range(5):
        handler.handle(of_peer(number))
    handler.handle(of_peer(5, 600.0))
    assert times == [0.0, 0.0, 0.0, 600.0, 600.0]


def test_of_ten_thousand_refusals_of_a_snapshot_a_line_a_minute_is_written() -> None:
    kept = KeptLines()
    handler = Limited([kept])
    for number in range(10_000):
        record = made("%(client)s is not served a snapshot", {"client": number})
        vars(record).update(limited(REFUSALS))
        record.created += number / 100
        handler.handle(record)
    handler.close()

    refused = [line for line in kept.texts if "is not served" in line]
    assert len(refused) == 1 + int(100 / REFUSALS_SECONDS)
    assert sum(int(line.split()[0]) for line in kept.texts if "left out" in line) == 10_000 - len(refused)
