"""Blocks that no chain made, with operations of every numbering in them, as a chain would tell of them."""

from __future__ import annotations

from collections.abc import Sequence

from ledgerd.chain.ledger.events import AFTER_TRANSACTIONS, NO_TRANSACTION, AppliedOperation, BlockApplied
from ledgerd.protocol.blocks.block import NO_TRANSACTIONS, Block
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.crypto.signatures import Signature
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.operations.validators import AccountValidatorProxy
from ledgerd.protocol.operations.virtual import CommitteeCancelRequest, ReceiveAward, ValidatorReward
from ledgerd.protocol.types.assets import shares, tokens
from ledgerd.protocol.types.identifiers import NO_BLOCK, BlockId
from ledgerd.protocol.types.names import AccountName

NAMES = tuple(AccountName(name) for name in ("alice", "bob", "carol", "dave", "lonely.account"))
START = 1_800_000_000
SIGNATURE = Signature(bytes(65))

Plan = Sequence[Sequence[int]]
"""The transactions of a block, each with a number for every operation of it, which says what that is."""


def operation_of(number: int) -> Operation:
    one, other = NAMES[number % len(NAMES)], NAMES[number // 7 % len(NAMES)]
    if number % 11 == 0:
        return AccountValidatorProxy(one, AccountName(""))
    return Transfer(one, other, tokens(1 + number), "x" * (number % 13))


def block_on(previous: BlockId, number: int, plan: Plan, salt: int = 0) -> Block:
    """A block on another one; the salt makes it differ from others there."""
    transactions = tuple(
        Transaction(place, number, START + salt, tuple(map(operation_of, numbers)), (), (SIGNATURE,) * (1 + place % 3))
        for place, numbers in enumerate(plan)
    )
    before = previous if previous != NO_BLOCK else BlockId((number - 1).to_bytes(4, "big") + bytes(16))
    return Block(before, START + 3 * number, f"v-{salt}", NO_TRANSACTIONS, (), SIGNATURE, transactions)


def told(block: Block) -> BlockApplied:
    """What a chain might say of a block: each third operation causes a virtual one, and the block ends with two."""
    happened: list[AppliedOperation] = []
    before = block.timestamp - 3
    for place, transaction in enumerate(block.transactions):
        virtual = 0
        for at, operation in enumerate(transaction.operations):
            numbers = (transaction.id, block.number, place, at)
            happened.append(AppliedOperation(*numbers, 0, before, operation))
            if isinstance(operation, Transfer) and operation.amount.amount % 3 == 0:
                virtual += 1
                award = ReceiveAward(operation.sender, operation.recipient, 7, operation.memo, shares(1))
                happened.append(AppliedOperation(*numbers, virtual, before, award))
    tail = (ValidatorReward(NAMES[block.number % 3], shares(block.number)), CommitteeCancelRequest(block.number))
    for virtual, operation in enumerate(tail, 1):
        numbers = (NO_TRANSACTION, block.number, AFTER_TRANSACTIONS, 0)
        happened.append(AppliedOperation(*numbers, virtual, block.timestamp, operation))
    return BlockApplied(block, tuple(happened), average_block_size=0, slot=block.number, irreversible=0)
