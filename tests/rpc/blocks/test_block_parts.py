"""Parts of a block agree with the whole block, whatever is in it."""

from __future__ import annotations

from itertools import accumulate

from hypothesis import given
from hypothesis import strategies as st

from ledgerd.codec import codec_of
from ledgerd.codec.types.varint import pack_varint
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.crypto.signatures import Signature
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.identifiers import BlockId, MerkleRoot
from ledgerd.rpc.blocks.block_parts import BEFORE_OPERATIONS, TransactionPart, opening_of, part_at, part_in
from tests.chain.networks import BOB, VIZ

SIGNATURES = st.binary(min_size=65, max_size=65).map(Signature)
TRANSFERS = st.builds(Transfer, st.just(VIZ), st.just(BOB), st.integers(1, 1 << 40).map(tokens), st.text(max_size=40))
TRANSACTIONS = st.builds(
    Transaction,
    st.integers(0, 0xFFFF),
    st.integers(0, 0xFFFF_FFFF),
    st.integers(0, 0xFFFF_FFFF),
    st.one_of(
        st.lists(TRANSFERS, min_size=1, max_size=4).map(tuple),
        TRANSFERS.map(lambda one: (one,) * 130),  # so many that their count takes two bytes
    ),
    st.just(()),
    st.lists(SIGNATURES, max_size=3).map(tuple),
)
PARTS = st.builds(slice, st.integers(0, 5), st.integers(0, 9))


def block_of(transactions: list[Transaction]) -> Block:
    header = BlockId(bytes(20)), 1_700_000_000, "viz", MerkleRoot(bytes(20)), (), Signature(bytes(65))
    return Block(*header, tuple(transactions))


def offsets_of(packed: bytes, transactions: list[Transaction], place: int) -> list[int]:
    """Where the operations of a transaction begin, from their sizes."""
    begin = opening_of(packed).begin + sum(len(each.packed) for each in transactions[:place])
    own = transactions[place].operations
    first = begin + BEFORE_OPERATIONS + len(pack_varint(len(own)))
    sizes = [len(codec_of(Operation).encode(each)) for each in own]
    return list(accumulate(sizes[:-1], initial=first))


def as_told(part: TransactionPart | None) -> tuple[object, ...]:
    assert part is not None
    reference, signatures, total, operations = part
    return reference.ref_block_num, reference.ref_block_prefix, reference.expiration, signatures, total, operations


@given(st.lists(TRANSACTIONS, min_size=1, max_size=4), PARTS, st.data())
def test_a_part_of_a_transaction_is_that_of_the_whole_one_however_it_is_found(
    transactions: list[Transaction], wanted: slice, data: st.DataObject
) -> None:
    packed = codec_of(Block).encode(block_of(transactions))
    place = data.draw(st.integers(0, len(transactions) - 1))
    one, opening = transactions[place], opening_of(packed)
    assert opening.transactions == len(transactions)
    expected = (
        one.ref_block_num,
        one.ref_block_prefix,
        one.expiration,
        one.signatures,
        len(one.operations),
        one.operations[wanted],
    )
    assert as_told(part_at(packed, one.id, offsets_of(packed, transactions, place), wanted)) == expected
    assert as_told(part_in(packed, one.id, opening, place, wanted)) == expected


@given(st.lists(TRANSACTIONS, min_size=1, max_size=3), st.data())
def test_some_of_the_offsets_or_another_id_make_no_transaction(
    transactions: list[Transaction], data: st.DataObject
) -> None:
    packed = codec_of(Block).encode(block_of(transactions))
    place = data.draw(st.integers(0, len(transactions) - 1))
    one, offsets = transactions[place], offsets_of(packed, transactions, place)
    left_out = data.draw(st.integers(0, len(offsets) - 1))
    assert part_at(packed, one.id, offsets[:left_out] + offsets[left_out + 1 :], slice(0, 9)) is None
    other = type(one.id)(bytes(20))
    assert part_at(packed, other, offsets, slice(0, 9)) is None
    assert part_in(packed, other, opening_of(packed), place, slice(0, 9)) is None
    assert part_in(packed, one.id, opening_of(packed), len(transactions), slice(0, 9)) is None
