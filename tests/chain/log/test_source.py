"""Block logs of others: read with their index and without, and what is said of damaged ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ledgerd.chain.log.source import USUAL_ENTRY, LogSource
from ledgerd.protocol.errors import OperatorError
from tests.recorded import FIRST_LATER, LAST_LATER, later_blocks, recorded_blocks, recorded_log

BLOCKS = recorded_blocks("open-2")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "a log of somebody"
    path.write_bytes(recorded_log("open-2"))
    return path


def index_of(log: Path) -> Path:
    return log.with_name(log.name + ".index")


def write_index(log: Path, count: int) -> None:
    place, places = 0, []
    for packed in BLOCKS[:count]:
        places.append(place.to_bytes(8, "little"))
        place += len(packed) + 8
    index_of(log).write_bytes(b"".join(places))


@pytest.mark.parametrize("indexed", [0, 3, len(BLOCKS)])
def test_every_range_is_read_with_or_without_an_index(log: Path, indexed: int) -> None:
    write_index(log, indexed)
    with LogSource(log) as source:
        assert source.head_number == len(BLOCKS)
        for first, last in ((1, 5), (3, 3), (100, 120), (617, 617), (610, 9999), (618, 700)):
            assert [packed for _, packed in source.scan(first, last)] == list(BLOCKS[first - 1 : last])
            assert [number for number, _ in source.scan(first, last)] == list(range(first, min(last, 617) + 1))


def test_a_log_is_not_changed_by_reading_it(log: Path) -> None:
    with LogSource(log) as source:
        assert len(list(source.scan(1, 617))) == 617
    assert log.read_bytes() == recorded_log("open-2")
    assert not index_of(log).exists()


def test_an_empty_log_has_no_blocks(tmp_path: Path) -> None:
    for content in (b"", b"\0"):
        (tmp_path / "log").write_bytes(content)
        with LogSource(tmp_path / "log") as source:
            assert source.head_number == 0
            assert list(source.scan(1, 10)) == []


def test_a_torn_log_names_the_file_and_the_block(log: Path) -> None:
    log.write_bytes(recorded_log("open-2")[:-3])
    with pytest.raises(OperatorError, match="a log of somebody: its last block"):
        LogSource(log)
    damaged = bytearray(recorded_log("open-2"))
    place = sum(len(packed) + 8 for packed in BLOCKS[:9]) + len(BLOCKS[9])
    damaged[place] ^= 1
    log.write_bytes(damaged)
    with LogSource(log) as source, pytest.raises(OperatorError, match="block 10 is torn"):
        list(source.scan(1, 20))


def test_an_index_of_another_log_is_found_out(log: Path) -> None:
    write_index(log, 5)
    index_of(log).write_bytes(index_of(log).read_bytes()[8:])
    with LogSource(log) as source, pytest.raises(OperatorError, match="block 2 stands where block 1 should"):
        list(source.scan(1, 3))


def test_a_file_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(OperatorError, match="nowhere cannot be read"):
        LogSource(tmp_path / "nowhere")


@pytest.mark.parametrize("indexed", [0, 300, len(BLOCKS)])
@pytest.mark.parametrize("cut", [1, 8, 9, 200])
def test_a_torn_log_is_read_up_to_the_damage_where_that_is_asked(log: Path, indexed: int, cut: int) -> None:
    write_index(log, indexed)
    log.write_bytes(recorded_log("open-2")[:-cut])
    whole = len(BLOCKS) - 1 if cut <= len(BLOCKS[-1]) + 8 else len(BLOCKS) - 2

    with LogSource(log, up_to_damage=True) as source:
        assert (source.first_number, source.head_number) == (1, whole)
        assert source.torn == len(log.read_bytes()) - sum(len(packed) + 8 for packed in BLOCKS[:whole])
        assert [packed for _, packed in source.scan(600, 9999)] == list(BLOCKS[599:whole])


@pytest.mark.parametrize("indexed", [False, True])
def test_a_rolling_log_is_read_from_its_first_block_on(tmp_path: Path, indexed: bool) -> None:
    blocks, data, places = later_blocks(), b"", [FIRST_LATER]
    for packed in blocks:
        places.append(len(data))
        data += packed + len(data).to_bytes(8, "little")
    log = tmp_path / "dlt_block_log"
    log.write_bytes(data)
    if indexed:
        index_of(log).write_bytes(b"".join(place.to_bytes(8, "little") for place in places))

    with LogSource(log) as source:
        assert (source.first_number, source.head_number) == (FIRST_LATER, LAST_LATER)
        assert [number for number, _ in source.scan(3000, 3002)] == [3000, 3001, 3002]
        assert [packed for _, packed in source.scan(1, 9999)] == list(blocks)


class CountedBytes(bytes):
    """Counts the bytes that are copied out of them."""

    taken = 0

    def __getitem__(self, place: Any) -> Any:
        found = super().__getitem__(place)
        self.taken += len(found) if isinstance(found, bytes) else 0
        return found


@pytest.mark.parametrize(
    ("indexed", "most"), [(len(BLOCKS), 2 * len(recorded_log("open-2"))), (0, USUAL_ENTRY * len(BLOCKS) * 2)]
)
def test_little_more_of_a_log_is_copied_than_its_blocks(
    monkeypatch: pytest.MonkeyPatch, log: Path, indexed: int, most: int
) -> None:
    write_index(log, indexed)
    with LogSource(log) as source:
        counted = CountedBytes(log.read_bytes())
        monkeypatch.setattr(source, "_data", counted)
        assert [packed for _, packed in source.scan(1, 9999)] == list(BLOCKS)
        assert counted.taken <= most
        monkeypatch.undo()
