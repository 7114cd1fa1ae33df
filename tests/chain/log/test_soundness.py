"""A flipped bit anywhere in a log is found where a block is read, by its checksum or without one, and blamed on the
block that has it.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.chain.log.block_log import BlockLog, BlockLogReader
from ledgerd.chain.log.files import LogDamaged
from ledgerd.chain.log.rolling import RollingBlockLog, RollingBlockLogReader
from tests.chain.logged_blocks import DATA, INDEX, write_log
from tests.recorded import recorded_blocks

BLOCKS = recorded_blocks("open-1")[200:260]
FIRST = 201
ROLLING, SUMS = "dlt_block_log", "dlt_block_log.sums"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of blocks with transactions."""
    folder = tmp_path_factory.mktemp("log")
    log = RollingBlockLog.open(folder)
    for number, packed in enumerate(BLOCKS, FIRST):
        log.append(number, packed)
    log.close()
    return folder


@pytest.fixture(scope="module")
def raw(folder: Path) -> bytes:
    return (folder / ROLLING).read_bytes()


def readable(folder: Path) -> list[int]:
    """The blocks that can be read one by one; a scan ends before the first that cannot."""
    log = RollingBlockLogReader.open(folder)
    found, scanned = [], []
    for number, packed in enumerate(BLOCKS, FIRST):
        try:
            assert log.read(number) == packed
            found.append(number)
        except LogDamaged:
            continue
    try:
        scanned = [number for number, _ in log.scan(FIRST, FIRST + len(BLOCKS) - 1)]
    except LogDamaged as problem:
        scanned = [*range(FIRST, problem.number)]
    assert scanned == [number for number in found if number <= (scanned or [0])[-1]]
    log.close()
    return found


ENDS = list(accumulate(len(packed) + 8 for packed in BLOCKS))


@given(data=st.data())
def test_a_flipped_bit_costs_one_block_and_is_found_with_checksums_and_without(
    folder: Path, raw: bytes, data: st.DataObject
) -> None:
    # The header of the last block is named by no other: there, the state and the checksum know.
    at = data.draw(st.integers(0, ENDS[-2] - 1))
    bit = data.draw(st.integers(0, 7))
    changed = bytearray(raw)
    changed[at] ^= 1 << bit
    block = FIRST + next(place for place, end in enumerate(ENDS) if at < end)
    sums = (folder / SUMS).read_bytes()
    try:
        (folder / ROLLING).write_bytes(changed)
        others = [number for number in range(FIRST, FIRST + len(BLOCKS)) if number != block]
        assert readable(folder) == others
        (folder / SUMS).unlink()
        assert readable(folder) == others
        log = RollingBlockLogReader.open(folder)
        assert [fault.split()[1] for fault in log.faults()] == [str(block)]
        log.close()
    finally:
        (folder / ROLLING).write_bytes(raw)
        (folder / SUMS).write_bytes(sums)


def test_every_bit_of_a_block_counts(folder: Path, raw: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the help of checksums."""
    monkeypatch.setattr("ledgerd.chain.log.files.Sums.read", lambda *of: [0] * of[3])
    begin, end = ENDS[29], ENDS[30]
    reader = RollingBlockLogReader.open(folder)
    with (folder / ROLLING).open("r+b", buffering=0) as file:
        for at in range(begin, min(end, begin + 400)):
            for bit in range(8):
                file.seek(at)
                file.write(bytes([raw[at] ^ 1 << bit]))
                with pytest.raises(LogDamaged):
                    reader.read(FIRST + 30)
            file.seek(at)
            file.write(raw[at : at + 1])
    assert reader.read(FIRST + 30) == BLOCKS[30]


@pytest.mark.parametrize("spoil", [lambda _: b"", lambda raw: raw[:8], lambda raw: b"\xff" * len(raw)])
def test_checksums_that_are_missing_or_wrong_make_no_sound_block_unreadable(
    folder: Path, spoil: Callable[[bytes], bytes]
) -> None:
    sums = (folder / SUMS).read_bytes()
    (folder / SUMS).write_bytes(spoil(sums))
    try:
        assert readable(folder) == [*range(FIRST, FIRST + len(BLOCKS))]
    finally:
        (folder / SUMS).write_bytes(sums)


def test_what_was_checked_once_is_checked_by_its_checksum_after_that(tmp_path: Path) -> None:
    """A log of the reference has none."""
    blocks = recorded_blocks("open-1")[:300]
    write_log(tmp_path, blocks)
    (tmp_path / "block_log.sums").unlink()
    log = BlockLog.open(tmp_path)
    assert [packed for _, packed in log.scan(1, 300)] == list(blocks)
    assert log.decoded == sum(map(len, blocks))
    assert [packed for _, packed in log.scan(1, 300)] == list(blocks)
    assert log.decoded == sum(map(len, blocks))
    log.close()
    reader = BlockLogReader.open(tmp_path)
    assert reader.read(77) == blocks[76]
    assert reader.decoded == 0
    reader.close()


def test_all_faults_of_a_log_are_named_whatever_its_checksums_say(tmp_path: Path) -> None:
    write_log(tmp_path, recorded_blocks("open-1")[:300])
    starts = [int.from_bytes((tmp_path / INDEX).read_bytes()[8 * n : 8 * n + 8], "little") for n in range(300)]
    data = bytearray((tmp_path / DATA).read_bytes())
    for number in (50, 51, 200):
        data[starts[number] - 30] ^= 1
    (tmp_path / DATA).write_bytes(data)
    log = BlockLog.open(tmp_path)
    assert [fault.split()[1] for fault in log.faults()] == ["50", "51", "200"]
    log.close()
