"""The replay at the start: blocks of the node's own log above the head, and those that only an old state had."""

from __future__ import annotations

import asyncio
import logging
import threading

from ledgerd.chain.chain import Chain
from ledgerd.chain.ledger.skip import VERIFIED_BEFORE
from ledgerd.chain.offline.replay import replay
from ledgerd.codec import codec_of
from ledgerd.node.datadir.origin import StateOrigin
from ledgerd.node.parts.chain import ChainPart
from ledgerd.node.parts.context import NodePart, PartContext
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.errors import RuleViolation
from ledgerd.state.errors import StorageError
from ledgerd.supervision.progress import ProgressLine, shown

log = logging.getLogger(__name__)

ORIGINS = {
    StateOrigin.SNAPSHOT: " (from snapshot)",
    StateOrigin.REBUILD: " (from snapshot)",
    StateOrigin.PEERS: " (from P2P snapshot sync)",
}


class ReplayPart(NodePart):
    """Applies the blocks of the log above the head of the state. Stopped at a block, it continues at the next start."""

    def __init__(self, context: PartContext, chain: ChainPart) -> None:
        super().__init__(context)
        self._chain = chain
        self._seconds = context.time.seconds
        self._is_stopped = threading.Event()

    async def start(self) -> None:
        try:
            await self._chain.run(self._replay)
        except asyncio.CancelledError:
            self._is_stopped.set()
            raise
        origin = ORIGINS.get(self._chain.origin, "")
        log.info(
            "Started on blockchain with %(block)d blocks%(origin)s",
            {"block": self._chain.chain.head_number, "origin": origin},
        )

    def _replay(self) -> None:
        chain = self._chain.chain
        if chain.block_log.head_number > chain.head_number:
            self._replay_log(chain)
        if not self._is_stopped.is_set():
            self._put_back(chain)

    def _replay_log(self, chain: Chain) -> None:
        first, last = chain.head_number + 1, chain.block_log.head_number
        began = self._seconds()
        line = ProgressLine("replaying", first - 1, began)
        log.info("Replaying blockchain from block num %(block)d.", {"block": first})

        def report(height: int) -> None:
            step = line.at(height, last, self._seconds())
            if step is not None:
                log.info("%s", step.text, extra=shown(step))

        def goes_on() -> bool:
            return not self._is_stopped.is_set()

        replay(chain, chain.block_log, skip=VERIFIED_BEFORE, progress=report, goes_on=goes_on)
        if goes_on():
            log.info("Done reindexing, elapsed time: %(seconds).1f sec", {"seconds": self._seconds() - began})
        else:
            log.info(
                "stopped at block %(block)d of %(of)d; the next start goes on from there",
                {"block": chain.head_number, "of": last},
            )

    def _put_back(self, chain: Chain) -> None:
        """Blocks that are in no log only peers might still have; those that do not fit yet are kept until they do."""
        files = self._chain.files
        try:
            kept = [codec_of(Block).decode_exactly(packed) for packed in files.blocks_set_aside()]
            for block in kept:
                if block.number > chain.head_number:
                    chain.push_block(block).or_raise()
            if not kept or chain.head_number >= kept[-1].number:
                files.forget_set_aside()
                return
            problem = f"the head is block {chain.head_number}, they begin at block {kept[0].number}"
        except RuleViolation as error:
            problem = str(error)
        except StorageError as error:
            problem = str(error)
            files.forget_set_aside()  # it cannot be read, and never will be
        log.warning(
            "blocks that were in the state alone cannot be applied, peers have to send them: %(reason)s",
            {"reason": problem},
        )
