"""RIPEMD-160: the portable form agrees with its authors' vectors, and with OpenSSL where that knows it."""

from __future__ import annotations

import hashlib
from typing import NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.protocol.crypto import hashing
from ledgerd.protocol.crypto.hashing import portable_ripemd160 as ripemd160

PUBLISHED = [
    (b"", "9c1185a5c5e9fc54612808977ee8f548b2258d31"),
    (b"a", "0bdc9d2d256b3ee9daae347be6f4dc835a467ffe"),
    (b"abc", "8eb208f7e05d987a9b044a8e98c6b087f15a0bfc"),
    (b"message digest", "5d0689ef49d2fae572b881b123a85ffa21595f36"),
    (b"abcdefghijklmnopqrstuvwxyz", "f71c27109c692c1b56bbdceb5b9d2865b3708dbc"),
    (
        b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
        "12a053384a9c0c88e405a06c27dcf49ada62eb2b",
    ),
    (
        b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
        "b0e20b6e3116640286ed3a87a5713079b21f5189",
    ),
    (b"1234567890" * 8, "9b752e45573d4b39f4dbd3323cab82bf63326bfb"),
]


def forget_ripemd160(*_arguments: object, **_options: object) -> NoReturn:
    raise ValueError("unsupported hash type ripemd160")


@pytest.mark.parametrize(("data", "digest"), PUBLISHED)
def test_the_published_vectors_hold(data: bytes, digest: str) -> None:
    assert ripemd160(data).hex() == digest
    assert hashing.ripemd160(data).hex() == digest


@pytest.mark.parametrize("size", [54, 55, 56, 57, 63, 64, 65, 119, 120, 128])
def test_padding_around_the_ends_of_blocks_agrees_with_the_hash_in_use(size: int) -> None:
    data = bytes(range(size))
    assert ripemd160(data) == hashing.ripemd160(data)


@given(st.binary(max_size=300))
def test_the_portable_hash_is_the_hash_in_use(data: bytes) -> None:
    assert ripemd160(data) == hashing.ripemd160(data)


def test_where_openssl_has_no_ripemd160_the_portable_one_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hashlib, "new", forget_ripemd160)
    assert hashing.fastest_ripemd160() is ripemd160


@pytest.mark.skipif("ripemd160" not in hashlib.algorithms_available, reason="OpenSSL built without ripemd160")
def test_where_openssl_has_ripemd160_it_is_used() -> None:
    assert hashing.fastest_ripemd160() is not ripemd160


def test_the_other_hashes_are_those_of_their_names() -> None:
    assert hashing.sha256(b"abc").hex() == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert hashing.sha512(b"abc").hex().startswith("ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a")
