"""The log of changes: what a copy of the state needs is there, or the log says that it is not."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from ledgerd.state.files.change_frames import POSITION, RecordHead
from ledgerd.state.files.change_log import MOST_BLOCKS, ChangeLog, ChangeLogReader, LogGap

LAYOUT = b"l" * 16
RUN, LATER_RUN = b"first---", b"second--"


_opened: list[ChangeLogReader] = []


@pytest.fixture(autouse=True)
def _close_readers() -> Iterator[None]:
    yield
    while _opened:
        _opened.pop().close()


def reading(folder: Path) -> ChangeLogReader:
    """A reader that is closed at the end of the test."""
    _opened.append(ChangeLogReader(folder, LAYOUT))
    return _opened[-1]


def begun(folder: Path, run: bytes = RUN, position: bytes = b"", **bounds: int) -> ChangeLog:
    log = ChangeLog(folder, run, **bounds)
    log.begin(LAYOUT, position)
    return log


def commit(log: ChangeLog, before: bytes, revision: int, value: bytes = b"value") -> bytes:
    """Write a record, as a commit does; the position after it."""
    after = log.following
    log.write(before, revision, {1: {b"key": value}})
    log.confirm()
    return after


def commits(log: ChangeLog, count: int, before: bytes = b"", first: int = 1) -> list[bytes]:
    positions = [before]
    for revision in range(first, first + count):
        positions.append(commit(log, positions[-1], revision))
    return positions[1:]


def heads_from(reader: ChangeLogReader, position: bytes, last: bytes) -> list[RecordHead]:
    place, found = reader.place_of(position), list[RecordHead]()
    while position != last:
        head, parts = reader.record_at(place)
        place, position = parts._replace(offset=parts.offset + head.size), head.after
        found.append(head)
    return found


def test_from_each_position_all_later_changes_are_found(tmp_path: Path) -> None:
    log, reader = begun(tmp_path, file_bytes=500), reading(tmp_path)
    positions = commits(log, 20)
    assert len(reader.numbers()) > 2, "over several files"
    for number, position in enumerate(positions):
        assert [head.revision for head in heads_from(reader, position, positions[-1])] == [*range(number + 2, 21)]
    with pytest.raises(LogGap):
        reader.place_of(POSITION.pack(LATER_RUN, 1))
    log.close()


def test_a_commit_that_failed_is_overwritten(tmp_path: Path) -> None:
    log, reader = begun(tmp_path), reading(tmp_path)
    before = commit(log, b"", 1)
    log.write(before, 2, {1: {b"never": b"committed" * 1000}})
    after = commit(log, before, 2)
    (head,) = heads_from(reader, before, after)
    place = reader.place_of(before)
    raw = b"".join(reader.bytes_at(reader.record_at(place)[1], head.size, 10))
    assert b"key" in raw
    assert b"never" not in raw
    log.close()


def test_after_a_kill_the_log_goes_on_behind_the_last_commit(tmp_path: Path) -> None:
    log, reader = begun(tmp_path), reading(tmp_path)
    positions = commits(log, 3)
    log.write(positions[-1], 4, {1: {b"not": b"committed"}})
    log.close()
    again = begun(tmp_path, LATER_RUN, positions[-1])
    later = commits(again, 2, positions[-1], 4)
    assert [head.after for head in heads_from(reader, positions[0], later[-1])] == [*positions[1:], *later]
    again.close()


@pytest.mark.parametrize("position", [b"", POSITION.pack(LATER_RUN, 5)])
def test_changes_that_do_not_lead_to_the_state_are_dropped(position: bytes, tmp_path: Path) -> None:
    log, reader = begun(tmp_path), reading(tmp_path)
    positions = commits(log, 3)
    log.close()
    again = begun(tmp_path, b"third---", position)
    commit(again, position, 4)
    with pytest.raises(LogGap):
        reader.place_of(positions[0])
    again.close()


def test_the_log_of_other_tables_is_none(tmp_path: Path) -> None:
    log = begun(tmp_path)
    (position,) = commits(log, 1)
    log.close()
    with pytest.raises(LogGap):
        ChangeLogReader(tmp_path, b"m" * 16).place_of(position)


def test_the_oldest_changes_go_by_bytes(tmp_path: Path) -> None:
    log, reader = begun(tmp_path, most_bytes=4000, file_bytes=500), reading(tmp_path)
    positions = commits(log, 100)
    assert sum(reader.path(number).stat().st_size for number in reader.numbers()) < 5000
    with pytest.raises(LogGap):
        reader.place_of(positions[0])
    assert len(heads_from(reader, positions[-10], positions[-1])) == 9
    log.close()


def test_the_oldest_changes_go_by_blocks(tmp_path: Path) -> None:
    log, reader = begun(tmp_path, file_bytes=1), reading(tmp_path)
    old = commits(log, 2)
    new = commits(log, 2, old[-1], MOST_BLOCKS + 2)
    assert len(heads_from(reader, old[-1], new[-1])) == 2
    with pytest.raises(LogGap):
        reader.place_of(b"\0" * POSITION.size)
    log.close()


def test_a_disk_that_is_full_ends_the_log_and_not_the_node(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    log, reader = begun(tmp_path), reading(tmp_path)
    (before,) = commits(log, 1)

    def full(_log: ChangeLog, _revision: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched, caplog.at_level(logging.WARNING):
        patched.setattr(ChangeLog, "_opened", full)
        missed = commits(log, 2, before, 2)
    assert sum("cannot be written" in record.getMessage() for record in caplog.records) == 1
    later = commits(log, 2, missed[-1], 4)
    with pytest.raises(LogGap):
        reader.place_of(before)
    assert len(heads_from(reader, missed[-1], later[-1])) == 2
    log.close()
