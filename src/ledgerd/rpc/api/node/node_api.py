"""`node_api`: the status of this node, without addresses of peers, and what a transaction would do."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated

import msgspec

from ledgerd.codec.types.numbers import UInt32
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.types.assets import Asset
from ledgerd.protocol.types.names import AccountName
from ledgerd.rpc.api.node.node_status import LatestStatus, NodeDetails, NodeStatus, details_of, status_of
from ledgerd.rpc.api.shared.kinds import Printed
from ledgerd.rpc.call.counts import UNCOUNTED, exactly
from ledgerd.rpc.call.declarations import Api
from ledgerd.rpc.call.view import Node
from ledgerd.rpc.link.topics import DETAILS, STATUS, Broadcast, packed_topic, unpacked

NODE_API = Api("node_api", "How the node itself is: for whoever watches it. And what a transaction would do.")
OPERATOR_API = Api("operator_api", "How this node is, for its operator.")
"""At the endpoint of metrics alone, which is for the operator."""

SIMULATE = "simulate a transaction"
"""A request with a `Broadcast` of a transaction, answered with the JSON of a `SimulatedTransaction`."""

PEER_NETWORK = "peer network"
"""A request without arguments, answered with a `PeerNetwork`."""


class PeerNetwork(msgspec.Struct, frozen=True):
    """Where the node stands among its peers."""

    mode: str
    """`sync` while it catches up, `forward` at the head of the chain, `alone` if it runs without peers."""
    peers: UInt32
    connections: UInt32
    fork_status: str
    """`normal`, or during a fork `looking` or `minority`."""


@NODE_API.method(args=exactly(0), cached=False, examples=[[]])
async def network(node: Node) -> PeerNetwork:
    """Where the node stands among its peers."""
    return unpacked(await node.main.ask(PEER_NETWORK, b""), PeerNetwork)


@NODE_API.method(args=UNCOUNTED, cached=False, examples=[[]])
async def follow_status(node: Node, known: UInt32 = 0) -> AsyncGenerator[NodeStatus, None]:
    """How the node stands: now, if the number of that is another than the known one, and then at each change.

    Over HTTP the answer is the first of these, so a client that sends the number that it has waits for the next change.
    """
    async with aclosing(node.main.events(STATUS)) as events:
        latest = node.service(LatestStatus).status
        if latest and status_of(latest).number != known:
            yield status_of(latest)
        async for payload in events:
            yield status_of(payload)


class BrokenRule(msgspec.Struct, frozen=True):
    """The rule that a transaction breaks, as an error has it."""

    code: UInt32
    name: str
    message: str


class AuthorityNotChecked(msgspec.Struct, frozen=True):
    """An authority that the operations ask for, and which the signatures do not reach."""

    role: str
    """`regular`, `active` or `master`; `other` where an operation spells the authority out."""
    account: AccountName


class SimulatedOperation(msgspec.Struct, frozen=True):
    """An operation that would take effect."""

    virtual: bool
    operation: Operation


class BalancesOf(msgspec.Struct, frozen=True):
    """An account whose balances would change."""

    account: AccountName
    balance_before: Asset
    balance_after: Asset
    vesting_shares_before: Asset
    vesting_shares_after: Asset


class SimulatedTransaction(msgspec.Struct, frozen=True):
    """What a transaction would do on top of the head block and the transactions that wait."""

    head_block_number: UInt32
    broken_rule: BrokenRule | None
    """Absent where it breaks none; else nothing would take effect, and the lists are empty."""
    authorities_not_checked: tuple[AuthorityNotChecked, ...]
    """Empty where the signatures suffice."""
    operations: tuple[SimulatedOperation, ...]
    """The operations of the transaction, and the virtual ones that follow from them, in order."""
    balances: tuple[BalancesOf, ...]


SimulationText = Annotated[str, Printed(SimulatedTransaction)]


@NODE_API.method(args=exactly(1), cached=False)
async def simulate_transaction(node: Node, transaction: Transaction) -> SimulationText:
    """What a transaction would do if it were sent now, signed, partly signed or unsigned; nothing of it stays.

    Answered by nodes with `webserver-simulate-transactions`, to each address within a hundredth of the time of the
    chain's thread.
    """
    asked = packed_topic(Broadcast(transaction.packed, share=node.share))
    return (await node.main.ask(SIMULATE, asked)).decode()


@OPERATOR_API.method(args=UNCOUNTED, cached=False)
async def follow(node: Node, known: UInt32 = 0) -> AsyncGenerator[NodeDetails, None]:
    """The details of the node, now if their number is another than the known one, and at each change."""
    async with aclosing(node.main.events(DETAILS)) as events:
        latest = node.service(LatestStatus).details
        if latest and details_of(latest).status.number != known:
            yield details_of(latest)
        async for payload in events:
            yield details_of(payload)
