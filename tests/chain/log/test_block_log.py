"""The block log in its files, in the hands of its writer, and in the eyes of readers."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from ledgerd.chain.log.block_log import BlockLog, BlockLogReader
from ledgerd.chain.log.files import LogDamaged, sums_path, write_at
from ledgerd.protocol.constants import BLOCK_SIZE
from ledgerd.protocol.errors import OperatorError
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
from tests.recorded import CHAINS, recorded_blocks, recorded_log


@pytest.fixture(autouse=True, scope="module")
def _spare_the_disk() -> Iterator[None]:
    with unsynced():
        yield


# -- as the reference wrote it


@pytest.mark.parametrize("chain", CHAINS)
def test_appending_every_block_of_a_chain_gives_the_reference_log(tmp_path: Path, chain: str) -> None:
    write_log(tmp_path, recorded_blocks(chain))

    assert (tmp_path / DATA).read_bytes() == recorded_log(chain)


def test_appending_every_block_of_a_chain_gives_the_reference_index(tmp_path: Path) -> None:
    write_log(tmp_path, recorded_blocks("open-2"))

    assert (tmp_path / INDEX).read_bytes() == recorded_index()


def test_a_log_of_the_reference_is_read_and_left_as_it_was(tmp_path: Path) -> None:
    write_recorded(tmp_path)

    assert reopened(tmp_path) == list(recorded_blocks("open-2"))
    assert (tmp_path / DATA).read_bytes() == recorded_log("open-2")
    assert (tmp_path / INDEX).read_bytes() == recorded_index()


def test_the_log_of_two_empty_blocks_has_the_bytes_of_the_specification(tmp_path: Path) -> None:
    second = bytearray(packed_block(2))
    second[:20] = bytes.fromhex("0000000140a875f1b0979586957c22bcec1b9184")

    write_log(tmp_path, [packed_block(1), bytes(second)])

    data = (tmp_path / DATA).read_bytes()
    assert len(data) == 258
    assert hashlib.sha256(data).hexdigest() == "f0bc098ff8a1853798c2c2ad9e56799cad21ad60bdd655f88b6dd1184ec5a627"
    assert (tmp_path / INDEX).read_bytes() == (0).to_bytes(8, "little") + (129).to_bytes(8, "little")


def test_a_new_log_is_two_files_of_one_zero_byte(tmp_path: Path) -> None:
    log = BlockLog.open(tmp_path / "state")

    assert (log.first_number, log.head_number, blocks_of(log)) == (0, 0, [])
    assert (tmp_path / "state" / DATA).read_bytes() == b"\0"
    assert (tmp_path / "state" / INDEX).read_bytes() == b"\0"


# -- reading


def test_a_block_that_the_log_does_not_hold_is_none(tmp_path: Path) -> None:
    write_log(tmp_path, packed_blocks(1, 5))

    for log in (BlockLog.open(tmp_path), BlockLogReader.open(tmp_path)):
        assert [log.read(number) for number in (-1, 0, 6, 1 << 40)] == [None] * 4


@pytest.mark.parametrize(
    ("first", "last", "numbers"), [(2, 4, [2, 3, 4]), (0, 1, [1]), (5, 9, [5]), (6, 9, []), (4, 2, [])]
)
def test_a_scan_gives_the_part_of_its_range_that_is_there(
    tmp_path: Path, first: int, last: int, numbers: list[int]
) -> None:
    blocks = packed_blocks(1, 5)
    write_log(tmp_path, blocks)

    for log in (BlockLog.open(tmp_path), BlockLogReader.open(tmp_path)):
        assert [*log.scan(first, last)] == [(number, blocks[number - 1]) for number in numbers]


def test_a_scan_passes_the_limits_of_what_it_reads_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ledgerd.chain.log.block_log.INDEX_AT_ONCE", 7)
    monkeypatch.setattr("ledgerd.chain.log.block_log.DATA_AT_ONCE", 500)
    write_recorded(tmp_path)

    assert [packed for _, packed in BlockLog.open(tmp_path).scan(1, 617)] == list(recorded_blocks("open-2"))


@pytest.mark.parametrize("at", ["previous", "end"])
def test_a_block_that_is_damaged_is_an_error_that_names_it_and_what_to_do(tmp_path: Path, at: str) -> None:
    write_recorded(tmp_path)
    start, end = (int.from_bytes(recorded_index()[8 * n : 8 * n + 8], "little") for n in (299, 300))
    data = bytearray(recorded_log("open-2"))
    data[start + 3 if at == "previous" else end - 1] ^= 0x40
    (tmp_path / DATA).write_bytes(data)

    for log in (BlockLog.open(tmp_path), BlockLogReader.open(tmp_path)):
        assert log.read(299) == recorded_blocks("open-2")[298]
        assert log.read(301) == recorded_blocks("open-2")[300]
        with pytest.raises(
            LogDamaged, match=r"^block 300 of .*block_log cannot be read .*delete the \.index file"
        ) as error:
            log.read(300)
        assert error.value.number == 300
        scan = log.scan(290, 310)
        assert [next(scan)[0] for _ in range(10)] == [*range(290, 300)]
        with pytest.raises(LogDamaged, match=r"^block 300 of "):
            next(scan)


@pytest.mark.parametrize("entry", [b"\xff" * 8, bytes(8), (1 << 62).to_bytes(8, "little"), (131).to_bytes(8, "little")])
def test_a_wrong_place_in_the_index_is_an_error_and_no_wrong_block(tmp_path: Path, entry: bytes) -> None:
    write_log(tmp_path, packed_blocks(1, 9))
    log = BlockLog.open(tmp_path)
    index = bytearray((tmp_path / INDEX).read_bytes())
    index[8 * 4 : 8 * 5] = entry
    (tmp_path / INDEX).write_bytes(index)

    for reader in (log, BlockLogReader.open(tmp_path)):
        for number in (4, 5):
            with pytest.raises(LogDamaged, match=f"^block {number} of "):
                reader.read(number)
        with pytest.raises(LogDamaged):
            list(reader.scan(1, 9))


# -- writing


@pytest.mark.parametrize("number", [0, 2, 5, 7])
def test_a_block_that_does_not_follow_the_head_is_refused(tmp_path: Path, number: int) -> None:
    log = BlockLog.open(tmp_path)
    for following in range(1, 6 if number > 2 else 1):
        log.append(following, packed_block(following))

    with pytest.raises(ValueError, match=r"cannot follow|not the bytes"):
        log.append(number, packed_block(max(1, number)))

    assert log.head_number == (5 if number > 2 else 0)


def test_bytes_of_another_block_are_refused(tmp_path: Path) -> None:
    log = BlockLog.open(tmp_path)

    with pytest.raises(ValueError, match="not the bytes of block 1"):
        log.append(1, packed_block(2))


def test_a_block_may_be_as_long_as_readers_take(tmp_path: Path) -> None:
    room = BLOCK_SIZE - len(packed_block(1, b"v" * (1 << 21))) + (1 << 21)
    largest = packed_block(1, b"v" * room)
    assert len(largest) == BLOCK_SIZE
    write_log(tmp_path, [largest, packed_block(2)])
    (tmp_path / INDEX).unlink()

    assert reopened(tmp_path) == [largest, packed_block(2)]
    with pytest.raises(ValueError, match="6291457 bytes"):
        BlockLog.open(tmp_path).append(3, packed_block(3, b"v" * (room + 1)))


@pytest.mark.parametrize("blocks", [0, 3])
@pytest.mark.parametrize("refused", [1, 2])
def test_an_append_that_the_disk_refuses_leaves_the_log_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, blocks: int, refused: int
) -> None:
    write_log(tmp_path, packed_blocks(1, blocks))
    before = (tmp_path / DATA).read_bytes(), (tmp_path / INDEX).read_bytes()
    log = BlockLog.open(tmp_path)
    writes = 0

    def full_disk(file: int, data: bytes, place: int) -> None:
        nonlocal writes
        writes += 1
        if writes < refused:
            os.pwrite(file, data, place)
            return
        os.pwrite(file, data[: len(data) // 2], place)
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("ledgerd.chain.log.block_log.write_at", full_disk)
        with pytest.raises(OperatorError, match=r"No space left on device.*check the disk's free space"):
            log.append(blocks + 1, packed_block(blocks + 1))

    assert ((tmp_path / DATA).read_bytes(), (tmp_path / INDEX).read_bytes()) == before
    log.append(blocks + 1, packed_block(blocks + 1))
    assert len(blocks_of(log)) == blocks + 1


@pytest.mark.parametrize("at_once", [1 << 20, 300])
def test_blocks_that_come_together_are_written_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr("ledgerd.chain.log.block_log.DATA_AT_ONCE", at_once)
    blocks = packed_blocks(1, 10)
    write_log(tmp_path / "singly", blocks)
    written: list[int] = []

    def counted(file: int, data: bytes, place: int) -> None:
        written.append(len(data))
        write_at(file, data, place)

    with monkeypatch.context() as patch:
        patch.setattr("ledgerd.chain.log.block_log.write_at", counted)
        log = BlockLog.open(tmp_path / "together")
        log.extend([*enumerate(blocks[:2], start=1)])
        log.extend([*enumerate(blocks[2:], start=3)])

    assert len(written) == (4 if at_once > 300 else 8)
    assert blocks_of(log) == blocks
    for name in (DATA, INDEX, sums_path(tmp_path, log.kind).name):
        assert (tmp_path / "together" / name).read_bytes() == (tmp_path / "singly" / name).read_bytes()


def test_a_sync_brings_both_files_to_the_disk_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = BlockLog.open(tmp_path)
    synced: list[int] = []
    monkeypatch.setattr("os.fsync", lambda file: synced.append(os.fstat(file).st_size))

    log.sync()
    assert synced == []
    log.append(1, packed_block(1))
    assert synced == []
    log.sync()
    assert synced == [129, 8]
    log.sync()
    assert synced == [129, 8]


def test_a_sync_that_fails_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: int) -> None:
        raise OSError(5, "Input/output error")

    log = BlockLog.open(tmp_path)
    log.append(1, packed_block(1))
    monkeypatch.setattr("os.fsync", broken)

    with pytest.raises(OperatorError, match="Input/output error"):
        log.sync()


def test_a_closed_log_takes_no_block(tmp_path: Path) -> None:
    log = BlockLog.open(tmp_path)
    log.close()
    log.close()

    with pytest.raises(ValueError, match="is closed"):
        log.append(1, packed_block(1))


# -- readers beside the writer


def test_a_reader_sees_what_is_appended_after_it_opened(tmp_path: Path) -> None:
    reader = BlockLogReader.open(tmp_path)
    assert (reader.first_number, reader.head_number, reader.read(1)) == (0, 0, None)
    log = BlockLog.open(tmp_path)
    assert (reader.head_number, blocks_of(reader)) == (0, [])

    for number in range(1, 10):
        log.append(number, packed_block(number))

        assert (reader.first_number, reader.head_number) == (1, number)
        assert reader.read(number) == packed_block(number)
    assert blocks_of(reader) == [packed_block(number) for number in range(1, 10)]


def test_a_reader_sees_no_block_before_it_is_complete(tmp_path: Path) -> None:
    write_log(tmp_path, packed_blocks(1, 4))
    data, index = (tmp_path / DATA).read_bytes(), (tmp_path / INDEX).read_bytes()
    write_log(tmp_path / "next", packed_blocks(1, 5))
    data_after, index_after = ((tmp_path / "next" / name).read_bytes() for name in (DATA, INDEX))
    reader = BlockLogReader.open(tmp_path)

    for size in range(len(data), len(data_after) + 1):
        (tmp_path / DATA).write_bytes(data_after[:size])
        assert (reader.head_number, reader.read(5), len(blocks_of(reader))) == (4, None, 4)
    for size in range(len(index), len(index_after)):
        (tmp_path / INDEX).write_bytes(index_after[:size])
        assert (reader.head_number, reader.read(5), len(blocks_of(reader))) == (4, None, 4)
    (tmp_path / INDEX).write_bytes(index_after)
    assert (reader.head_number, reader.read(5)) == (5, packed_blocks(5, 5)[0])


WRITER = """
import sys
from pathlib import Path
from ledgerd.chain.log.block_log import BlockLog
from tests.chain.logged_blocks import packed_blocks
log = BlockLog.open(Path(sys.argv[1]))
for number, packed in enumerate(packed_blocks(1, 3000), 1):
    log.append(number, packed)
"""


def test_a_reader_in_another_process_than_the_writer_reads_every_block_it_sees(tmp_path: Path) -> None:
    blocks = packed_blocks(1, 3000)
    reader = BlockLogReader.open(tmp_path)

    with subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)]) as writer:  # noqa: S603 - our own text
        while reader.head_number < 3000:
            assert writer.poll() in (None, 0)
            head = reader.head_number
            assert [*reader.scan(head - 5, head)] == [*enumerate(blocks[max(0, head - 6) : head], max(1, head - 5))]
            assert reader.read(head) == (blocks[head - 1] if head else None)
            assert reader.read(head // 2) == (blocks[head // 2 - 1] if head > 1 else None)
    assert blocks_of(reader) == blocks


# -- any history


class Histories(RuleBasedStateMachine):
    """Appends, openings and crashes that cut the files anywhere, against a list of blocks."""

    def __init__(self) -> None:
        super().__init__()
        self.place = TemporaryDirectory()
        self.folder = Path(self.place.name)
        self.model: list[bytes] = []
        self.log = BlockLog.open(self.folder)
        self.reader = BlockLogReader.open(self.folder)

    @rule(validators=st.lists(st.binary(min_size=1, max_size=300), max_size=4))
    def append(self, validators: list[bytes]) -> None:
        for validator in validators:
            self.model.append(packed_block(len(self.model) + 1, validator))
            self.log.append(len(self.model), self.model[-1])

    @rule()
    def open_again(self) -> None:
        self.log.close()
        self.log = BlockLog.open(self.folder)
        assert self.log.repaired[2:] == (0, 0)

    @rule(chance=st.data())
    def crash(self, chance: st.DataObject) -> None:
        self.log.close()
        data = (self.folder / DATA).read_bytes()
        index = (self.folder / INDEX).read_bytes()
        size = chance.draw(st.integers(0, len(data)), "bytes of data that are left")
        (self.folder / DATA).write_bytes(data[:size])
        (self.folder / INDEX).write_bytes(
            chance.draw(st.integers(0, len(index)).map(lambda left: index[:left]) | st.binary(max_size=40), "the index")
        )
        ends = accumulate(len(packed) + 8 for packed in self.model)
        self.model = self.model[: sum(end <= size for end in ends)]
        self.log = BlockLog.open(self.folder)

    @invariant()
    def holds_the_blocks_of_the_model(self) -> None:
        for log in (self.log, self.reader):
            assert log.head_number == len(self.model)
            assert blocks_of(log) == self.model
            assert log.read(len(self.model) + 1) is None

    def teardown(self) -> None:
        self.log.close()
        self.reader.close()
        self.place.cleanup()


Histories.TestCase.settings = settings(max_examples=60, stateful_step_count=20)
TestAnyHistoryOfALogIsThatOfAList = Histories.TestCase
