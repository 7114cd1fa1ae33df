"""The hash under which a bet is hidden (spec 08, section 3.7)."""

from __future__ import annotations

import struct

from ledgerd.protocol.hashing import sha256
from ledgerd.protocol.names import MAX_NAME_BYTES, AccountName

_FIXED = struct.Struct(f"<q{MAX_NAME_BYTES}sbhqq")


def commitment_of(
    market: int, account: AccountName, side: int, outcome_index: int, amount: int, min_tokens: int, salt: str
) -> bytes:
    """The hash of a bet: its fields one after the other, the name filled up with zeros, then the salt."""
    name = account.encode("utf-8", "surrogateescape")
    fields = _FIXED.pack(market, name, side, outcome_index, amount, min_tokens)
    return sha256(fields + salt.encode("utf-8", "surrogateescape"))
