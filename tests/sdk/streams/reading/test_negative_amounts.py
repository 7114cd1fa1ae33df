"""Negative amounts that the reference prints without a digit: the header of their block says which one."""

from __future__ import annotations

import json

import msgspec
import pytest

from ledgerd.codec import codec_of
from ledgerd.protocol.blocks.block import Block, merkle_root
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import SHARES_SYMBOL, TOKEN_SYMBOL, Asset
from ledgerd.protocol.types.names import AccountName
from ledgerd.sdk.streams.reading.negative_amounts import with_whole_amounts
from tests.sdk.recorded_nodes import blocks_of


def block_with(*amounts: Asset) -> Block:
    base = next(each for each in blocks_of("open-2") if len(each.transactions) == 1)
    alice, bob = AccountName("alice"), AccountName("bob")
    operations = tuple(Transfer(alice, bob, each, "-1.00 VIZ") for each in amounts)
    transaction = msgspec.structs.replace(base.transactions[0], operations=operations)
    root = merkle_root([transaction.merkle_digest])
    return msgspec.structs.replace(base, transactions=(transaction,), transaction_merkle_root=root)


def read_again(block: Block) -> Block:
    fields = json.loads(codec_of(Block).to_json(block))
    return with_whole_amounts(fields, codec_of(Block).from_json(fields))


@pytest.mark.parametrize("amount", [-98_100, -500, -1, -999, -950, -1_000, -12_345, 12_345, 0, -(10**18) - 7])
def test_an_amount_comes_back_whole(amount: int) -> None:
    block = block_with(Asset(amount, TOKEN_SYMBOL), Asset(amount, SHARES_SYMBOL))
    assert read_again(block).packed == block.packed


def test_where_no_digits_fit_or_there_are_too_many_the_block_stays_as_it_is() -> None:
    wrong = msgspec.structs.replace(block_with(Asset(-98_100, TOKEN_SYMBOL)), transaction_merkle_root=bytes(20))
    many = block_with(*[Asset(-98_100 - each, TOKEN_SYMBOL) for each in range(6)])
    for block in (wrong, many):
        fields = json.loads(codec_of(Block).to_json(block))
        as_read = codec_of(Block).from_json(fields)
        assert with_whole_amounts(fields, as_read) is as_read
