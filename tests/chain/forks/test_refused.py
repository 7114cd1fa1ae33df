"""Blocks that broke a rule, known by their ids for a while."""

from __future__ import annotations

import pytest

from ledgerd.chain.forks.refused import REMEMBERED, REMEMBERED_SECONDS, RefusedBlocks
from ledgerd.protocol.blocks.block import NO_TRANSACTIONS, Block
from ledgerd.protocol.crypto.signatures import Signature
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.types.identifiers import BlockId
from tests.chain.networks import Clock


def block_on(previous: BlockId, salt: int = 0) -> Block:
    return Block(previous, 1_000_000 + salt, "viz", NO_TRANSACTIONS, (), Signature(bytes(65)), ())


BAD = block_on(BlockId(bytes(3) + b"\7" + bytes(16)))


def test_it_and_what_stands_on_it_is_refused_with_its_rule() -> None:
    refused = RefusedBlocks(Clock())
    refused.add(BAD.id, RuleViolation("why"))
    child = block_on(BAD.id)
    for block in (BAD, child, block_on(child.id)):
        with pytest.raises(RuleViolation, match="why"):
            refused.check(block)
    refused.check(block_on(BAD.previous, salt=1))


def test_it_is_forgotten_after_a_while() -> None:
    clock = Clock()
    refused = RefusedBlocks(clock)
    refused.add(BAD.id, RuleViolation("why"))
    clock.now = REMEMBERED_SECONDS + 1
    refused.check(BAD)
    assert len(refused) == 0


def test_so_many_are_remembered_and_one_that_comes_again_stays() -> None:
    refused = RefusedBlocks(Clock())
    refused.add(BAD.id, RuleViolation("why"))
    for salt in range(REMEMBERED + 10):
        with pytest.raises(RuleViolation):
            refused.check(block_on(BAD.id, salt))
    assert len(refused) == REMEMBERED
    with pytest.raises(RuleViolation):
        refused.check(BAD)
