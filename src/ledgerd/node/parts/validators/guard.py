"""The validator guard as a part of the node: it passes blocks to `producer.guard` and sends its updates."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Iterable

from ledgerd.chain.interface.observer import Observer
from ledgerd.chain.ledger.events import BlockApplied
from ledgerd.node.parts.chain import ChainPart
from ledgerd.node.parts.context import NodePart, PartContext
from ledgerd.node.parts.peers import PeersPart
from ledgerd.node.parts.production import ProductionPart
from ledgerd.node.time_source import MICRO
from ledgerd.producer.guard import AppliedBlock, Guard, Update, read_guard_facts, transaction_of
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.errors import RuleViolation

log = logging.getLogger(__name__)

BLOCKS_REMEMBERED = 64
"""The most blocks that wait for the guard while the node catches up; older ones do not matter."""

SENT_AGAIN_EVERY = 3
"""Seconds between two sendings of the updates during a stop."""


class GuardPart(NodePart, Observer):
    """Restores validators that lost their signing key, and switches them off at a stop. Does nothing where disabled."""

    def __init__(self, context: PartContext, chain: ChainPart, peers: PeersPart, production: ProductionPart) -> None:
        super().__init__(context)
        self._settings = context.configuration.validator_guard
        self._is_enabled = self._settings.enabled and bool(self._settings.watched)
        self._chain = chain
        self._peers = peers
        self._production = production
        self._guard = Guard(self._settings)
        self._blocks: deque[AppliedBlock] = deque(maxlen=BLOCKS_REMEMBERED)
        self._has_blocks = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._has_begun = False

    @property
    def stop_seconds(self) -> float:
        return float(self._settings.shutdown_grace) if self._is_enabled and self._settings.disable_on_shutdown else 0.0

    async def start(self) -> None:
        if not self._is_enabled:
            return
        self._loop = asyncio.get_running_loop()
        await self._chain.run(self._begin)
        await self._chain.attach(lambda chain: chain.observe(self))
        self.work.keep("validator guard", lambda _: self._run())
        self._has_begun = True

    async def _run(self) -> None:
        while True:
            await self._has_blocks.wait()
            self._has_blocks.clear()
            await self._chain.run(self._check)

    async def stop(self) -> None:
        """Switch the validators off if so configured, and wait until peers have had time to get the updates."""
        if not self._has_begun:
            return
        await self.work.stop()
        self._has_begun, self._loop = False, None
        sent = await self._chain.run(self._retire)
        for second in range(1, self._settings.shutdown_grace + 1) if sent else ():
            await asyncio.sleep(1)
            if not await self._chain.run(lambda: self._peers.count):
                break
            if second % SENT_AGAIN_EVERY == 0:
                await self._chain.run(lambda: self._broadcast(sent))

    # -- on the thread of the chain

    def applied(self, event: BlockApplied) -> None:
        """Called within a commit, so the block is only queued for the next check."""
        if self._loop is not None and not self._loop.is_closed():
            self._blocks.append(AppliedBlock.of(event.block))
            self._loop.call_soon_threadsafe(self._has_blocks.set)

    def _begin(self) -> None:
        facts = read_guard_facts(self._chain.chain, self._settings.watched)
        self._send(self._guard.begin(self._production.clock() // MICRO, facts))

    def _check(self) -> None:
        facts = read_guard_facts(self._chain.chain, self._settings.watched)
        while self._blocks:
            self._send(self._guard.on_block(self._production.clock() // MICRO, facts, self._blocks.popleft()))

    def _retire(self) -> list[Transaction]:
        facts = read_guard_facts(self._chain.chain, self._settings.watched)
        updates = self._guard.on_shutdown(self._production.clock() // MICRO, facts)
        if updates and not self._peers.count:
            log.warning("validator_guard: no peers, so nobody would hear that the validators are switched off")
            return []
        if updates:
            log.info(
                "validator_guard: switching off %(validators)s before the stop",
                {"validators": " ".join(each.name for each in updates)},
            )
        return self._send(updates)

    def _send(self, updates: Iterable[Update]) -> list[Transaction]:
        chain, sent = self._chain.chain, []
        for update in updates:
            transaction = transaction_of(chain, update, self._settings.watched[update.name])
            try:
                chain.push_transaction(transaction)
            except RuleViolation as problem:
                self._guard.was_refused(update, str(problem))
                continue
            self._guard.was_sent(update, transaction.id)
            sent.append(transaction)
        self._broadcast(sent)
        for line in self._guard.drain_lines():
            log.log(line.level, "%s", line.text)
        return sent

    def _broadcast(self, transactions: Iterable[Transaction]) -> None:
        for transaction in transactions:
            self._peers.broadcast_transaction(transaction)
