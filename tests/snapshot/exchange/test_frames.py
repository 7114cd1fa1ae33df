"""Frames: the bytes that the specification gives, and every frame that is no frame."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.protocol.types.identifiers import NO_BLOCK
from ledgerd.snapshot.exchange.frames import (
    AccessDenied,
    DataReply,
    DataRequest,
    Denial,
    InfoReply,
    InfoRequest,
    MessageReader,
    NoSnapshot,
    ProtocolFault,
    SnapshotMessage,
    packed,
)

SPECIFIED: list[tuple[SnapshotMessage, str]] = [
    (InfoRequest(), "0000000001000000"),
    (
        InfoReply(79_900_000, NO_BLOCK, hashlib.sha256(b"abc").digest(), 12_345_678),
        (
            "4000000002000000602dc3040000000000000000000000000000000000000000"
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad4e61bc0000000000"
        ),
    ),
    (DataRequest(79_900_000, 1_048_576, 1_048_576), "1000000003000000602dc304000010000000000000001000"),
    (
        DataReply(1_048_576, bytes.fromhex("789c0102"), is_last=True),
        "0e00000004000000000010000000000004789c010201",
    ),
    (NoSnapshot(), "0000000005000000"),
    (AccessDenied(Denial.TOO_OFTEN), "040000000600000004000000"),
]
"""Spec 06, section 24.1."""

LARGEST = 1 << 26
NUMBERS = st.integers(0, (1 << 32) - 1)
SIZES = st.integers(0, (1 << 64) - 1)
MESSAGES = st.one_of(
    st.just(InfoRequest()),
    st.builds(InfoReply, NUMBERS, st.binary(min_size=20, max_size=20), st.binary(min_size=32, max_size=32), SIZES),
    st.builds(DataRequest, NUMBERS, SIZES, NUMBERS),
    st.builds(DataReply, SIZES, st.binary(max_size=300), st.booleans()),
    st.just(NoSnapshot()),
    st.builds(AccessDenied, NUMBERS),
)


def read(data: bytes, largest: int = LARGEST) -> list[SnapshotMessage]:
    reader = MessageReader(largest)
    reader.feed(data)
    return list(iter(reader.next, None))


def outcome(data: bytes) -> list[SnapshotMessage] | str:
    try:
        return read(data)
    except ProtocolFault as fault:
        return str(fault)


@pytest.mark.parametrize(("message", "frame"), SPECIFIED)
def test_a_message_has_the_bytes_of_the_specification(message: SnapshotMessage, frame: str) -> None:
    assert packed(message).hex() == frame
    assert read(bytes.fromhex(frame)) == [message]


@given(messages=st.lists(MESSAGES, max_size=5), cut=st.integers(1, 40))
def test_messages_come_out_as_they_went_in_however_they_are_cut(messages: list[SnapshotMessage], cut: int) -> None:
    data = b"".join(packed(message) for message in messages)
    reader = MessageReader(LARGEST)
    found = []

    for start in range(0, len(data), cut):
        reader.feed(data[start : start + cut])
        found += list(iter(reader.next, None))

    assert found == messages


@given(data=st.binary(max_size=200))
def test_any_bytes_are_messages_or_a_fault(data: bytes) -> None:
    assert outcome(data) != ""


def test_bytes_after_the_last_field_are_ignored() -> None:
    assert read(bytes.fromhex("03000000" + "01000000" + "ffffff")) == [InfoRequest()]
    assert read(bytes.fromhex("05000000" + "06000000" + "01000000" + "ff")) == [AccessDenied(Denial.UNTRUSTED)]


@pytest.mark.parametrize(
    ("frame", "fault"),
    [
        ("0100010001000000", "a frame of 65537 bytes, where 65536 are the most"),
        ("0000000007000000", "type 7"),
        ("0000000000000000", "type 0"),
        ("030000000600000000ff00", "type 6 that cannot be read"),
        ("08000000040000000000000000000000", "type 4 that cannot be read"),
        ("090000000400000000000000000000008f", "type 4 that cannot be read"),
        ("0c0000000400000000000000000000000461626364"[: 2 * 20], "type 4 that cannot be read"),
        ("0a00000004000000000000000000000000ff", "type 4 that cannot be read"),
        ("0a000000040000000000000000000000ff02", "type 4 that cannot be read"),
    ],
)
def test_what_is_no_message_is_a_fault(frame: str, fault: str) -> None:
    with pytest.raises(ProtocolFault, match=fault):
        read(bytes.fromhex(frame), 65_536)


def test_the_reason_of_a_denial_is_told_in_words() -> None:
    assert [AccessDenied(reason).text for reason in (3, 77)] == ["too many sessions from this address", "reason 77"]
