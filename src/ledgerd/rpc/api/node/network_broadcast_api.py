"""`network_broadcast_api`: transactions and blocks for the network (spec 05, section 10), pushed by the main process.

A transaction that breaks a rule is answered with that rule, where the reference reports nothing.
"""

from __future__ import annotations

from contextlib import aclosing

import msgspec

from ledgerd.codec.types.numbers import Int32, UInt32
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.types.identifiers import TransactionId
from ledgerd.rpc.call.counts import broadcast
from ledgerd.rpc.call.declarations import AnyValue, Api, Nothing
from ledgerd.rpc.call.errors import PlainError
from ledgerd.rpc.call.view import Node
from ledgerd.rpc.link import topics

NETWORK_BROADCAST_API = Api("network_broadcast_api", "Transactions and blocks for the network.")

ANY_AGE = 0xFFFFFFFF
SIGN_BIT = 1 << 31


class Confirmation(msgspec.Struct, frozen=True):
    """The place of a transaction in the chain, or that it has expired."""

    id: TransactionId
    block_num: Int32
    trx_num: Int32
    expired: bool


@NETWORK_BROADCAST_API.method(args=broadcast("n_args == 1", 1, 1))
async def broadcast_transaction(node: Node, transaction: Transaction) -> Nothing:
    """Push a transaction to the chain, and send it to peers."""
    await _send(node, transaction, ANY_AGE)
    return Nothing()


@NETWORK_BROADCAST_API.method(args=broadcast("n_args >= 1", 1, None))
async def broadcast_transaction_synchronous(
    node: Node, transaction: Transaction, max_block_age: UInt32 = ANY_AGE
) -> Confirmation:
    """Push a transaction and send it to peers; the answer comes when a block has it, or when it has expired."""
    return await _confirmed(node, transaction, max_block_age)


@NETWORK_BROADCAST_API.method(args=broadcast("n_args >= 2", 2, None))
async def broadcast_transaction_with_callback(
    node: Node,
    callback: AnyValue,  # noqa: ARG001 - clients send it, and get their answer by the id of the request
    transaction: Transaction,
    max_block_age: UInt32 = ANY_AGE,
) -> Confirmation:
    """Like `broadcast_transaction_synchronous`, after the checks that need no state."""
    transaction.check(node.network)
    return await _confirmed(node, transaction, max_block_age)


@NETWORK_BROADCAST_API.method(args=broadcast("n_args == 1", 1, 1, "1 argument"), weighed=False)
async def broadcast_block(node: Node, block: Block) -> Nothing:
    """Push a block to the chain, and send it to peers."""
    await node.main.ask(topics.BROADCAST_BLOCK, topics.packed_topic(topics.Broadcast(block.packed, share=node.share)))
    return Nothing()


async def _send(node: Node, transaction: Transaction, max_block_age: int) -> None:
    """The largest age is read as a signed number of 32 bits, and a negative one is ignored."""
    age = max_block_age - 2 * SIGN_BIT if max_block_age >= SIGN_BIT else max_block_age
    await node.main.ask(
        topics.BROADCAST_TRANSACTION, topics.packed_topic(topics.Broadcast(transaction.packed, age, node.share))
    )


async def _confirmed(node: Node, transaction: Transaction, max_block_age: int) -> Confirmation:
    """Subscribe to blocks before the transaction is sent, so that none is missed."""
    async with aclosing(node.main.events(topics.INCLUDED)) as blocks:
        await _send(node, transaction, max_block_age)
        async for payload in blocks:
            found = _confirmation(transaction, topics.unpacked(payload, topics.Inclusion))
            if found is not None:
                return found
    raise PlainError("The node stops before the transaction is confirmed")


def _confirmation(transaction: Transaction, included: topics.Inclusion) -> Confirmation | None:
    if transaction.id in included.transaction_ids:
        place = included.transaction_ids.index(transaction.id)
        return Confirmation(transaction.id, included.block_num, place, expired=False)
    if transaction.expiration < included.timestamp:
        return Confirmation(transaction.id, included.block_num, -1, expired=True)
    return None
