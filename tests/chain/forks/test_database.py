"""The fork database: linking, waiting, heads, windows and branches (spec 03, section 8)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.chain.forks import database
from ledgerd.chain.forks.database import (
    MAX_AT_NUMBER,
    MAX_UNLINKED,
    BlockTooOld,
    ForkDatabase,
    ForkItem,
    TooManyBlocks,
    UnlinkableBlock,
)
from ledgerd.protocol.blocks.block import NO_TRANSACTIONS, Block
from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.protocol.crypto.signatures import Signature
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.types.identifiers import NO_BLOCK, BlockId

UNSIGNED = Signature(bytes(65))


def block_on(previous: BlockId, salt: int = 0) -> Block:
    return Block(previous, 1_000_000 + salt, "viz", NO_TRANSACTIONS, (), UNSIGNED, ())


def line(length: int, previous: BlockId = NO_BLOCK, salt: int = 0) -> list[Block]:
    blocks: list[Block] = []
    for _ in range(length):
        blocks.append(block_on(blocks[-1].id if blocks else previous, salt))
    return blocks


def holding(blocks: Sequence[Block]) -> ForkDatabase:
    forks = ForkDatabase()
    for block in blocks:
        forks.push(block)
    return forks


def head_of(forks: ForkDatabase) -> BlockId:
    assert forks.head is not None
    return forks.head.id


def test_the_first_block_needs_no_parent_and_becomes_the_head() -> None:
    blocks = line(5)
    forks = holding(blocks[3:])
    assert head_of(forks) == blocks[4].id


def test_the_longest_branch_is_the_head_and_of_equals_the_first() -> None:
    trunk = line(3)
    other = line(3, trunk[0].id, salt=1)
    forks = holding(trunk)
    forks.push(other[0])
    forks.push(other[1])
    assert head_of(forks) == trunk[2].id
    assert forks.push(other[2]).id == other[2].id


def test_in_an_emergency_the_smaller_id_wins_among_equals() -> None:
    trunk = line(1)
    one, two = sorted((block_on(trunk[0].id, 1), block_on(trunk[0].id, 2)), key=lambda block: block.id)
    for order, winner in (((one, two), one), ((two, one), one)):
        forks = holding(trunk)
        forks.is_emergency = True
        for block in order:
            forks.push(block)
        assert head_of(forks) == winner.id
    calm = holding([*trunk, two, one])
    assert head_of(calm) == two.id


def test_a_block_without_a_parent_waits_for_it() -> None:
    blocks = line(4)
    forks = holding(blocks[:1])
    for block in (blocks[3], blocks[2]):
        with pytest.raises(UnlinkableBlock):
            forks.push(block)
        assert forks.is_known(block.id)
        assert block.id not in forks
        assert forks.fetch(block.id) == block
    assert forks.push(blocks[1]).id == blocks[3].id
    assert all(block.id in forks for block in blocks)


@given(st.permutations(range(1, 9)))
def test_blocks_link_up_in_whatever_order_they_come(order: list[int]) -> None:
    blocks = line(9)
    forks = holding(blocks[:1])
    for place in order:
        try:
            forks.push(blocks[place])
        except UnlinkableBlock:
            assert blocks[place - 1].id not in forks
    assert head_of(forks) == blocks[8].id
    assert [[item.block for item in forks.items_at(number)] for number in range(1, 10)] == [[each] for each in blocks]


def test_a_block_that_is_known_already_changes_nothing() -> None:
    blocks = line(3)
    forks = holding(blocks)
    assert forks.push(blocks[1]).id == blocks[2].id
    assert len(forks) == 3


def test_what_lies_below_the_window_is_too_old() -> None:
    blocks = line(10)
    forks = holding(blocks)
    forks.narrow(4)
    assert [bool(forks.items_at(number)) for number in range(1, 11)] == [False] * 5 + [True] * 5
    with pytest.raises(BlockTooOld):
        forks.push(block_on(blocks[4].id, salt=7))
    forks.push(block_on(blocks[6].id, salt=7))


def test_waiting_blocks_are_bounded_and_the_oldest_go_first() -> None:
    forks = holding(line(1))
    strangers = [block_on(BlockId(number.to_bytes(20, "big")), number) for number in range(1, MAX_UNLINKED + 11)]
    for stranger in strangers:
        with pytest.raises(UnlinkableBlock):
            forks.push(stranger)
    assert len(forks) == 1 + MAX_UNLINKED
    assert not forks.is_known(strangers[9].id)
    assert forks.is_known(strangers[10].id)


def test_waiting_blocks_are_bounded_in_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    size = len(block_on(BlockId(bytes(20))).packed)
    monkeypatch.setattr(database, "MAX_UNLINKED_BYTES", 10 * size)
    forks = holding(line(3))
    lost = [block_on(BlockId(bytes(3) + b"\2" + bytes(12) + place.to_bytes(4, "big"))) for place in range(50)]
    for block in lost:
        with pytest.raises(UnlinkableBlock):
            forks.push(block)
    assert forks.unlinked_bytes == 10 * size
    assert [forks.is_known(block.id) for block in lost] == [False] * 40 + [True] * 10


def test_of_one_number_so_many_blocks_are_kept() -> None:
    blocks = line(3)
    forks = holding(blocks)
    siblings = [block_on(blocks[1].id, salt) for salt in range(1, MAX_AT_NUMBER + 5)]
    for block in siblings[: MAX_AT_NUMBER - 1]:
        forks.push(block)
    with pytest.raises(TooManyBlocks):
        forks.push(siblings[-1])
    assert len(forks.items_at(3)) == MAX_AT_NUMBER


def test_blocks_are_kept_as_bytes_and_the_key_that_signed_is_not_recovered_twice() -> None:
    (block,) = line(1)
    key = PrivateKey(bytes([7] * 32)).public
    block.header.remember_signee(key)
    item = ForkItem(block)
    assert item.packed is block.packed
    assert item.block == block
    assert item.block is not block
    assert item.block.signee == item.signee == key


def test_branches_end_with_the_siblings_that_share_a_parent() -> None:
    trunk = line(5)
    other = line(4, trunk[1].id, salt=1)
    forks = holding([*trunk, *other])
    one, two = forks.branches(other[3].id, trunk[4].id)
    assert [item.id for item in one] == [block.id for block in reversed(other)]
    assert [item.id for item in two] == [block.id for block in reversed(trunk[2:])]


def test_when_one_tip_continues_the_other_both_branches_end_with_the_lower_tip() -> None:
    blocks = line(5)
    one, two = holding(blocks).branches(blocks[4].id, blocks[2].id)
    assert [item.id for item in one] == [blocks[4].id, blocks[3].id, blocks[2].id]
    assert [item.id for item in two] == [blocks[2].id]


def test_branches_that_are_not_linked_are_an_error() -> None:
    blocks = line(5)
    forks = holding(blocks)
    with pytest.raises(UnlinkableBlock):
        forks.branches(blocks[4].id, block_on(NO_BLOCK, 9).id)
    forks.remove(blocks[2].id)
    other = line(4, blocks[1].id, salt=1)
    for block in other:
        forks.push(block)
    with pytest.raises(UnlinkableBlock):
        forks.branches(blocks[4].id, other[3].id)


def test_the_head_steps_down_until_there_is_nothing_below() -> None:
    blocks = line(3)
    forks = holding(blocks)
    forks.pop()
    forks.pop()
    assert head_of(forks) == blocks[0].id
    with pytest.raises(RuleViolation, match="without a head"):
        forks.pop()


def test_a_base_is_found_by_the_children_that_had_lost_it() -> None:
    blocks = line(4)
    forks = holding(blocks[2:])
    forks.insert_base(blocks[1])
    assert forks.below_head(2) == blocks[1]
    assert head_of(forks) == blocks[3].id


def test_all_blocks_of_a_number_are_found() -> None:
    trunk = line(4)
    side = block_on(trunk[1].id, salt=1)
    forks = holding([*trunk, side])
    assert {item.id for item in forks.items_at(3)} == {trunk[2].id, side.id}
    assert forks.items_at(9) == []


# -- an anchor: the head of the trunk by its id alone (spec 10, section 9.1)


def anchored(blocks: Sequence[Block]) -> ForkDatabase:
    """Stands on the first of these blocks without having it."""
    forks = ForkDatabase()
    forks.anchor(blocks[0].id)
    for block in blocks[1:]:
        forks.push(block)
    return forks


def test_blocks_follow_an_anchor_and_no_other_unknown_block() -> None:
    blocks = line(4)
    forks = anchored(blocks[1:3])
    assert head_of(forks) == blocks[2].id
    assert blocks[1].id in forks
    assert forks.is_known(blocks[1].id)
    assert forks.fetch(blocks[1].id) is None
    with pytest.raises(UnlinkableBlock):
        forks.push(line(3, salt=1)[2])
    forks.push(blocks[3])
    assert head_of(forks) == blocks[3].id


def test_a_block_that_comes_too_early_waits_for_the_one_between_it_and_the_anchor() -> None:
    blocks = line(3)
    forks = anchored(blocks[:1])
    with pytest.raises(UnlinkableBlock):
        forks.push(blocks[2])
    forks.push(blocks[1])
    assert head_of(forks) == blocks[2].id


def test_no_branch_leads_past_an_anchor_but_siblings_on_it_are_compared() -> None:
    blocks = line(3)
    forks = anchored(blocks)
    other = line(1, blocks[0].id, salt=1)[0]
    forks.push(other)
    ones, twos = forks.branches(blocks[2].id, other.id)
    assert ([item.id for item in ones], [item.id for item in twos]) == ([blocks[2].id, blocks[1].id], [other.id])
    for first, second in ((blocks[2].id, blocks[0].id), (blocks[0].id, other.id)):
        with pytest.raises(UnlinkableBlock):
            forks.branches(first, second)


def test_the_head_steps_back_to_an_anchor_and_no_further() -> None:
    blocks = line(2)
    forks = anchored(blocks)
    forks.pop()
    assert forks.head is None
    with pytest.raises(RuleViolation, match="without a head"):
        forks.pop()
    forks.push(block_on(blocks[0].id, salt=1))
    assert forks.head is not None


def test_an_anchor_goes_with_the_window_and_with_everything() -> None:
    blocks = line(5)
    forks = anchored(blocks)
    forks.narrow(4)
    assert blocks[0].id in forks
    forks.narrow(3)
    assert blocks[0].id not in forks
    again = anchored(blocks[:1])
    again.reset()
    assert blocks[0].id not in again


def test_a_block_that_is_there_needs_no_anchor() -> None:
    blocks = line(2)
    forks = holding(blocks)
    forks.anchor(blocks[1].id)
    assert forks.fetch(blocks[1].id) == blocks[1]
