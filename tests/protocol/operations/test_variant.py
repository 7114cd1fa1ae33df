"""Any operation: how many of them a transaction may claim to hold, and the tags that there are."""

from __future__ import annotations

import pytest

from ledgerd.codec import DecodeError, codec_of
from ledgerd.codec.types.varint import pack_varint
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.operations import OPERATIONS, Operation
from ledgerd.protocol.operations.base import tag_of

HEAD = bytes(10)
"""Of a transaction: the block that it refers to, and its expiration."""

EMPTY_OPERATION = bytes((36, 0, 0, 0, 0, 0))
"""The shortest there is: a committee request that nobody takes back."""

MOST = 18_331


def test_a_transaction_may_hold_18331_operations_by_the_memory_that_they_take_in_the_reference() -> None:
    transactions = codec_of(Transaction)

    most = transactions.decode(HEAD + pack_varint(MOST) + EMPTY_OPERATION * MOST + bytes(2))
    assert len(most.operations) == MOST
    with pytest.raises(DecodeError, match="above the limit"):
        transactions.decode(HEAD + pack_varint(MOST + 1) + EMPTY_OPERATION * (MOST + 1) + bytes(2))


def test_there_are_106_operations() -> None:
    operations = codec_of(Operation)

    assert [tag_of(each) for each in OPERATIONS] == list(range(106))
    assert type(operations.from_json([105, {}])) is OPERATIONS[105]
    for unknown in ("6a", "ff7f"):
        with pytest.raises(DecodeError, match="unknown tag"):
            operations.decode(bytes.fromhex(unknown) + bytes(100))
    with pytest.raises(DecodeError, match="unknown tag 106"):
        operations.from_json([106, {}])
