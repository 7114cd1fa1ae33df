"""When a place that differs is a difference: not before what waits at the other node has expired."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledgerd.protocol.errors import OperatorError
from ledgerd.shadow.snapshots.doubts import (
    CHANGING_TIMES,
    EXPIRED_BLOCKS,
    MOST_DOUBTS,
    SnapshotProgress,
    lasting,
    read_progress,
    write_progress,
)
from ledgerd.shadow.snapshots.outcome import MOST_RECORDS, FoundRecord, SnapshotOutcome

BEGINS = 5_000


def richer(amount: int, number: int = 17) -> FoundRecord:
    return FoundRecord("account", number, ["balance"], {"balance": 1}, {"balance": amount})


def told(progress: SnapshotProgress, number: int, *records: FoundRecord) -> list[str]:
    return [each.title for each in lasting(progress, SnapshotOutcome(number=number, differing=list(records)))]


def test_the_same_values_an_hour_later_are_a_difference() -> None:
    progress = SnapshotProgress()

    assert told(progress, BEGINS, richer(2)) == []
    assert told(progress, BEGINS + EXPIRED_BLOCKS - 1, richer(2)) == []
    assert told(progress, BEGINS + EXPIRED_BLOCKS, richer(2)) == ["account 17"]
    assert progress.doubts["account 17.balance"].first == BEGINS


def test_what_was_equal_meanwhile_is_forgotten() -> None:
    progress = SnapshotProgress()

    assert told(progress, BEGINS, richer(2)) == []
    assert told(progress, BEGINS + EXPIRED_BLOCKS) == []
    assert told(progress, BEGINS + 2 * EXPIRED_BLOCKS, richer(2)) == []


def test_effects_of_transactions_that_wait_are_none_but_a_place_that_never_is_equal_is() -> None:
    progress = SnapshotProgress()
    found = [told(progress, BEGINS + turn * EXPIRED_BLOCKS, richer(2 + turn)) for turn in range(CHANGING_TIMES)]

    assert found == [[]] * (CHANGING_TIMES - 1) + [["account 17"]]


def test_a_record_that_one_of_both_lacks_is_one_place() -> None:
    progress = SnapshotProgress()
    record = FoundRecord("invite", 3, ["balance"], None, {"balance": 1})

    assert told(progress, BEGINS, record) == []
    assert told(progress, BEGINS + EXPIRED_BLOCKS, record) == ["invite 3"]


def test_doubts_are_kept_over_a_restart_and_bounded(tmp_path: Path) -> None:
    progress, file = SnapshotProgress(), tmp_path / "snapshots.json"
    wide = [f"field{number}" for number in range(MOST_DOUBTS // MOST_RECORDS + 5)]
    records = [
        FoundRecord("account", number, wide, dict.fromkeys(wide, 1), dict.fromkeys(wide, 2))
        for number in range(MOST_RECORDS)
    ]
    assert told(progress, BEGINS, *records) == []
    assert len(progress.doubts) == MOST_DOUBTS

    assert read_progress(file) == SnapshotProgress()
    write_progress(file, progress)
    assert read_progress(file) == progress
    for damaged in (b"{", b'{"doubts":{"\xff":{}}}'):
        file.write_bytes(damaged)
        with pytest.raises(OperatorError, match="remove it to begin anew"):
            read_progress(file)
