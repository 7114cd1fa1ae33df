"""Follows the commits of a data directory, and publishes heads and blocks to a worker's APIs, as a node does."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable

from ledgerd.codec import codec_of
from ledgerd.node.workers.api_node.directory import DirectoryState, StateHead
from ledgerd.node.workers.api_node.forwarding import NOT_HERE, Forwarder
from ledgerd.protocol.blocks.block import Block, previous_of_packed
from ledgerd.rpc.blocks.kept_blocks import KeptBlocks
from ledgerd.rpc.call.errors import PlainError
from ledgerd.rpc.link.link import HEAD
from ledgerd.rpc.link.subscribers import Subscribers
from ledgerd.rpc.link.topics import APPLIED_BLOCK, INCLUDED, Inclusion, packed_topic
from ledgerd.state.views.reader import CommitView
from ledgerd.state.views.serving_status import ServingStatus, ServingStatusFile

REFRESH_SECONDS = 0.02
"""The pause between two reads of the state while there are clients."""
IDLE_SECONDS = 0.25
"""The pause without clients, and while there is no state to read."""
CHECK_SECONDS = 30.0
"""The pause between two searches for reader slots whose processes were killed."""

BLOCKS_AT_ONCE = 20
"""Blocks that are published before other work has its turn."""
IDS_KEPT = 256
"""Ids of the latest heads that are remembered."""

TOPICS = frozenset((HEAD, APPLIED_BLOCK, INCLUDED))

log = logging.getLogger(__name__)


class DirectoryFollower:
    """The `MainProcess` of a worker of an API node."""

    def __init__(
        self, state: DirectoryState, file: ServingStatusFile, blocks: KeptBlocks, forwarder: Forwarder
    ) -> None:
        self._state = state
        self._file = file
        self._blocks = blocks
        self._forwarder = forwarder
        self._subscribers = Subscribers(_ignore, _ignore)
        self._published: dict[int, bytes] = {}
        """The ids of the latest heads, by their numbers, in the order in which they came."""
        self.followed: ServingStatus | None = None
        self.reason = state.reason
        """Why no request is answered now; empty while they are."""
        self.on_change: list[Callable[[], None]] = []
        """Called when there is another head, or when it begins or ends that requests are answered."""
        self.on_undone: list[Callable[[], None]] = []
        """Called when the new head does not follow any that is remembered: the past may be another one."""

    async def ask(self, topic: str, payload: bytes) -> bytes:
        return await self._forwarder.ask(topic, payload)

    def events(self, topic: str) -> AsyncGenerator[bytes, None]:
        if topic not in TOPICS:
            raise PlainError(NOT_HERE)
        return self._subscribers.events(topic)

    async def run(self, has_clients: Callable[[], bool]) -> None:
        loop = asyncio.get_running_loop()
        check_at = loop.time() + CHECK_SECONDS
        while True:
            more = self.refresh()
            if loop.time() >= check_at:
                check_at = loop.time() + CHECK_SECONDS
                self._state.free_dead_readers()
            is_awake = has_clients() and not self.reason
            await asyncio.sleep(0.0 if more else REFRESH_SECONDS if is_awake else IDLE_SECONDS)

    def refresh(self) -> bool:
        has_moved = self._state.refresh()
        self.followed = self._file.read()
        reason = self._reason()
        if reason != self.reason:
            self._turn(reason)
            has_moved = True
        head = self._state.head
        if has_moved:
            for call in self.on_change:
                call()
        if head is None or self._published.get(head.number) == head.block_id:
            return False
        return self._publish(head)

    def _reason(self) -> str:
        if self.followed is not None and self.followed.reason:
            return self.followed.reason  # what follows knows why there is no state yet
        return self._state.reason if self._state.head is None else ""

    def _turn(self, reason: str) -> None:
        self.reason = reason
        head = self._state.head
        if reason:
            log.warning("requests are refused: %(reason)s", {"reason": reason})
        elif head is not None:
            log.info("requests are answered: the state stands at block %(block)d", {"block": head.number})

    def _publish(self, head: StateHead) -> bool:
        if any(number >= head.number for number in self._published):
            self._undo()
        found: dict[int, bytes | None] = {head.number: None}
        if self._subscribers.has_subscriber(APPLIED_BLOCK) or self._subscribers.has_subscriber(INCLUDED):
            with self._state.snapshot() as view:
                first = self._first_new(view, head)
                numbers = range(first, min(head.number, first + BLOCKS_AT_ONCE) + 1)
                found = {number: self._blocks.packed(view, number) for number in numbers}
                if None in found.values():  # the logs have a gap
                    found = {head.number: self._blocks.packed(view, head.number)}
        last = max(found)
        for number in found:
            after = found.get(number + 1)
            if number == head.number:
                self._remember(number, head.block_id)
            elif after is not None:
                self._remember(number, previous_of_packed(after))
        if last < head.number:
            del found[last]  # it is told next time, when the block after it says what its id is
        self._subscribers.publish(HEAD, b"")
        for packed in found.values():
            if packed is not None:
                self._publish_block(packed)
        return last < head.number

    def _first_new(self, view: CommitView, head: StateHead) -> int:
        """The first block after the last one that was told and is still on the trunk; the head where none is."""
        for number in sorted(self._published, reverse=True):
            if number < head.number:
                after = self._blocks.packed(view, number + 1)
                if after is not None and previous_of_packed(after) == self._published[number]:
                    return number + 1
        if self._published:
            self._undo()
        return head.number

    def _publish_block(self, packed: bytes) -> None:
        self._subscribers.publish(APPLIED_BLOCK, packed)
        if self._subscribers.has_subscriber(INCLUDED):
            block = codec_of(Block).decode_exactly(packed)
            ids = tuple(bytes(transaction.id) for transaction in block.transactions)
            self._subscribers.publish(INCLUDED, packed_topic(Inclusion(block.number, block.timestamp, ids)))

    def _undo(self) -> None:
        for call in self.on_undone:
            call()

    def _remember(self, number: int, block_id: bytes) -> None:
        for above in [each for each in self._published if each >= number]:
            del self._published[above]
        self._published[number] = block_id
        while len(self._published) > IDS_KEPT:
            del self._published[next(iter(self._published))]


def _ignore(_topic: str) -> None:
    pass
