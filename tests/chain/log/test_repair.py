"""Logs that a crash, a failure of power or an operator left torn, and what opening them for writing makes of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledgerd.chain.log import repair as log_repair
from ledgerd.chain.log.block_log import BlockLog, BlockLogReader
from ledgerd.chain.log.files import LARGEST_ENTRY, LogDamaged, LogFiles, read_at
from tests.chain.logged_blocks import (
    DATA,
    INDEX,
    blocks_of,
    packed_block,
    packed_blocks,
    recorded_index,
    reopened,
    unsynced,
    write_log,
    write_recorded,
)
from tests.recorded import recorded_blocks, recorded_log


@pytest.fixture(autouse=True, scope="module")
def _spare_the_disk() -> Iterator[None]:
    with unsynced():
        yield


def files_of(folder: Path) -> tuple[bytes, bytes]:
    return (folder / DATA).read_bytes(), (folder / INDEX).read_bytes()


def leave(folder: Path, data: bytes, index: bytes | None) -> None:
    (folder / DATA).write_bytes(data)
    if index is None:
        (folder / INDEX).unlink(missing_ok=True)
    else:
        (folder / INDEX).write_bytes(index)


# -- the index

INDEXES = {
    "missing": None,
    "empty": b"",
    "of a new log": b"\0",
    "short by one": recorded_index()[:-8],
    "short by many": recorded_index()[: 8 * 100],
    "torn": recorded_index()[:-3],
    "torn early": recorded_index()[: 8 * 100 + 5],
    "too long": recorded_index() + (1 << 40).to_bytes(8, "little"),
    "too long by zeros": recorded_index() + bytes(4096),
    "too long by a few bytes": recorded_index() + bytes(3),
    "its last entry wrong": recorded_index()[:-8] + b"\1" * 8,
    "a hole of zeros in it": recorded_index()[: 8 * 300] + bytes(8 * 200) + recorded_index()[8 * 500 :],
    "of a rolling log": (1).to_bytes(8, "little") + recorded_index(),
    "zeros": bytes(len(recorded_index())),
    "largest": b"\xff" * len(recorded_index()),
}


@pytest.mark.parametrize("limits", ["as they are", "small"])
@pytest.mark.parametrize("found", INDEXES)
def test_an_index_that_is_not_right_is_made_as_the_reference_makes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, found: str, limits: str
) -> None:
    if limits == "small":
        monkeypatch.setattr(log_repair, "BATCH", 10)
        monkeypatch.setattr(log_repair, "AGREEING", 400)
    leave(tmp_path, recorded_log("open-2"), INDEXES[found])

    log = BlockLog.open(tmp_path)

    assert log.repaired.head == 617
    assert log.repaired.cut == 0
    assert (log.repaired.indexed > 0) == (not found.startswith("too long"))
    assert files_of(tmp_path) == (recorded_log("open-2"), recorded_index())
    assert reopened(tmp_path) == list(recorded_blocks("open-2"))


@pytest.mark.parametrize("found", INDEXES)
def test_an_index_is_made_by_decoding_where_the_data_is_torn_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, found: str
) -> None:
    monkeypatch.setattr(log_repair, "BATCH", 10)
    monkeypatch.setattr(log_repair, "WINDOW", 3000)
    monkeypatch.setattr(log_repair, "LARGEST_ENTRY", 1500)
    leave(tmp_path, recorded_log("open-2") + recorded_blocks("open-2")[0], INDEXES[found])

    log = BlockLog.open(tmp_path)

    assert (log.repaired.head, log.repaired.cut) == (617, len(recorded_blocks("open-2")[0]))
    assert files_of(tmp_path) == (recorded_log("open-2"), recorded_index())


def test_blocks_far_from_the_end_are_indexed_without_decoding_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocks = [packed_block(number, b"v" * 65000) for number in range(1, 201)]
    write_log(tmp_path, blocks)
    before = files_of(tmp_path)
    (tmp_path / INDEX).unlink()
    decoded = set()
    decode = LogFiles.end_of_entry

    def noting(files: LogFiles, number: int, start: int, limit: int) -> int | None:
        decoded.add(number)
        return decode(files, number, start, limit)

    monkeypatch.setattr(LogFiles, "end_of_entry", noting)

    BlockLog.open(tmp_path).close()

    assert files_of(tmp_path) == before
    assert 97 <= len(decoded) <= 98  # six megabytes of them


def test_an_index_without_data_is_removed(tmp_path: Path) -> None:
    for data in (b"", b"\0", b"\1" * 8):
        leave(tmp_path, data, recorded_index())

        assert reopened(tmp_path) == []
        assert files_of(tmp_path) == (b"\0", b"\0")


@settings(max_examples=60)
@given(
    index=st.binary(max_size=100)
    | st.lists(st.integers(0, 2000), max_size=12).map(
        lambda places: b"".join(place.to_bytes(8, "little") for place in places)
    )
)
def test_whatever_the_index_says_the_data_decides(tmp_path_factory: pytest.TempPathFactory, index: bytes) -> None:
    folder = tmp_path_factory.mktemp("log")
    blocks = packed_blocks(1, 10)
    write_log(folder, blocks)
    right = files_of(folder)
    leave(folder, right[0], index)

    assert reopened(folder) == blocks
    assert files_of(folder) == right


# -- a torn end


@pytest.mark.parametrize("blocks", [0, 1, 5])
def test_a_kill_at_any_byte_of_an_append_opens_at_a_block(tmp_path: Path, blocks: int) -> None:
    after, before = tmp_path / "after", tmp_path / "before"
    write_log(after, packed_blocks(1, blocks + 1))
    write_log(before, packed_blocks(1, blocks))
    data, index = files_of(after)
    whole, indexed = (len(file) if blocks else 0 for file in files_of(before))

    for data_size in range(whole, len(data) + 1):
        for index_size in range(indexed, len(index) + 1):
            leave(tmp_path, data[:data_size], index[:index_size])
            expected = after if data_size == len(data) else before

            assert reopened(tmp_path) == packed_blocks(1, blocks + (expected is after))
            assert files_of(tmp_path) == files_of(expected)


@pytest.mark.parametrize("index", ["right", "missing", "short"])
@pytest.mark.parametrize("left", [1, 7, 100, 5000])
def test_a_block_can_be_appended_after_a_torn_end(tmp_path: Path, left: int, index: str) -> None:
    write_recorded(tmp_path)
    kept = {"right": recorded_index(), "missing": None, "short": recorded_index()[:800]}[index]
    leave(tmp_path, recorded_log("open-2") + recorded_log("open-2")[:left], kept)

    log = BlockLog.open(tmp_path)
    assert log.repaired.cut == left
    log.append(618, packed_block(618))

    assert blocks_of(log) == [*recorded_blocks("open-2"), packed_block(618)]
    assert files_of(tmp_path)[0].startswith(recorded_log("open-2"))


@pytest.mark.parametrize("lost", [20, 500, 5000, 80000])
@pytest.mark.parametrize("filled", [True, False])
def test_blocks_lost_in_a_power_failure_are_truncated(tmp_path: Path, lost: int, filled: bool) -> None:
    left = recorded_log("open-2")[:-lost]
    leave(tmp_path, left + bytes(lost if filled else 0), recorded_index())
    ends = [end for end in accumulate(len(packed) + 8 for packed in recorded_blocks("open-2")) if end <= len(left)]

    assert reopened(tmp_path) == list(recorded_blocks("open-2")[: len(ends)])
    assert files_of(tmp_path) == (left[: ends[-1]], recorded_index()[: 8 * len(ends)])


@pytest.mark.parametrize("size", [9, 119, 120, 121, 5000])
def test_zeros_are_no_block(tmp_path: Path, size: int) -> None:
    leave(tmp_path, bytes(size), None)

    assert reopened(tmp_path) == []
    assert files_of(tmp_path) == (b"\0", b"\0")


# -- damage that is no torn end

START, END = (int.from_bytes(recorded_index()[8 * n : 8 * n + 8], "little") for n in (299, 300))
DAMAGES = {"its number": START + 2, "its length": START + 24, "its transactions": END - 9, "its offset": END - 6}


def damaged(at: int) -> bytes:
    data = bytearray(recorded_log("open-2"))
    data[at] ^= 0x55
    return bytes(data)


@pytest.mark.parametrize("torn", [0, 1, 300])
@pytest.mark.parametrize("index", [None, recorded_index()[: 8 * 100]])
@pytest.mark.parametrize("damage", ["its number", "its length", "its offset"])
def test_damage_in_the_middle_is_told_and_nothing_is_cut(
    tmp_path: Path, damage: str, index: bytes | None, torn: int
) -> None:
    data = damaged(DAMAGES[damage]) + recorded_log("open-2")[:torn]
    if torn and index is not None:
        index = b""
    leave(tmp_path, data, index)

    with pytest.raises(LogDamaged, match=rf"^block 300 of .*damaged from byte {START} on.*--resync-blockchain"):
        BlockLog.open(tmp_path)

    assert (tmp_path / DATA).read_bytes() == data
    reader = BlockLogReader.open(tmp_path)
    assert blocks_of(reader) == list(recorded_blocks("open-2")[:299])


def test_damage_that_the_index_reaches_beyond_does_not_keep_the_rest_from_being_read(tmp_path: Path) -> None:
    leave(tmp_path, damaged(START + 2), recorded_index())

    log = BlockLog.open(tmp_path)

    assert log.head_number == 617
    with pytest.raises(LogDamaged, match=r"^block 300 of "):
        log.read(300)


@pytest.mark.parametrize("data", [b"x" * (LARGEST_ENTRY + 1), bytes(LARGEST_ENTRY + 1)])
def test_a_file_of_something_else_is_left_alone(tmp_path: Path, data: bytes) -> None:
    leave(tmp_path, data, None)

    with pytest.raises(LogDamaged, match=r"^block 1 of "):
        BlockLog.open(tmp_path)

    assert (tmp_path / DATA).read_bytes() == data


def test_a_log_that_begins_with_another_block_is_no_block_log(tmp_path: Path) -> None:
    leave(tmp_path, packed_block(7) + bytes(8), None)

    with pytest.raises(LogDamaged, match="the file begins with block 7"):
        BlockLog.open(tmp_path)


# -- blocks that carry what looks like entries


@pytest.mark.parametrize("chained", [True, False])
@pytest.mark.parametrize("beyond", [0, 1, 8, 5000])
def test_bytes_inside_a_torn_block_are_never_taken_for_blocks(tmp_path: Path, beyond: int, chained: bool) -> None:
    write_log(tmp_path, packed_blocks(1, 5))
    data, index = files_of(tmp_path)
    length_of_name = 4
    before = (len(data) if chained else 0).to_bytes(8, "little")
    start = len(data) + 20 + 4 + length_of_name + len(before)
    entry = packed_block(7) + start.to_bytes(8, "little")
    with_entry = data + packed_block(6, before + entry + b"v" * (1 << 21))
    assert with_entry[start:].startswith(entry)
    leave(tmp_path, with_entry[: start + len(entry) + beyond], index)

    if beyond:
        assert reopened(tmp_path) == packed_blocks(1, 5)
    else:  # nothing tells this from damage to block 6
        with pytest.raises(LogDamaged, match=r"^block 6 of "):
            BlockLog.open(tmp_path)


@pytest.mark.parametrize("start", [1, 7])
def test_a_block_that_claims_to_start_within_the_first_bytes_is_damaged_and_no_fault_of_the_disk(
    tmp_path: Path, start: int
) -> None:
    write_log(tmp_path, packed_blocks(1, 3))
    data, index = files_of(tmp_path)
    end = len(packed_blocks(1, 1)[0])
    wrong = data[:end] + start.to_bytes(8, "little") + data[end + 8 :]

    leave(tmp_path, wrong, None)
    with pytest.raises(LogDamaged, match="block 1 "):
        BlockLog.open(tmp_path)
    leave(tmp_path, wrong, index)
    log = BlockLog.open(tmp_path)
    with pytest.raises(LogDamaged, match="block 1 "):
        log.read(1)
    assert [log.read(2), log.read(3)] == packed_blocks(2, 3)
    log.close()


def test_a_log_with_a_large_hole_behind_it_is_opened_without_reading_the_hole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_log(tmp_path, packed_blocks(1, 20))
    os.truncate(tmp_path / DATA, 1 << 30)
    taken: list[int] = []

    def counted(file: int, size: int, start: int) -> bytes:
        taken.append(size)
        return read_at(file, size, start)

    monkeypatch.setattr(log_repair, "read_at", counted)

    log = BlockLog.open(tmp_path)
    assert log.head_number == 20
    log.close()

    assert sum(taken) < 1 << 26
