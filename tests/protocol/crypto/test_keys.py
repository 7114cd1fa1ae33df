"""Keys and their texts: published keys first, then each leniency and each limit of reading them."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.codec.errors import ASSERTION, OUT_OF_RANGE, PARSE_ERROR, DecodeError, EncodeError
from ledgerd.codec.json.errors import JsonError
from ledgerd.protocol.crypto import base58
from ledgerd.protocol.crypto.hashing import ripemd160, sha256
from ledgerd.protocol.crypto.keys import (
    NULL_KEY,
    InvalidKey,
    PrivateKey,
    PublicKey,
    normalized_brain_key,
    public_key_from_text,
    public_key_text,
    wif_secret,
)

ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
NULL_TEXT = "VIZ1111111111111111111111111111111114T1Anm"

INITIATOR_WIF = "5JabcrvaLnBTCkCVFX5r4rmeGGfuJuVp4NAKRNLTey6pxhRQmf4"
INITIATOR_SECRET = "649d1053f3dec9914aec84aae0a4a411ae103a4bbed42f9ea8650a8e1849936c"
INITIATOR_KEY = "02c21b05402e2af0456468e2a3f01938f6fbc0250c500f93eea6f069c1a75083ee"
INITIATOR_TEXT = "VIZ6MyX5QiXAXRZk7SYCiqpi6Mtm8UbHWDFSV8HPpt7FJyahCnc2T"
INVITE_SECRET = "ed03bcbb213bf205f253b9c289a4d2eca1db58430cf843ca50ebd6f9eafb44bd"

PUBLISHED = [
    (INITIATOR_WIF, INITIATOR_SECRET, INITIATOR_KEY, INITIATOR_TEXT),
    (
        "5Hw9YPABaFxa2LooiANLrhUK5TPryy8f7v9Y1rk923PuYqbYdfC",
        "0f9461b47b51b13221c9a882a9900df5ccacc6cb333501f9f2c1df323fada90d",
        "02dadeee1792ce8726ab36384da51adf52de3e001ec3c0acf99fde71e5bf38cb8b",
        "VIZ6Yt7d6LsngBoXQr47aLv97bJVs7jyr7esZTM4UUSpLUf3nbRKS",
    ),
    (
        "5KcfoRuDfkhrLCxVcE9x51J6KN9aM9fpb78tLrvvFckxVV6FyFW",
        INVITE_SECRET,
        "02bf3d698707ed20b661a8f65ed88d94342cadabc45486fe8d0699a88c97852a58",
        "VIZ6LiKWipnNoBSDafStzSUgo9ihGawo25WW9kMvfTpGMwKp2qfG9",
    ),
]

secrets = st.integers(1, ORDER - 1).map(lambda number: number.to_bytes(32, "big"))


def text_of(data: bytes) -> str:
    return "VIZ" + base58.encode(data)


def with_checksum(key: bytes) -> bytes:
    return key + ripemd160(key)[:4]


def wif_of(payload: bytes, rounds: int = 2) -> str:
    checksum = payload
    for _ in range(rounds):
        checksum = sha256(checksum)
    return base58.encode(payload + checksum[:4])


@pytest.mark.parametrize(("wif", "secret", "key", "text"), PUBLISHED)
def test_the_published_keys(wif: str, secret: str, key: str, text: str) -> None:
    private = PrivateKey.from_wif(wif)
    assert private.secret.hex() == secret
    assert private.public.hex() == key
    assert private.wif == wif
    assert public_key_text(private.public) == text
    assert public_key_from_text(text) == private.public


def test_the_key_of_the_emergency_validator() -> None:
    key = "031fb4c22be3da41a9dbd73c307cc24f51786c5990bdbc2fe387750d24e3be4a01"
    text = "VIZ75CRHVHPwYiUESy1bgN3KhVFbZCQQRA9jT6TnpzKAmpxMPD6Xv"
    assert public_key_text(PublicKey(bytes.fromhex(key))) == text
    assert public_key_from_text(text).hex() == key


def test_the_null_key_has_a_text() -> None:
    assert ripemd160(NULL_KEY)[:4].hex() == "86e7b522"
    assert public_key_text(NULL_KEY) == NULL_TEXT
    assert public_key_from_text(NULL_TEXT) == NULL_KEY


@given(st.binary(min_size=33, max_size=33).map(PublicKey))
def test_any_33_bytes_are_a_key_and_have_a_text_which_names_them(key: PublicKey) -> None:
    assert public_key_from_text(public_key_text(key)) == key


@pytest.mark.parametrize("size", [0, 32, 34])
def test_no_other_number_of_bytes_has_a_text(size: int) -> None:
    with pytest.raises(EncodeError):
        public_key_text(PublicKey(bytes(size)))


def test_a_text_with_another_prefix_is_no_key() -> None:
    with pytest.raises(DecodeError):
        public_key_from_text("TST" + INITIATOR_TEXT[3:])


@pytest.mark.parametrize(
    "text",
    [
        f"VIZ {INITIATOR_TEXT[3:]}",
        f"{INITIATOR_TEXT}\n",
        f"{INITIATOR_TEXT}\0whatever",
        f"VIZ{' ' * 100}{INITIATOR_TEXT[3:]}{' ' * 100}",
        text_of(with_checksum(bytes.fromhex(INITIATOR_KEY)) + b"bytes after the checksum"),
    ],
)
def test_whitespace_after_the_prefix_and_bytes_after_the_checksum_are_let_through(text: str) -> None:
    assert public_key_from_text(text).hex() == INITIATOR_KEY


@pytest.mark.parametrize(
    ("text", "code", "message"),
    [
        ("", ASSERTION, "base58str.size() > prefix_len: "),
        ("x", ASSERTION, "base58str.size() > prefix_len: "),
        ("VIZ", ASSERTION, "base58str.size() > prefix_len: "),
        ("éé", ASSERTION, "base58str.substr(0, prefix_len) == prefix: "),
        ("hello", ASSERTION, "base58str.substr(0, prefix_len) == prefix: "),
        (f" {INITIATOR_TEXT}", ASSERTION, "base58str.substr(0, prefix_len) == prefix: "),
        (f"viz{INITIATOR_TEXT[3:]}", ASSERTION, "base58str.substr(0, prefix_len) == prefix: "),
        ("VIZ0", PARSE_ERROR, "Unable to decode base58 std::string 0"),
        ("VIZ6 My", PARSE_ERROR, "Unable to decode base58 std::string 6 My"),
        ("VIZ1", OUT_OF_RANGE, "read datastream of length 1 over by 0"),
        (text_of(b"\1" * 32), OUT_OF_RANGE, "read datastream of length 32 over by -31"),
        (text_of(b"\1" * 33), OUT_OF_RANGE, "read datastream of length 33 over by 1"),
        (
            text_of(with_checksum(NULL_KEY)[:-1]),
            OUT_OF_RANGE,
            "read datastream of length 36 over by -2",
        ),
    ],
)
def test_what_is_no_key_is_refused_in_the_words_of_the_reference(text: str, code: int, message: str) -> None:
    with pytest.raises(DecodeError) as caught:
        public_key_from_text(text)
    assert (caught.value.code, caught.value.text) == (code, message)


def test_a_client_is_shown_the_text_that_names_no_key() -> None:
    with pytest.raises(JsonError) as caught:
        public_key_from_text("no-such-account")
    assert caught.value.layers == [("base58str.substr(0, prefix_len) == prefix: ", {"base58str": "no-such-account"})]


@pytest.mark.parametrize("text", [f"{INITIATOR_TEXT[:-1]}U", text_of(bytes(37)), "VIZ ", "VIZ\0"])
def test_a_wrong_checksum_is_refused(text: str) -> None:
    with pytest.raises(DecodeError, match="_hash") as caught:
        public_key_from_text(text)
    assert caught.value.code == ASSERTION


def test_a_text_longer_than_any_memo_is_refused_unread() -> None:
    at_most = f"{INITIATOR_TEXT}{' ' * (2048 - len(INITIATOR_TEXT))}"
    assert public_key_from_text(at_most).hex() == INITIATOR_KEY
    with pytest.raises(DecodeError):
        public_key_from_text(f"{at_most} ")


def test_keys_are_ordered_by_their_bytes_and_not_by_their_texts() -> None:
    low, high = PublicKey(b"\x02" + bytes(32)), PublicKey(b"\x03" + bytes(32))
    assert NULL_KEY < low < high


@given(secrets)
def test_a_wif_text_names_its_secret(secret: bytes) -> None:
    private = PrivateKey(secret)
    assert wif_secret(private.wif) == secret
    assert PrivateKey.from_wif(private.wif) == private


@pytest.mark.parametrize(
    "text",
    [
        "L5ASFvuUv3uJjmmwGV4W4gJSU4LrBwGM3Y5ocfNz3Wq1vf91xvYT",
        "CX76uhHrRWzkJUk6vp3kZYqgLQFPY27oVReLSKez1wFo1aXjDx",
        " 5KcfoRuDfkhrLCxVcE9x51J6KN9aM9fpb78tLrvvFckxVV6FyFW\n",
        "5KcfoRuDfkhrLCxVcE9x51J6KN9aM9fpb78tLrvvFckxVV6FyFW\0!",
    ],
)
def test_a_longer_payload_another_version_and_a_single_hash_are_let_through(text: str) -> None:
    assert wif_secret(text) == bytes.fromhex(INVITE_SECRET)


@pytest.mark.parametrize("rounds", [1, 2])
@pytest.mark.parametrize("size", [0, 1, 31, 32, 33, 64, 1000])
def test_a_payload_is_cut_or_filled_to_32_bytes(size: int, rounds: int) -> None:
    payload = (b"\x11" * size)[:32].ljust(32, b"\0")
    assert wif_secret(wif_of(b"\x80" + b"\x11" * size, rounds)) == payload


@pytest.mark.parametrize(
    "text",
    [
        "",
        "5",
        base58.encode(b"\x80" + sha256(b"\x80")[:3]),
        base58.encode(sha256(b"")[:4]),
        f"{INITIATOR_WIF[:-1]}5",
        f"{INITIATOR_WIF}0",
        wif_of(b"\x80" + bytes(32), 0),
        wif_of(b"\x80" + bytes(32), 3),
    ],
)
def test_what_is_no_wif_has_no_secret(text: str) -> None:
    assert wif_secret(text) is None


def test_a_refused_wif_is_not_repeated_in_the_error() -> None:
    mistyped = f"{INITIATOR_WIF[:-1]}5"
    with pytest.raises(InvalidKey) as caught:
        PrivateKey.from_wif(mistyped)
    assert INITIATOR_WIF[:10] not in f"{caught.value!r}{caught.value.__cause__!r}{caught.value.__context__!r}"


def test_zero_is_no_private_key() -> None:
    with pytest.raises(InvalidKey) as caught:
        PrivateKey(bytes(32))
    assert (caught.value.code, caught.value.message) == (10, "my->_key != empty_priv: ")


@pytest.mark.parametrize("number", [ORDER, ORDER + 1, 2**256 - 1])
def test_a_number_beyond_the_order_of_the_curve_is_no_private_key(number: int) -> None:
    with pytest.raises(InvalidKey, match="secp256k1_ec_pubkey_create"):
        PrivateKey(number.to_bytes(32, "big"))


def test_the_first_and_the_last_private_key() -> None:
    first, last = PrivateKey((1).to_bytes(32, "big")), PrivateKey((ORDER - 1).to_bytes(32, "big"))
    assert first.public.hex() == "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"
    assert last.public == b"\x03" + first.public[1:]


@pytest.mark.parametrize("size", [0, 31, 33])
def test_no_other_number_of_bytes_is_a_private_key(size: int) -> None:
    with pytest.raises(InvalidKey):
        PrivateKey(b"\x01" * size)


def test_the_printed_form_of_a_private_key_shows_its_public_key_alone() -> None:
    private = PrivateKey.from_wif(INITIATOR_WIF)
    printed = f"{private} {private!r} {private!s} {[private]}"
    assert INITIATOR_TEXT in printed
    assert INITIATOR_WIF not in printed
    assert INITIATOR_SECRET not in printed.lower()
    assert repr(private.secret) not in printed


def test_a_private_key_does_not_change_and_travels_to_other_processes() -> None:
    private = PrivateKey.from_wif(INITIATOR_WIF)
    with pytest.raises(AttributeError):
        private.secret = bytes(32)  # type: ignore[misc]
    copy = pickle.loads(pickle.dumps(private))  # noqa: S301 - our own bytes
    assert copy == private
    assert copy.public == private.public


def test_the_key_of_a_password() -> None:
    private = PrivateKey.from_password("alice", "active", "password")
    assert private.secret.hex() == "b441082f478853f1c141da1a9744ed64270940293d37a60be7300655412cc2b4"
    assert private.wif == "5KBfvpmH4jCWvd2p5vSs8hrwoC3qY1uZLVbLD6mf6iny9kjLask"
    assert public_key_text(private.public) == "VIZ723LH37PwrPx361xFXmfyi2KdQ9MnY9dAheUR4XQMsAAjwVBFU"


@pytest.mark.parametrize("words", ["A B C", "a b c", " \t a\r\n b \v\f C  "])
def test_the_key_of_a_brain_key(words: str) -> None:
    private = PrivateKey.from_brain_key(words)
    assert private.wif == "5Jy2GqhQDhkUzbo9UUbRyVuvn2h7zzohaoxHHY7xTGLJyMhZ2rb"
    assert public_key_text(private.public) == "VIZ87j1bq5y6H8QvenyMaHkGpem3D1iC5PYPNvupU8uNPUwj4SbFc"
    assert PrivateKey.from_brain_key(words, 1) != private


@pytest.mark.parametrize(
    ("words", "normalized"),
    [("", ""), ("  ", ""), ("a  B\tc ", "A B C"), ("straße é", "STRAßE é"), ("a\u00a0b", "A\u00a0B")],
)
def test_only_ascii_letters_and_whitespace_of_a_brain_key_are_normalized(words: str, normalized: str) -> None:
    assert normalized_brain_key(words) == normalized
