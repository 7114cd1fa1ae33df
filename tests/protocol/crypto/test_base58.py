"""Base58: Bitcoin's alphabet, and what the reference tolerates around it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.codec.errors import PARSE_ERROR, DecodeError, EncodeError
from ledgerd.protocol.crypto import base58


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("", ""),
        ("00", "1"),
        ("0000", "11"),
        ("39", "z"),
        ("3a", "21"),
        ("61", "2g"),
        ("626262", "a3gV"),
        ("636363", "aPEr"),
        ("73696d706c792061206c6f6e6720737472696e67", "2cFupjhnEsSn59qHXstmK2ffpLv2"),
        ("00eb15231dfceb60925886b67d065299925915aeb172c06647", "1NS17iag9jJgTHD1VXjvLCEnZuQ3rJDE9L"),
        ("00000000000000000000", "1111111111"),
    ],
)
def test_bytes_and_their_text(data: str, text: str) -> None:
    assert base58.encode(bytes.fromhex(data)) == text
    assert base58.decode(text).hex() == data


@given(st.binary(max_size=200))
def test_what_is_encoded_is_decoded_again(data: bytes) -> None:
    assert base58.decode(base58.encode(data)) == data


@given(st.text(base58.ALPHABET, max_size=300))
def test_what_is_decoded_is_encoded_again(text: str) -> None:
    assert base58.encode(base58.decode(text)) == text


@pytest.mark.parametrize("length", range(70))
def test_texts_of_any_length_are_the_number_of_their_digits(length: int) -> None:
    for digits in ([57] * length, [0, *[57] * length][:length], [place * 31 % 58 for place in range(length)]):
        number = 0
        for digit in digits:
            number = 58 * number + digit
        data = base58.decode("".join(base58.ALPHABET[digit] for digit in digits))
        assert (int.from_bytes(data), len(data) - len(data.lstrip(b"\0"))) == (number, _zeros_before(digits))


def _zeros_before(digits: list[int]) -> int:
    return next((place for place, digit in enumerate(digits) if digit), len(digits))


@pytest.mark.parametrize("text", [" a3gV", "a3gV ", "\t\n\v\f\r a3gV\r\f\v\n\t ", "a3gV\0", "a3gV \0 O0Il"])
def test_whitespace_around_a_text_and_all_that_follows_a_nul_are_ignored(text: str) -> None:
    assert base58.decode(text) == b"bbb"


@pytest.mark.parametrize("text", ["", "   ", "\0a3gV", " \0"])
def test_a_text_of_nothing_decodes_to_nothing(text: str) -> None:
    assert base58.decode(text) == b""


@pytest.mark.parametrize(
    "text",
    ["a3 gV", "0", "O", "I", "l", "a3gV+", "a3gV\u00a0", "\u2003a3gV", "a3gV\x1c", "é", "\udcff", "a3gV?"],
)
def test_any_other_character_is_a_parse_error(text: str) -> None:
    with pytest.raises(DecodeError) as caught:
        base58.decode(text)
    assert caught.value.code == PARSE_ERROR
    assert caught.value.text == f"Unable to decode base58 std::string {text}"


def test_a_text_as_long_as_a_large_transaction_is_read() -> None:
    data = b"\0\0" + bytes(range(1, 251)) * 200
    number, text = int.from_bytes(data, "big"), ""
    chunk = 58**400
    while number:
        number, low = divmod(number, chunk)
        digits = base58.encode(low.to_bytes(300, "big")).lstrip("1")
        text = (digits.rjust(400, "1") if number else digits) + text
    assert base58.decode("11" + text) == data


def test_a_text_longer_than_any_block_is_refused_unread() -> None:
    with pytest.raises(DecodeError, match="too many for base58"):
        base58.decode("2" * (base58.LONGEST_TEXT + 1))


def test_more_bytes_than_a_memo_can_carry_are_not_written() -> None:
    assert base58.decode(base58.encode(b"\1" * base58.LONGEST_DATA)) == b"\1" * base58.LONGEST_DATA
    with pytest.raises(EncodeError, match="too many for base58"):
        base58.encode(b"\1" * (base58.LONGEST_DATA + 1))
