"""While the state is provisional (`assume-valid`) nothing is signed, and the node is not ready. When a valid block
comes in the place of the assumed one, it goes back to the last verified point, without the peer that sent it.
"""

from __future__ import annotations

import asyncio
import logging

from ledgerd.chain.chain import Chain
from ledgerd.chain.forks.outcome import Outcome
from ledgerd.chain.interface.observer import Observer
from ledgerd.node.parts.chain import ChainPart
from ledgerd.node.parts.context import NodePart, PartContext
from ledgerd.protocol.block import Block
from ledgerd.supervision.threads import in_thread
from ledgerd.supervision.work import Working

log = logging.getLogger(__name__)

HOLD = "assume-valid"


class AssumptionPart(NodePart, Observer):
    """Keeps the node from signing until the chain has the block of `assume-valid`."""

    def __init__(self, context: PartContext, chain: ChainPart) -> None:
        super().__init__(context)
        self._chain = chain
        self._changed = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_reported = False

    async def start(self) -> None:
        self._loop = asyncio.get_running_loop()
        await self._chain.attach(self._observe)
        assumption = await self._chain.run(lambda: self._chain.chain.assumption)
        if assumption is None:
            return
        reason = f"the state is provisional until the chain has block {assumption.number}, which is assumed to be valid"
        self._signing.forbid(HOLD, reason)
        self.work.set_down(HOLD, reason)
        log.warning("%(reason)s: signatures of transactions up to it are not checked", {"reason": reason})
        self.work.keep(HOLD, self._wait)

    def _observe(self, chain: Chain) -> None:
        """On the thread of the chain."""
        self._is_reported = chain.assumption is None
        if not self._is_reported:
            chain.observe(self)

    def pushed(self, _block: Block, _outcome: Outcome) -> None:
        """Report once that the chain assumes nothing any more, or that the assumption is refuted."""
        chain = self._chain.chain
        if not self._is_reported and (chain.assumption is None or chain.is_assumption_refuted):
            self._is_reported = True
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self._changed.set)

    async def _wait(self, working: Working) -> None:
        working()
        while True:
            await self._changed.wait()
            self._changed.clear()
            is_over, is_refuted, banned = await self._chain.run(self._check)
            if is_refuted:
                log.critical(
                    "a valid block came in the place of the one that is assumed to be valid: the node goes back to "
                    "the last verified block"
                )
                await in_thread(self._chain.verified.begin_going_back, banned)
                self._newer_state.set()
                await asyncio.Event().wait()
            if is_over:
                break
        await in_thread(self._chain.verified.forget)
        log.info("the chain has the block that is assumed to be valid: the state is not provisional any more")
        self._signing.allow(HOLD)
        self.work.set_up(HOLD)
        await asyncio.Event().wait()

    def _check(self) -> tuple[bool, bool, tuple[str, ...]]:
        """Whether the state is verified, whether the assumption is refuted, and whom to ask no more."""
        chain = self._chain.chain
        if chain.assumption is None:
            chain.commit()
        return chain.assumption is None, chain.is_assumption_refuted, self._chain.verified.banned()
