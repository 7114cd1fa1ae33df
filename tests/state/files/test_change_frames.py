"""Records of changes: parts that together say what was changed, each of bounded size."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.basics.framing.frames import LENGTH
from ledgerd.state.files.change_frames import (
    FRAME,
    PART_BYTES,
    ChangeFault,
    RecordFrame,
    RecordHead,
    opened,
    parts_of,
    read_head,
    read_part,
)
from ledgerd.state.files.recording import FileChanges

VALUES = st.one_of(
    st.none(), st.binary(max_size=40), st.integers(1, 3).map(lambda times: bytes(times * PART_BYTES // 2))
)
CHANGES = st.dictionaries(st.integers(0, 3), st.dictionaries(st.binary(min_size=1, max_size=8), VALUES, max_size=6))


@given(CHANGES)
def test_the_parts_hold_every_entry_once_and_are_small(changes: FileChanges) -> None:
    found: FileChanges = {}
    for frame in parts_of(changes):
        kind, body = opened(frame[LENGTH.size :])
        assert kind == RecordFrame.PART
        part = read_part(body)
        assert len(body) <= 3 * PART_BYTES
        for number, entries in part.items():
            assert not found.setdefault(number, {}).keys() & entries.keys()
            found[number].update(entries)
    assert found == {number: entries for number, entries in changes.items() if entries or number in found}


def test_many_small_entries_are_divided() -> None:
    changes: FileChanges = {1: {number.to_bytes(4, "big"): bytes(100) for number in range(10_000)}}
    sizes = [len(frame) for frame in parts_of(changes)]
    assert len(sizes) > 3
    assert max(sizes) < 1.2 * PART_BYTES


def test_a_head_is_read_as_it_was_written() -> None:
    head = RecordHead(b"a" * 16, b"b" * 16, 17, 4711)
    assert read_head(head.packed[FRAME.size :]) == head


@pytest.mark.parametrize("read", [read_head, read_part])
def test_other_bytes_are_a_fault(read: object) -> None:
    with pytest.raises(ChangeFault):
        read(b"\xff nonsense")  # type: ignore[operator]


def test_a_flipped_bit_is_a_fault() -> None:
    frame = RecordHead(b"a" * 16, b"b" * 16, 17, 4711).packed
    with pytest.raises(ChangeFault, match="not those that were written"):
        opened(frame[LENGTH.size : -1] + b"\0")
    for size in range(FRAME.size - LENGTH.size):
        with pytest.raises(ChangeFault, match=f"a frame of {size} bytes"):
            opened(bytes(size))
