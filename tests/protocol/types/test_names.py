"""Account names: their two orders, their form on the wire, and what makes one valid."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.codec import DecodeError, codec_of
from ledgerd.codec.kinds import Reading
from ledgerd.protocol.types.names import (
    AccountName,
    cut_name,
    is_valid_created_name,
    is_valid_domain,
    is_valid_name,
    text_order,
    word_order,
)

NAMES = codec_of(AccountName)
UNSORTED = ["alice", "bob", "a1", "viz", "committee", "on1x", "on1x.viz", "abcdefgh", "abcdefghi", "b"]
IN_WORD_ORDER = ["b", "a1", "bob", "viz", "on1x", "alice", "committee", "abcdefgh", "abcdefghi", "on1x.viz"]


def test_word_order_is_that_of_the_reference() -> None:
    assert sorted(UNSORTED, key=word_order) == IN_WORD_ORDER


def test_text_order_is_alphabetical_with_the_shorter_first() -> None:
    assert sorted(["b", "ab", "a", "a.b", "a-b"], key=text_order) == ["a", "a-b", "a.b", "ab", "b"]


@given(st.binary(max_size=40))
def test_a_name_of_any_bytes_is_stored_cut_and_packs_to_what_it_is(raw: bytes) -> None:
    reading = Reading()
    name, _ = NAMES._record.reader(bytes([len(raw)]) + raw, 0, reading)  # noqa: SLF001 - to see the note
    stored = raw[:32].split(b"\0")[0]
    assert NAMES.encode(name.value) == bytes([len(stored)]) + stored
    assert reading.normalised == (stored != raw)


def test_a_name_longer_than_its_bytes_is_an_error() -> None:
    with pytest.raises(DecodeError):
        NAMES.decode(b"\x05abcd")


def test_json_names_are_cut_to_thirty_two_bytes() -> None:
    assert NAMES.from_json("a" * 40) == "a" * 32
    assert NAMES.from_json(None) == ""
    assert cut_name("é" * 17) == "é" * 16


@pytest.mark.parametrize(
    "name", ["ab", "a1", "a-b", "a--b", "viz", "ab.cd", "a0.b-1.cc", "a" * 32, "x-9", "abc.abc.abc"]
)
def test_a_valid_name(name: str) -> None:
    assert is_valid_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "",
        "a",
        "a" * 33,
        "1a",
        "-a",
        "a-",
        "ab.",
        ".ab",
        "ab..cd",
        "ab.c",
        "Ab",
        "aB",
        "a_b",
        "ab.1c",
        "ab.c-",
        "ä",
        "a\0",
    ],
)
def test_an_invalid_name(name: str) -> None:
    assert not is_valid_name(name)


def test_a_new_account_needs_a_third_byte() -> None:
    assert not is_valid_created_name("ab")
    assert is_valid_created_name("abc")
    assert is_valid_created_name("a" * 32)
    assert not is_valid_created_name("a" * 33)


def test_a_name_with_a_dot_belongs_to_what_follows_the_first_dot() -> None:
    assert is_valid_domain("alice", "bob")
    assert is_valid_domain("alice.bob", "bob")
    assert is_valid_domain("alice.bob.viz", "bob.viz")
    assert not is_valid_domain("alice.bob.viz", "viz")
