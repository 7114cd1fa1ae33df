"""A digest of all entries of a state that follows changes: the sum of the hashes of the entries.

An entry that comes is added, one that goes is subtracted, so the order of changes is nothing, and undone changes leave
no trace. The hashes are BLAKE2b of 256 bits, and the sum is modulo 2^256: two states that differ by a fault have the
same sum with a chance of 2^-256. Whoever may choose thousands of millions of entries could find two sets of equal sum,
but would gain nothing: a replica copies what its own node has.
"""

from __future__ import annotations

from hashlib import blake2b

MODULUS = 1 << 256
DIGEST_BYTES = 32
"""Bytes of a digest."""

_from_bytes = int.from_bytes


def hash_of(number: int, key: bytes, value: bytes) -> int:
    entry = b"%c%c%c%b%b" % (number >> 8, number & 0xFF, len(key) & 0xFF, key, value)
    return _from_bytes(blake2b(entry, digest_size=DIGEST_BYTES).digest(), "little")


def packed_digest(total: int) -> bytes:
    return (total % MODULUS).to_bytes(DIGEST_BYTES, "little")


def read_digest(raw: bytes) -> int:
    return _from_bytes(raw, "little")
