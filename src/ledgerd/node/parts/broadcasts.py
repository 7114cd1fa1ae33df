"""Transactions and blocks from clients: decoded, pushed on the chain's thread, and passed on to peers.

The requests are those of `rpc.link.topics`; this is the main process's side of them (spec 05, section 10).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import partial

from ledgerd.chain.chain import Chain
from ledgerd.codec import codec_of
from ledgerd.node.parts.chain import ChainPart
from ledgerd.node.parts.chain_thread import Rank
from ledgerd.node.time_source import MICRO, TimeSource
from ledgerd.p2p.shared.budget import TokenBucket
from ledgerd.protocol.block import Block
from ledgerd.protocol.errors import require
from ledgerd.protocol.transaction import Transaction
from ledgerd.rpc.call.errors import PlainError
from ledgerd.rpc.link.switchboard import Handler
from ledgerd.rpc.link.topics import BROADCAST_BLOCK, BROADCAST_TRANSACTION, broadcast_of

FUTURE_SECONDS = 5
"""How far ahead of the clock a block may be."""

CLIENT_SIGNATURES, CLIENT_SIGNATURES_A_SECOND = 5_000, 1_000
FREE_SIGNATURES = 2
"""Transactions with at most so many signatures are accepted even when the common limit is used up."""
CLIENT_UNPROVEN, CLIENT_UNPROVEN_A_SECOND = 1 << 20, 16 << 10
"""The limit, in bytes, on blocks of all clients without a proven signature: the chain does not know which client
sent a block.
"""

LOCKED = "Unable to acquire WRITE lock"


class Broadcasts:
    """Handles the broadcasts of clients."""

    def __init__(self, chain: ChainPart, time: TimeSource, patience: float) -> None:
        self._chain = chain
        self._time = time
        self._patience = patience
        now = time.wall() / MICRO
        self._signatures = TokenBucket(CLIENT_SIGNATURES, CLIENT_SIGNATURES_A_SECOND, now)
        self._unproven = TokenBucket(CLIENT_UNPROVEN, CLIENT_UNPROVEN_A_SECOND, now)
        self.after_transaction: list[Callable[[Chain, Transaction], None]] = []
        """Called on the chain's thread after a transaction was accepted."""
        self.after_block: list[Callable[[Chain, Block], None]] = []
        """The same for a block, which may be on a branch."""

    @property
    def handlers(self) -> dict[str, Handler]:
        """The handler of each topic."""
        return {BROADCAST_TRANSACTION: self.transaction, BROADCAST_BLOCK: self.block}

    async def transaction(self, payload: bytes) -> bytes:
        """Push a packed transaction."""
        asked = broadcast_of(payload)
        transaction = codec_of(Transaction).decode_exactly(asked.packed)
        await self._in_time(partial(self._push, transaction, asked.max_block_age), Rank.OTHER)
        return b""

    async def block(self, payload: bytes) -> bytes:
        """Push a packed block."""
        block = codec_of(Block).decode_exactly(payload)
        latest = self._time.wall() // MICRO + FUTURE_SECONDS
        require(block.timestamp <= latest, "block.timestamp.sec_since_epoch() <= max_accept_time: ")
        await self._in_time(partial(self._push_block, block), Rank.BLOCK)
        return b""

    def _charge(self, budget: TokenBucket, cost: int) -> None:
        if not budget.take(cost, self._time.wall() / MICRO):
            raise PlainError(LOCKED)

    async def _in_time(self, job: Callable[[], None], rank: Rank) -> None:
        """Refuse a job that waits longer for the chain than the options allow; one that has begun runs to its end."""
        try:
            async with asyncio.timeout(self._patience or None):
                await self._chain.run(job, rank)
        except TimeoutError:
            raise PlainError(LOCKED) from None

    def _push(self, transaction: Transaction, max_block_age: int) -> None:
        chain = self._chain.chain
        if max_block_age >= 0:
            oldest = self._time.wall() // MICRO - max_block_age
            require(chain.head_time >= oldest, "!check_max_block_age(max_block_age): ")
        count = len(transaction.signatures)
        if count > FREE_SIGNATURES and chain.is_signable(transaction):
            self._charge(self._signatures, count)
        chain.push_transaction(transaction)
        for action in self.after_transaction:
            action(chain, transaction)

    def _push_block(self, block: Block) -> None:
        chain = self._chain.chain
        if block.previous != chain.head_id and not chain.is_known(block.id) and not chain.is_signed(block):
            self._charge(self._unproven, len(block.packed))
        chain.push_block(block).or_raise()
        for action in self.after_block:
            action(chain, block)
