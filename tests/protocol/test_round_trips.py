"""Any value of any operation, transaction, block or authority: bytes and JSON give it back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledgerd.codec import DecodeError, codec_of
from ledgerd.codec.json.legacy import parse
from ledgerd.protocol.blocks.block import Block, BlockHeader, SignedHeader
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.operations import OPERATIONS, Operation
from ledgerd.protocol.operations.base import name_of
from ledgerd.protocol.properties import VersionedChainProperties
from ledgerd.protocol.types.authority import Authority
from tests.strategies import printable_values_of, values_of

WHOLES: tuple[Any, ...] = (Transaction, Block, BlockHeader, SignedHeader, Authority, VersionedChainProperties)
TYPES = (*OPERATIONS, *WHOLES)

every_type = pytest.mark.parametrize("of", TYPES, ids=lambda of: getattr(of, "__name__", str(of)))


@every_type
@settings(max_examples=12)
@given(st.data())
def test_bytes_give_the_value_back(of: Any, data: st.DataObject) -> None:
    codec, value = codec_of(of), data.draw(values_of(of))
    written = codec.encode(value)

    assert codec.decode_exactly(written) == value
    assert codec.encode(codec.decode(written)) == written


@every_type
@settings(max_examples=12)
@given(st.data())
def test_json_gives_the_value_back(of: Any, data: st.DataObject) -> None:
    codec, value = codec_of(of), data.draw(printable_values_of(of))
    text = codec.to_json(value).encode("utf-8", "surrogateescape")
    read = codec.from_json(parse(text, unicode_escapes=True))

    assert read == value
    assert codec.encode(read) == codec.encode(value)


@settings(max_examples=50)
@given(printable_values_of(Operation))
def test_an_operation_is_named_in_json_and_may_be_named_by_its_tag(operation: Operation) -> None:
    codec = codec_of(Operation)
    name, fields = json.loads(codec.to_json(operation).encode("utf-8", "replace"))

    assert name == name_of(type(operation))
    printed = parse(codec.to_json(operation).encode("utf-8", "surrogateescape"), unicode_escapes=True)
    assert isinstance(printed, list)
    assert list(fields) == list(printed[1] if isinstance(printed[1], dict) else ())
    assert codec.from_json([OPERATIONS.index(type(operation)), printed[1]]) == operation


@settings(max_examples=50)
@given(values_of(Transaction), st.integers(min_value=0))
def test_a_transaction_that_was_cut_off_is_refused(transaction: Transaction, place: int) -> None:
    written = codec_of(Transaction).encode(transaction)

    with pytest.raises(DecodeError):
        codec_of(Transaction).decode(written[: place % len(written)])


@settings(max_examples=50)
@given(values_of(Transaction), st.binary(max_size=20))
def test_what_follows_a_transaction_does_not_change_it(transaction: Transaction, rest: bytes) -> None:
    read = codec_of(Transaction).decode(transaction.packed + rest)

    assert (read, read.packed, read.id) == (transaction, transaction.packed, transaction.id)
