"""Versions: their text both ways, what the wire keeps of them, and the vote for one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.codec import codec_of
from ledgerd.codec.errors import ASSERTION
from ledgerd.codec.json.errors import JsonError
from ledgerd.protocol.types.versions import (
    HardforkVersion,
    HardforkVersionVote,
    Version,
    hardfork_version_of,
    parse_version_text,
    version_number,
    version_text,
)

NOT_DOTTED = "(dot_a == '.' || dot_a == '_') && dot_a == dot_b: Variant does not contain proper dotted decimal format"

UINT32 = st.integers(0, 2**32 - 1)


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0.0.0"),
        (0x01000000, "1.0.0"),
        (0x02060000, "2.6.0"),
        (0x03020000, "3.2.0"),
        (0x03020001, "3.2.1"),
        (0xFFFFFFFF, "255.255.65535"),
    ],
)
def test_a_version_is_printed_with_dots(number: int, text: str) -> None:
    assert version_text(number) == text
    assert codec_of(Version).to_json(number) == f'"{text}"'
    assert codec_of(HardforkVersion).to_json(number) == f'"{text}"'


def test_a_version_is_made_of_its_parts() -> None:
    assert version_number(3, 2, 7) == 0x03020007


@given(UINT32)
def test_a_version_is_read_as_it_is_printed(number: int) -> None:
    assert parse_version_text(version_text(number)) == number
    assert parse_version_text(version_text(number).replace(".", "_")) == number


@given(UINT32)
def test_json_loses_the_release_of_a_hardfork_version(number: int) -> None:
    assert codec_of(HardforkVersion).from_json(version_text(number)) == hardfork_version_of(number)
    assert codec_of(Version).from_json(version_text(number)) == number


@given(UINT32)
def test_the_wire_keeps_the_release_of_a_hardfork_version(number: int) -> None:
    raw = number.to_bytes(4, "little")

    assert codec_of(HardforkVersion).decode(raw) == number
    assert codec_of(HardforkVersion).encode(number) == raw


def test_hardfork_versions_are_compared_without_the_release_of_the_program() -> None:
    program = version_number(3, 2, 5)

    assert version_number(3, 2) == hardfork_version_of(program)
    assert version_number(3, 3) > hardfork_version_of(program)
    assert version_number(3, 1, 9) < hardfork_version_of(program)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        (" 1. 2 .3", version_number(1, 2, 3)),
        ("+1.02.003", version_number(1, 2, 3)),
        ("00000000000000000001.2.3", version_number(1, 2, 3)),
        ("-4294967295.2.3", version_number(1, 2, 3)),
        ("1.2.", version_number(1, 2)),
        ("1.2.\n", version_number(1, 2)),
        ("1.2.-", version_number(1, 2)),
    ],
)
def test_what_a_stream_reads_is_a_version(text: str, number: int) -> None:
    assert parse_version_text(text) == number


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", NOT_DOTTED),
        ("3", NOT_DOTTED),
        ("3.2", NOT_DOTTED),
        ("3.2_0", NOT_DOTTED),
        ("3-2-0", NOT_DOTTED),
        ("v3.2.0", NOT_DOTTED),
        ("1234", NOT_DOTTED),
        ("4294967296.2.0", NOT_DOTTED),
        ("3.4294967296.0", NOT_DOTTED),
        (f"{'9' * 5000}.0.0", NOT_DOTTED),
        ("\u0663.2.0", NOT_DOTTED),
        ("256.2.0", "major <= 0xFF: Major version is out of range"),
        ("-1.2.0", "major <= 0xFF: Major version is out of range"),
        ("3.256.0", "hardfork <= 0xFF: Hardfork version is out of range"),
        ("3.2.65536", "revision <= 0xFFFF: Revision version is out of range"),
        ("3.2.4294967296", "revision <= 0xFFFF: Revision version is out of range"),
        ("3.2.0 ", "s.eof(): Extra information at end of version string"),
        ("3.2.0.1", "s.eof(): Extra information at end of version string"),
        ("3.2.x", "s.eof(): Extra information at end of version string"),
    ],
)
def test_what_a_stream_does_not_read_is_refused(text: str, message: str) -> None:
    with pytest.raises(JsonError) as refusal:
        parse_version_text(text)
    assert refusal.value.code == ASSERTION
    assert refusal.value.text == message


def test_the_largest_parts_are_read() -> None:
    assert parse_version_text("255.255.65535") == 0xFFFFFFFF


def test_a_recorded_vote_is_read_and_printed() -> None:
    codec = codec_of(HardforkVersionVote)
    vote = HardforkVersionVote(version_number(1, 2), 1_538_906_400)

    assert codec.to_json(vote) == '{"hf_version":"1.2.0","hf_time":"2018-10-07T10:00:00"}'
    assert codec.from_json({"hf_version": "1.2.0", "hf_time": "2018-10-07T10:00:00"}) == vote


def test_a_vote_takes_eight_bytes() -> None:
    codec = codec_of(HardforkVersionVote)
    vote = HardforkVersionVote(version_number(3, 2), 1_778_961_600)

    assert codec.encode(vote).hex() == "00000203c0cc086a"
    assert codec.decode_exactly(bytes.fromhex("00000203c0cc086a")) == vote
