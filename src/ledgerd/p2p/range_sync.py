"""Ranges of blocks, asked from several peers at once, each a piece of its own, and applied in order (spec 04, 10).

The reference asks every peer for the same range, and begins again at the irreversible block each time; here a range
begins where the last ended, and goes back to the irreversible block only when it turns out not to link.
"""

from __future__ import annotations

import logging
from typing import NamedTuple

from ledgerd.p2p.batches import Batch, Origin
from ledgerd.p2p.core import Core
from ledgerd.p2p.messages import BlockRangeReply, GetBlockRange
from ledgerd.p2p.modes import Mode
from ledgerd.p2p.peer import Peer, Step

log = logging.getLogger(__name__)

PIECE = 200
PIECES_AHEAD = 8
BYTES_AHEAD = 16 << 20
ANSWER_SECONDS = 30


class Piece(NamedTuple):
    """What one peer was asked for."""

    start: int
    end: int
    asked_at: float


class RangeSync:
    """Which pieces are asked for, which have come, and where the next begins."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._asked: dict[int, Piece] = {}
        self._holes: list[tuple[int, int]] = []
        self._ready: dict[int, Batch] = {}
        self._applying: Batch | None = None
        self._next = 0
        self._goes_back = False
        self._ends: dict[int, tuple[int, int]] = {}
        """Up to where a peer serves ranges, as long as it claims the same height."""

    def __len__(self) -> int:
        return len(self._asked) + len(self._holes) + len(self._ready)

    @property
    def is_idle(self) -> bool:
        """Whether nothing is asked for, waits or is being applied."""
        return not self._asked and not self._ready and self._applying is None

    @property
    def waiting_bytes(self) -> int:
        """Bytes of blocks that have come before their turn."""
        return sum(batch.size for batch in self._ready.values())

    def stop(self) -> None:
        """Ask no more, and drop what is not in its turn."""
        for number in list(self._asked):
            peer = self._core.find(number)
            if peer is not None:
                peer.step(Step.DELIVERED, self._core.now)
        self._asked.clear()
        self._holes.clear()
        self._ready.clear()
        self._next = 0

    def go_back(self) -> None:
        """What came does not link to our head: begin again at the irreversible block."""
        self.stop()
        self._goes_back = True

    def forget(self, peer: Peer) -> None:
        """A peer is gone: others are asked for its piece."""
        self._ends.pop(peer.id, None)
        piece = self._asked.pop(peer.id, None)
        if piece is not None:
            self._hole(piece.start, piece.end)

    # -- asking

    def plan(self) -> None:
        """Ask every idle peer for the lowest piece that it has."""
        core = self._core
        if core.mode is not Mode.SYNC or core.is_paused:
            return
        self._begin()
        for peer in core.trusted():
            if peer.id in self._asked or not peer.exchange:
                continue
            piece = self._piece_for(peer)
            if piece is not None:
                self._asked[peer.id] = Piece(*piece, core.now)
                peer.step(Step.ASKED, core.now)
                core.send(peer, GetBlockRange(*piece, core.chain.head_id))

    def _begin(self) -> None:
        """The own head is asked for once more, to notice a block beside it."""
        head, lib = self._core.chain.head_number, self._core.chain.lib_number
        self._holes = [(max(start, head + 1), end) for start, end in self._holes if end > head]
        if self.is_idle and not self._holes:
            self._next = lib if self._goes_back and 0 < lib < head else head
            self._goes_back = False

    def _piece_for(self, peer: Peer) -> tuple[int, int] | None:
        head, reach = self._core.chain.head_number, self._reach(peer)
        for place, (start, end) in enumerate(self._holes):
            if self._has(peer, start) and start <= reach:
                del self._holes[place]
                if end > reach:
                    self._hole(reach + 1, end)
                return start, min(end, reach)
        is_far = self._next > head + PIECE * PIECES_AHEAD or self.waiting_bytes > BYTES_AHEAD
        if reach <= head or self._next > reach or is_far:
            return None
        start = self._next
        if not self._has(peer, start):
            if not self._has(peer, head + 1) or start != head:
                return None
            start = head + 1
        end = min(start + PIECE - 1, reach)
        self._next = end + 1
        return start, end

    def _reach(self, peer: Peer) -> int:
        claimed, end = self._ends.get(peer.id, (-1, 0))
        reach = self._core.reach_of(peer)
        return min(end, reach) if claimed == peer.reach else reach

    def _has(self, peer: Peer, number: int) -> bool:
        return peer.earliest == 0 or peer.earliest <= number

    def _hole(self, start: int, end: int) -> None:
        if start <= end:
            self._holes.append((start, end))
            self._holes.sort()

    def needs_snapshot(self) -> bool:
        """Whether somebody is ahead, and nobody has what comes next."""
        head = self._core.chain.head_number
        ahead = [peer for peer in self._core.trusted() if self._core.reach_of(peer) > head]
        return bool(ahead) and not any(self._has(peer, head + 1) for peer in ahead)

    # -- answers

    def receive(self, peer: Peer, reply: BlockRangeReply) -> bool:
        """Take in a reply; whether it answers what was asked."""
        core = self._core
        piece = self._asked.pop(peer.id, None)
        if piece is None:
            return False
        peer.step(Step.DELIVERED, core.now)
        if not reply.blocks:
            self._came_short(peer, piece.start - 1, piece)
            peer.doubt(core.now)
            return True
        numbers = [block.number for block in reply.blocks]
        first, last = numbers[0], numbers[-1]
        if first < piece.start or last > piece.end or numbers != list(range(first, last + 1)):
            core.strike(peer, f"a range reply of blocks {first} to {last}, asked for {piece.start} to {piece.end}")
            peer.doubt(core.now)
            self._hole(piece.start, piece.end)
            return True
        if first > max(piece.start, core.chain.head_number + 1):
            self._hole(piece.start, first - 1)
        if last < piece.end:
            if reply.is_last:
                self._came_short(peer, last, piece)
            else:
                self._hole(last + 1, piece.end)
        self._ready[first] = Batch(Origin.RANGE, peer.id, reply.blocks, is_last=reply.is_last)
        return True

    def _came_short(self, peer: Peer, last: int, piece: Piece) -> None:
        """It serves no more by ranges; what it claims above comes by pushes and gap fills."""
        self._ends[peer.id] = (peer.reach, last)
        if self._next == piece.end + 1:
            self._next = last + 1
        else:
            self._hole(last + 1, piece.end)

    def take_ready(self) -> Batch | None:
        """The batch whose turn it is."""
        head = self._core.chain.head_number
        for first in sorted(self._ready):
            if first > head + 1:
                return None
            self._applying = self._ready.pop(first)
            return self._applying
        return None

    def ended(self, batch: Batch, peer: Peer | None) -> None:
        """A batch has been applied. If the head did not move, it is another branch's: is there more of it?

        What does not link is asked for again from the irreversible block on. What links, and still does not win when
        all of it is here, has lost: its peer is not ahead of us. (The reference bans such a peer.)
        """
        self._applying = None
        if batch.applied:
            if peer is not None:
                peer.fork_batches = 0
        elif batch.forked and not batch.is_linked and batch.first > self._core.chain.lib_number + 1:
            self.go_back()
        elif batch.forked and peer is not None and (not batch.is_linked or batch.last >= self._reach(peer)):
            self.stop()
            peer.lose(self._core.now)

    def expire(self) -> None:
        """Who does not answer is passed over for a time."""
        for number, piece in list(self._asked.items()):
            peer = self._core.find(number)
            if self._core.now - piece.asked_at > ANSWER_SECONDS:
                del self._asked[number]
                self._hole(piece.start, piece.end)
                if peer is not None:
                    peer.step(Step.DELIVERED, self._core.now)
                    peer.doubt(self._core.now)
        if not self._asked and self._ready and min(self._ready) > self._core.chain.head_number + 1 and not self._holes:
            self.stop()
