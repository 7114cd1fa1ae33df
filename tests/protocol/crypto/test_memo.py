"""Encrypted memos: recorded texts, who can read them, and what damages them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledgerd.codec.errors import OUT_OF_RANGE, PARSE_ERROR, DecodeError, EncodeError
from ledgerd.protocol.crypto import base58, memo
from ledgerd.protocol.crypto.keys import NULL_KEY, InvalidKey, PrivateKey, PublicKey

OWN = PrivateKey.from_wif("5KYZdUEo39z3FPrtuX2QbbwGnNP5zTd7yyr2SC1j299sBCnWjss")
ALICE = PrivateKey.from_password("alice", "active", "password")
BRAIN = PrivateKey.from_brain_key("A B C")
STRANGER = PrivateKey.from_brain_key("A B C", 1)

TO_ONESELF = (
    "#HU6pdQ4Hh8cFrDVooekRPVZu4BdrhAe9RxrWrei2CwfAApAPdM4PT5mSV9cV3tTuWKotYQF6suyM4JHFBZz4pcwyezPzuZ2na7uw"
    "hRcLqFoqCam1VU3eCLjVNqcgUNbH3"
)
HELLO = (
    "#F1oDHf4VVZjMeyiSi99JgA6tuc8caMssR1Q6umnaVEBGmwjyACbCJ88k1RLSzfFrg3WnTnyv7LusYJtLzCS4uK8hkWe2nDtzEvQLy"
    "3ewrwFyUCXGQBBgxUE1iaXpGY3UD"
)


def repacked(text: str, start: int, patch: bytes) -> str:
    binary = bytearray(base58.decode(text[1:]))
    binary[start : start + len(patch)] = patch
    return "#" + base58.encode(bytes(binary))


def test_a_recorded_memo_to_oneself() -> None:
    assert memo.encode("\u7231", OWN, OWN.public, 1462976530069648) == TO_ONESELF
    assert memo.decode(TO_ONESELF, OWN) == "\u7231"


def test_a_recorded_memo_is_read_by_sender_and_recipient() -> None:
    assert memo.encode("hello", ALICE, BRAIN.public, 1700000000000000) == HELLO
    assert memo.decode(HELLO, ALICE) == memo.decode(HELLO, BRAIN) == "hello"
    assert int.from_bytes(base58.decode(HELLO[1:])[74:78], "little") == 4065907884


def test_a_memo_is_not_read_by_anyone_else() -> None:
    with pytest.raises(DecodeError, match="neither from nor to this key"):
        memo.decode(HELLO, STRANGER)


def test_two_keys_share_a_secret() -> None:
    assert memo.shared_secret(ALICE, BRAIN.public) == memo.shared_secret(BRAIN, ALICE.public)
    assert memo.shared_secret(ALICE, BRAIN.public) != memo.shared_secret(ALICE, STRANGER.public)


@settings(max_examples=40)
@given(st.text(max_size=200), st.integers(0, 2**64 - 1))
def test_every_text_comes_back(text: str, nonce: int) -> None:
    written = memo.encode(text, ALICE, BRAIN.public, nonce)
    assert memo.decode(written, BRAIN) == memo.decode(written, ALICE) == text


def test_bytes_that_are_no_text_come_back() -> None:
    text = b"\xff\x00\xc3".decode("utf-8", "surrogateescape")
    assert memo.decode(memo.encode(text, ALICE, BRAIN.public, 7), BRAIN) == text


def test_a_plain_memo_is_not_decoded() -> None:
    with pytest.raises(DecodeError, match="not encrypted"):
        memo.decode("hello", ALICE)


def test_a_memo_that_only_begins_with_the_mark_is_not_decoded() -> None:
    with pytest.raises(DecodeError) as caught:
        memo.decode("#1 place", ALICE)
    assert caught.value.code == PARSE_ERROR


@pytest.mark.parametrize("size", [0, 1, 77, 78, 79, 94])
def test_a_memo_cut_short_is_refused(size: int) -> None:
    with pytest.raises(DecodeError) as caught:
        memo.decode("#" + base58.encode(base58.decode(HELLO[1:])[:size]), BRAIN)
    assert caught.value.code == OUT_OF_RANGE


def test_bytes_after_a_memo_are_ignored() -> None:
    assert memo.decode("#" + base58.encode(base58.decode(HELLO[1:]) + b"more"), BRAIN) == "hello"


@pytest.mark.parametrize("start", [66, 73, 74, 77])
def test_a_wrong_nonce_or_check_is_refused(start: int) -> None:
    with pytest.raises(DecodeError, match="another pair of keys"):
        memo.decode(repacked(HELLO, start, b"\xee"), BRAIN)


def test_a_damaged_ciphertext_is_refused() -> None:
    for patch in (bytes(16), b"\xff" * 16):
        with pytest.raises(DecodeError, match=r"damaged|cut short"):
            memo.decode(repacked(HELLO, 79, patch), BRAIN)


def test_a_ciphertext_that_is_no_whole_number_of_blocks_is_refused() -> None:
    with pytest.raises(DecodeError, match="damaged"):
        memo.decode(repacked(HELLO, 78, b"\x0f"), BRAIN)


@pytest.mark.parametrize("key", [NULL_KEY, PublicKey(b"\x05" + bytes(32)), PublicKey(b"\x02" + b"\xff" * 32)])
def test_nothing_can_be_encrypted_to_what_is_no_point(key: PublicKey) -> None:
    with pytest.raises(InvalidKey):
        memo.encode("hello", ALICE, key, 1)


@pytest.mark.parametrize("nonce", [-1, 2**64])
def test_a_nonce_has_64_bits(nonce: int) -> None:
    with pytest.raises(EncodeError):
        memo.encode("hello", ALICE, BRAIN.public, nonce)
