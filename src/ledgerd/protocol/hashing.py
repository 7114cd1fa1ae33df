"""The hash functions of the protocol, from bytes to bytes."""

from __future__ import annotations

import hashlib
from collections.abc import Callable

from ledgerd.protocol import ripemd160 as portable


def sha256(data: bytes) -> bytes:
    return hashlib.sha256(data).digest()


def sha512(data: bytes) -> bytes:
    return hashlib.sha512(data).digest()


def fastest_ripemd160() -> Callable[[bytes], bytes]:
    """OpenSSL's function, or the portable one where OpenSSL was built without it or may not use it."""
    try:
        blank = hashlib.new("ripemd160", usedforsecurity=False)
    except ValueError:
        return portable.ripemd160

    def ripemd160_of_openssl(data: bytes) -> bytes:
        # Looking an algorithm up by name costs more than hashing a key; copying a blank state does not.
        state = blank.copy()
        state.update(data)
        return state.digest()

    return ripemd160_of_openssl


ripemd160 = fastest_ripemd160()
"""20 bytes; the checksum of a public key's text is made of it."""
