"""Requests ranges of blocks from several peers at once, and has them applied in order (spec 04, section 10).

The reference asks every peer for the same range, from the irreversible block on. Here a range begins where the one
before ended, and that of a peer that is slow, stalls or lies is requested from another one.
"""

from __future__ import annotations

import logging
from typing import NamedTuple

from ledgerd.p2p.shared.actions import Batch, Origin, Precompute
from ledgerd.p2p.shared.core import Core
from ledgerd.p2p.shared.modes import Mode
from ledgerd.p2p.shared.peer import LifeEvent, Peer
from ledgerd.p2p.wire.messages import BlockRangeReply, GetBlockRange
from ledgerd.protocol.blocks.block import Block

log = logging.getLogger(__name__)

RANGE_BLOCKS = 200
RANGES_AHEAD = 16
BYTES_AHEAD = 8 << 20
ANSWER_SECONDS = 30
IMPATIENT_SECONDS, IMPATIENT_TIMES = 3, 3
"""The lowest range is requested from a second peer after this time, or this multiple of the average time."""


class RequestedRange(NamedTuple):
    """A range of blocks that is requested from a peer."""

    start: int
    end: int
    asked_at: float
    is_delivered: bool = False
    """Whether another peer has delivered it: this one's reply is dropped."""


class SyncRanges:
    """The ranges of one sync."""

    def __init__(self) -> None:
        self.asked: dict[int, RequestedRange] = {}
        self.holes: list[tuple[int, int]] = []
        """Ranges that were requested and did not arrive, in order."""
        self.ready: dict[int, Batch] = {}
        self.next = 0
        """The lowest number that was never requested."""

    def __len__(self) -> int:
        return len(self.asked) + len(self.holes) + len(self.ready)

    @property
    def waiting_bytes(self) -> int:
        return sum(batch.size for batch in self.ready.values())

    @property
    def outstanding(self) -> int:
        return sum(not requested.is_delivered for requested in self.asked.values())

    def clear(self) -> None:
        self.asked.clear()
        self.holes.clear()
        self.ready.clear()
        self.next = 0

    def hole(self, start: int, end: int) -> None:
        if start <= end:
            self.holes.append((start, end))
            self.holes.sort()

    def forget_below(self, number: int) -> None:
        self.holes = [(max(start, number), end) for start, end in self.holes if end >= number]

    def request_hole(self, start: int, end: int, last: int) -> None:
        self.holes.remove((start, end))
        self.hole(last + 1, end)

    def unanswered(self, peer: int) -> None:
        """Make a peer's range a hole, unless it is requested from a second peer too."""
        requested = self.asked.pop(peer, None)
        if requested is None or requested.is_delivered:
            return
        if not any(other[:2] == requested[:2] for other in self.asked.values()):
            self.hole(requested.start, requested.end)

    def delivered(self, requested: RequestedRange) -> None:
        for peer, other in self.asked.items():
            if other[:2] == requested[:2]:
                self.asked[peer] = other._replace(is_delivered=True)

    def overdue(self, now: float, timeout: float) -> RequestedRange | None:
        waited = [requested for requested in self.asked.values() if not requested.is_delivered]
        lowest = min(waited, key=lambda requested: requested.start, default=None)
        if lowest is None or now - lowest.asked_at <= timeout:
            return None
        return lowest if sum(requested.start == lowest.start for requested in waited) == 1 else None


class RangeSync:
    """Requests ranges, and returns their batches in order."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._ranges = SyncRanges()
        self._applying: Batch | None = None
        self._turn = 0
        self._is_back = False
        """Whether blocks below the head are requested, since another branch may be better."""
        self._goes_back = False
        self._ends: dict[int, tuple[int, int]] = {}
        """The last block that a peer serves by ranges, as long as it claims the same height."""
        self._passed: dict[int, int] = {}
        """Peers whose reply for a number was useless: that number is requested from others."""
        self._disputed = 0
        """The number for which a peer sent a block that did not link, or that broke a rule."""
        self._range_bytes = BYTES_AHEAD // RANGES_AHEAD
        self._range_seconds = 0.0

    def __len__(self) -> int:
        return len(self._ranges)

    @property
    def is_idle(self) -> bool:
        return not self._ranges.outstanding and not self._ranges.ready and self._applying is None

    @property
    def waiting_bytes(self) -> int:
        return self._ranges.waiting_bytes

    @property
    def has_more(self) -> bool:
        return bool(self._ranges.ready) and min(self._ranges.ready) <= self._next_turn

    def is_next(self, batch: Batch) -> bool:
        return self.has_more and self._ranges.ready[min(self._ranges.ready)] is batch

    def stop(self) -> None:
        for number in self._ranges.asked:
            peer = self._core.find(number)
            if peer is not None:
                peer.advance(LifeEvent.DELIVERED, self._core.now)
        self._ranges.clear()
        self._is_back = False

    def go_back(self) -> None:
        self.stop()
        self._goes_back = True

    def forget(self, peer: Peer) -> None:
        self._ends.pop(peer.id, None)
        self._passed.pop(peer.id, None)
        self._ranges.unanswered(peer.id)

    # -- asking

    def plan(self) -> None:
        if self._core.mode is Mode.SYNC:
            self._begin()
            for peer in self._core.trusted():
                self._ask(peer)

    def plan_for(self, peer: Peer) -> None:
        """The same for one peer, which has said something new: for all of them, each word would be dear."""
        if self._core.mode is Mode.SYNC:
            self._begin()
            if self._core.trusts(peer):
                self._ask(peer)

    def _ask(self, peer: Peer) -> None:
        core = self._core
        if peer.id in self._ranges.asked or not peer.exchange:
            return
        requested = self._range_for(peer)
        if requested is not None:
            self._ranges.asked[peer.id] = RequestedRange(*requested, core.now)
            peer.advance(LifeEvent.ASKED, core.now)
            core.send(peer, GetBlockRange(*requested, core.chain.head_id))

    @property
    def _next_turn(self) -> int:
        return self._turn if self._is_back else max(self._turn, self._core.chain.head_number + 1)

    def _begin(self) -> None:
        """The range begins at our head, to detect another block of its number."""
        head, lib = self._core.chain.head_number, self._core.chain.lib_number
        if not self._is_back:
            self._ranges.forget_below(head + 1)
        if self.is_idle:
            self._is_back = self._goes_back and 0 < lib < head
            self._goes_back = False
            if not self._ranges.holes or self._is_back:
                self._ranges.holes.clear()
                self._ranges.next = self._turn = lib if self._is_back else head

    def _range_for(self, peer: Peer) -> tuple[int, int] | None:
        head, reach, ranges = self._core.chain.head_number, self._reach(peer), self._ranges
        is_full = self._is_full()
        for start, end in ranges.holes:
            if not self._may_ask(peer, start) or (is_full and start > self._next_turn):
                continue
            last = min(end, reach, start + RANGE_BLOCKS - 1)
            ranges.request_hole(start, end, last)
            return start, last
        if is_full or reach <= head or ranges.next > reach:
            return self._second_of(peer)
        start = ranges.next
        if not self._has(peer, start):
            if not self._has(peer, head + 1) or start != head:
                return None
            start = head + 1
        if not self._may_ask(peer, start):
            return None
        end = min(start + RANGE_BLOCKS - 1, reach)
        ranges.next = end + 1
        return start, end

    def _second_of(self, peer: Peer) -> tuple[int, int] | None:
        timeout = max(IMPATIENT_SECONDS, IMPATIENT_TIMES * self._range_seconds)
        requested = self._ranges.overdue(self._core.now, timeout)
        if requested is None or not self._may_ask(peer, requested.start) or self._reach(peer) < requested.end:
            return None
        return requested.start, requested.end

    def _is_full(self) -> bool:
        ranges = self._ranges
        expected = ranges.waiting_bytes + ranges.outstanding * self._range_bytes
        is_far = ranges.next > self._next_turn + RANGE_BLOCKS * RANGES_AHEAD
        return is_far or (expected > BYTES_AHEAD and not self.is_idle)

    def _may_ask(self, peer: Peer, number: int) -> bool:
        """Whether a peer has a number, and has not sent a useless reply for it, unless no other peer has it."""
        if not self._can_send(peer, number):
            return False
        return self._passed.get(peer.id) != number or not any(
            self._passed.get(other.id) != number and self._can_send(other, number) for other in self._core.trusted()
        )

    def _can_send(self, peer: Peer, number: int) -> bool:
        return peer.exchange and self._has(peer, number) and number <= self._reach(peer)

    def _reach(self, peer: Peer) -> int:
        claimed, end = self._ends.get(peer.id, (-1, 0))
        reach = self._core.reach_of(peer)
        return min(end, reach) if claimed == peer.reach else reach

    def _has(self, peer: Peer, number: int) -> bool:
        return peer.earliest == 0 or peer.earliest <= number

    def needs_snapshot(self) -> bool:
        head = self._core.chain.head_number
        ahead = [peer for peer in self._core.trusted() if self._core.reach_of(peer) > head]
        return bool(ahead) and not any(self._has(peer, head + 1) for peer in ahead)

    # -- answers

    def awaits(self, peer: Peer) -> bool:
        return peer.id in self._ranges.asked

    def asked_of(self, peer: Peer) -> range:
        piece = self._ranges.asked.get(peer.id)
        return range(0) if piece is None else range(piece.start, piece.end + 1)

    def receive(self, peer: Peer, reply: BlockRangeReply) -> bool:
        core, ranges = self._core, self._ranges
        requested = ranges.asked.pop(peer.id, None)
        if requested is None:
            return False
        peer.advance(LifeEvent.DELIVERED, core.now)
        if requested.is_delivered:
            peer.doubt(core.now)
            return True
        if not reply.blocks:
            self._came_short(peer, requested.start - 1, requested)
            peer.doubt(core.now)
            return True
        numbers = [block.number for block in reply.blocks]
        if numbers[0] < requested.start or numbers[-1] > requested.end or numbers != sorted(set(numbers)):
            core.strike(peer, f"a range reply of blocks {numbers[0]} to {numbers[-1]}, asked for {requested[:2]}")
            peer.doubt(core.now)
            self._pass(peer, requested.start, requested.end)
            return True
        self._keep(peer, requested, reply)
        return True

    def _keep(self, peer: Peer, requested: RequestedRange, reply: BlockRangeReply) -> None:
        ranges = self._ranges
        run = linked_run(reply.blocks)
        batch = Batch(Origin.RANGE, peer.id, run, is_last=reply.is_last and len(run) == len(reply.blocks))
        first, last = batch.first, batch.last
        ranges.delivered(requested)
        self._range_bytes = (self._range_bytes + batch.size) // 2
        self._range_seconds = (self._range_seconds + self._core.now - requested.asked_at) / 2
        if first > max(requested.start, self._core.chain.head_number + 1):
            self._pass(peer, requested.start, first - 1)
        if len(run) < len(reply.blocks):
            self._pass(peer, last + 1, requested.end)
        elif last < requested.end and reply.is_last:
            self._came_short(peer, last, requested)
        else:
            ranges.hole(last + 1, requested.end)
        if ranges.waiting_bytes > BYTES_AHEAD and first > self._next_turn:
            ranges.hole(first, last)
            return
        ranges.ready[first] = batch
        if self._core.precomputes:
            batch.is_precomputed = False
            self._core.ask(Precompute(batch))

    def _pass(self, peer: Peer, start: int, end: int) -> None:
        if start <= end:
            self._passed[peer.id] = start
            self._ranges.hole(start, end)

    def _came_short(self, peer: Peer, last: int, requested: RequestedRange) -> None:
        """The peer serves no more blocks by ranges: higher ones come as pushed blocks and through gap fills."""
        self._ends[peer.id] = (peer.reach, last)
        if self._ranges.next == requested.end + 1:
            self._ranges.next = last + 1
        else:
            self._ranges.hole(last + 1, requested.end)

    def pop_ready(self) -> Batch | None:
        ready = self._ranges.ready
        first = min(ready, default=None)
        if first is None or first > self._next_turn or not ready[first].is_precomputed:
            return None
        self._applying = batch = ready.pop(first)
        self._turn = batch.last + 1
        return batch

    def ended(self, batch: Batch, peer: Peer | None) -> None:
        """A batch has been applied. If the head did not move, it belongs to another branch: request more of that.

        A branch that is complete and links, but does not become the best, has lost: its peer is not ahead of us. (The
        reference bans such a peer.)
        """
        self._applying = None
        if batch.applied:
            self._is_back = False
            if self._core.chain.head_number >= self._disputed:
                self._disputed = 0
            if peer is not None:
                peer.fork_batches = 0
        if batch.refused_at is not None:
            self._dispute(batch.refused_at, batch, peer)
        elif batch.applied:
            return
        elif batch.forked and not batch.is_linked and batch.first > self._core.chain.lib_number + 1:
            self._dispute(batch.first, batch, peer)
        elif batch.forked and peer is not None and (not batch.is_linked or batch.last >= self._reach(peer)):
            self.stop()
            peer.lose(self._core.now)

    def _dispute(self, number: int, batch: Batch, peer: Peer | None) -> None:
        """A block does not follow our head: ask another peer. If its block does not follow either, our branch was
        abandoned, and the range begins at the irreversible block.
        """
        others = (other for other in self._core.trusted() if other is not peer and self._can_send(other, number))
        if self._disputed == number or self._is_back or peer is None or not any(others):
            self._disputed = 0
            self.go_back()
            return
        self._disputed, self._turn = number, number
        peer.doubt(self._core.now)
        self._pass(peer, number, batch.last)

    def expire(self) -> None:
        ranges = self._ranges
        for number, requested in list(ranges.asked.items()):
            if self._core.now - requested.asked_at > ANSWER_SECONDS:
                ranges.unanswered(number)
                peer = self._core.find(number)
                if peer is not None:
                    log.info(
                        "%(peer)s: sends no blocks %(first)d to %(last)d",
                        {"peer": peer.endpoint, "first": requested.start, "last": requested.end},
                    )
                    peer.advance(LifeEvent.DELIVERED, self._core.now)
                    peer.doubt(self._core.now)
        is_waiting = bool(ranges.ready) and not self.has_more and self._applying is None
        if is_waiting and not ranges.outstanding:
            self.plan()
            if not ranges.outstanding:
                self.stop()


def linked_run(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    """A reference node leaves out blocks that it lacks, and may send blocks of several branches."""
    for place in range(1, len(blocks)):
        if blocks[place].previous != blocks[place - 1].id:
            return blocks[:place]
    return blocks
