"""Simulates transactions for clients, on the chain's thread, within quotas of its time: of each address, and of all."""

from __future__ import annotations

import asyncio
from functools import partial

from ledgerd.basics.quotas import Quota, Recent
from ledgerd.chain.ledger.ledger import OutOfTime
from ledgerd.chain.pending.simulation import SimulatedEffects
from ledgerd.codec import codec_of
from ledgerd.node.parts.chain import ChainPart
from ledgerd.node.time_source import TimeSource
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.types.assets import shares, tokens
from ledgerd.rpc.api.node import node_api
from ledgerd.rpc.call.errors import PlainError
from ledgerd.rpc.link.switchboard import Handler
from ledgerd.rpc.link.topics import Broadcast, unpacked

SECONDS, SECONDS_A_SECOND = 0.1, 0.01
"""Time of the chain's thread that one address may use: a burst, then a hundredth of each second."""
ALL_SECONDS, ALL_SECONDS_A_SECOND = 1.0, 0.1
"""Time of the chain's thread that all addresses together may use, likewise."""
REMEMBERED = 4096
"""Addresses whose use is remembered; the least recently active is dropped first."""
MOST_BYTES, MOST_SIGNATURES = 16 << 10, 32
"""Bounds on a transaction, since decoding it and recovering its keys can't be interrupted."""

OFF = "This node does not simulate transactions: webserver-simulate-transactions is off"
SPENT = "This node has no time for it now: try again later"
TOO_LARGE = f"Only transactions of at most {MOST_BYTES} bytes and {MOST_SIGNATURES} signatures are simulated"
TOO_LONG = "It takes too long to simulate this transaction"


class Simulations:
    """Handles the requests of `node_api.simulate_transaction`."""

    def __init__(self, chain: ChainPart, time: TimeSource, timeout: float, *, is_on: bool) -> None:
        self._chain = chain
        self._time = time
        self._timeout = timeout
        self._is_on = is_on
        self._all = Quota(ALL_SECONDS, ALL_SECONDS_A_SECOND, time.seconds())
        self._quotas = Recent(lambda now: Quota(SECONDS, SECONDS_A_SECOND, now), REMEMBERED)

    @property
    def handlers(self) -> dict[str, Handler]:
        return {node_api.SIMULATE: self.simulate}

    async def simulate(self, payload: bytes) -> bytes:
        if not self._is_on:
            raise PlainError(OFF)
        asked = unpacked(payload, Broadcast)
        if len(asked.packed) > MOST_BYTES:
            raise PlainError(TOO_LARGE)
        try:
            async with asyncio.timeout(self._timeout or None):
                found = await self._chain.run(partial(self._within_quota, asked))
        except TimeoutError:
            raise PlainError(SPENT) from None
        return codec_of(node_api.SimulatedTransaction).to_json(found).encode()

    # -- on the thread of the chain

    def _within_quota(self, asked: Broadcast) -> node_api.SimulatedTransaction:
        began = self._time.seconds()
        quota = self._quotas.of(asked.share, began)
        if not (quota.spend(0, began) and self._all.spend(0, began)):
            raise PlainError(SPENT)
        try:
            return self._simulated(codec_of(Transaction).decode_exactly(asked.packed))
        finally:
            now = self._time.seconds()
            quota.spend(now - began, now)
            self._all.spend(now - began, now)

    def _simulated(self, transaction: Transaction) -> node_api.SimulatedTransaction:
        if len(transaction.signatures) > MOST_SIGNATURES:
            raise PlainError(TOO_LARGE)
        chain = self._chain.chain
        try:
            return _shown(chain.head_number, chain.simulate_transaction(transaction))
        except OutOfTime:
            raise PlainError(TOO_LONG) from None
        except RuleViolation as rule:
            broken = node_api.BrokenRule(rule.code, rule.name, rule.message)
            return node_api.SimulatedTransaction(chain.head_number, broken, (), (), ())


def _shown(head: int, effects: SimulatedEffects) -> node_api.SimulatedTransaction:
    return node_api.SimulatedTransaction(
        head,
        None,
        tuple(node_api.AuthorityNotChecked(each.role, each.account) for each in effects.not_checked),
        tuple(node_api.SimulatedOperation(each.virtual_operation > 0, each.operation) for each in effects.operations),
        tuple(
            node_api.BalancesOf(
                each.account, *(tokens(one) for one in each.tokens), *(shares(one) for one in each.shares)
            )
            for each in effects.balances
        ),
    )
