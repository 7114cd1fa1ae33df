"""Signatures that nobody has made, each of which costs a whole key recovery: sound in form, of keys that nobody has."""

from __future__ import annotations

from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.protocol.crypto.signatures import Signature, sign

_BODY = sign(PrivateKey(bytes([9] * 32)), bytes([7] * 32))


def noise(count: int, salt: int = 0) -> tuple[Signature, ...]:
    """So many different ones."""
    tails = ((1 << 248) + (salt << 64) + place for place in range(count))
    return tuple(Signature(_BODY[:33] + tail.to_bytes(32, "big")) for tail in tails)
