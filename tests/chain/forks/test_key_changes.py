"""What in a block may change who signs those above it."""

from __future__ import annotations

from msgspec.structs import replace

from ledgerd.chain.forks.key_changes import NO_ACTS, Acts, acts_of
from ledgerd.protocol.blocks.block import NO_TRANSACTIONS, Block
from ledgerd.protocol.blocks.transaction import unsigned_transaction
from ledgerd.protocol.crypto.signatures import Signature
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.accounts.proposals import OperationWrapper, ProposalCreate, ProposalUpdate
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.operations.validators import ValidatorUpdate
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.identifiers import BlockId
from tests.chain.networks import ALICE, BOB, VIZ, VIZ_KEY

EMPTY = Block(BlockId(bytes(20)), 0, "viz", NO_TRANSACTIONS, (), Signature(bytes(65)), ())
CHANGE = ValidatorUpdate(VIZ, "https://example.test", VIZ_KEY.public)


def acts(*operations: Operation) -> Acts:
    return acts_of(replace(EMPTY, transactions=(unsigned_transaction(EMPTY.previous, 0, operations),)))


def proposing(operation: Operation) -> ProposalCreate:
    return ProposalCreate(ALICE, "title", "", 0, (OperationWrapper(operation),), None, ())


def test_a_key_that_is_set_or_proposed_at_any_depth_is_found() -> None:
    expected = {(VIZ, VIZ_KEY.public)}
    assert acts(Transfer(VIZ, BOB, tokens(1), ""), CHANGE).changes == expected
    assert acts(proposing(proposing(CHANGE))).changes == expected


def test_a_proposal_that_is_approved_is_found() -> None:
    approval = ProposalUpdate(ALICE, "title", (BOB,), (), (), (), (), (), (), (), ())
    assert acts(approval).approved == {(ALICE, "title")}


def test_blocks_without_any_add_nothing() -> None:
    assert acts_of(EMPTY) == acts(Transfer(VIZ, BOB, tokens(1), "")) == NO_ACTS
    first = acts(CHANGE)
    assert first.followed_by(NO_ACTS) is first
    assert NO_ACTS.followed_by(first) == first
