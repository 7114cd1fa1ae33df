"""Ranges of blocks, asked from several peers at once, each a piece of its own, and applied in order (spec 04, 10).

The reference asks every peer for the same range, and begins again at the irreversible block each time; here a range
begins where the last ended, and goes back to the irreversible block only when it turns out not to link. Who is slow,
stalls or lies costs its own pieces: they are asked of others.
"""

from __future__ import annotations

import logging

from ledgerd.p2p.shared.actions import RecoverKeys
from ledgerd.p2p.shared.batches import Batch, Origin
from ledgerd.p2p.shared.core import Core
from ledgerd.p2p.shared.modes import Mode
from ledgerd.p2p.shared.peer import LifeEvent, Peer
from ledgerd.p2p.sync.pieces import Piece, Pieces
from ledgerd.p2p.wire.messages import BlockRangeReply, GetBlockRange
from ledgerd.protocol.block import Block

log = logging.getLogger(__name__)

PIECE = 200
PIECES_AHEAD = 16
BYTES_AHEAD = 8 << 20
ANSWER_SECONDS = 30
IMPATIENT_SECONDS, IMPATIENT_TIMES = 3, 3
"""The lowest piece is requested from a second peer after this time, or after this multiple of the usual time."""


class RangeSync:
    """Requests pieces, and hands the batches on in order."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._pieces = Pieces()
        self._applying: Batch | None = None
        self._turn = 0
        """The number whose batch is applied next."""
        self._is_back = False
        """Whether blocks below the head are wanted: another branch may be better."""
        self._goes_back = False
        self._ends: dict[int, tuple[int, int]] = {}
        """Up to where a peer serves ranges, as long as it claims the same height."""
        self._passed: dict[int, int] = {}
        """Who has sent something for a number that was of no use: others are asked for that."""
        self._disputed = 0
        """The number for which somebody sent a block that did not link, or that broke a rule."""
        self._piece_bytes = BYTES_AHEAD // PIECES_AHEAD
        """The average size of recent pieces."""
        self._piece_seconds = 0.0
        """The average time of recent pieces."""

    def __len__(self) -> int:
        return len(self._pieces)

    @property
    def is_idle(self) -> bool:
        """Whether nothing is asked for, waits or is being applied."""
        return not self._pieces.outstanding and not self._pieces.ready and self._applying is None

    @property
    def waiting_bytes(self) -> int:
        """Bytes of blocks that have come before their turn."""
        return self._pieces.waiting_bytes

    @property
    def has_more(self) -> bool:
        """Whether the batch whose turn is next is here already."""
        return bool(self._pieces.ready) and min(self._pieces.ready) <= self._next_turn

    def stop(self) -> None:
        """Stop requesting, and drop the batches that are not next."""
        for number in self._pieces.asked:
            peer = self._core.find(number)
            if peer is not None:
                peer.advance(LifeEvent.DELIVERED, self._core.now)
        self._pieces.clear()
        self._is_back = False

    def go_back(self) -> None:
        """A batch did not link to our head: start again at the irreversible block."""
        self.stop()
        self._goes_back = True

    def forget(self, peer: Peer) -> None:
        """A peer has disconnected: its piece is requested from others."""
        self._ends.pop(peer.id, None)
        self._passed.pop(peer.id, None)
        self._pieces.unanswered(peer.id)

    # -- asking

    def plan(self) -> None:
        """Ask every idle peer for the lowest piece that it has."""
        core = self._core
        if core.mode is not Mode.SYNC:
            return
        self._begin()
        for peer in core.trusted():
            if peer.id in self._pieces.asked or not peer.exchange:
                continue
            piece = self._piece_for(peer)
            if piece is not None:
                self._pieces.asked[peer.id] = Piece(*piece, core.now)
                peer.advance(LifeEvent.ASKED, core.now)
                core.send(peer, GetBlockRange(*piece, core.chain.head_id))

    @property
    def _next_turn(self) -> int:
        return self._turn if self._is_back else max(self._turn, self._core.chain.head_number + 1)

    def _begin(self) -> None:
        """The own head is asked for once more, to notice a block beside it."""
        head, lib = self._core.chain.head_number, self._core.chain.lib_number
        if not self._is_back:
            self._pieces.forget_below(head + 1)
        if self.is_idle:
            self._is_back = self._goes_back and 0 < lib < head
            self._goes_back = False
            if not self._pieces.holes or self._is_back:
                self._pieces.holes.clear()
                self._pieces.next = self._turn = lib if self._is_back else head

    def _piece_for(self, peer: Peer) -> tuple[int, int] | None:
        head, reach, pieces = self._core.chain.head_number, self._reach(peer), self._pieces
        is_full = self._is_full()
        for start, end in pieces.holes:
            if not self._may_ask(peer, start) or (is_full and start > self._next_turn):
                continue
            last = min(end, reach, start + PIECE - 1)
            pieces.take_hole(start, end, last)
            return start, last
        if is_full or reach <= head or pieces.next > reach:
            return self._second_of(peer)
        start = pieces.next
        if not self._has(peer, start):
            if not self._has(peer, head + 1) or start != head:
                return None
            start = head + 1
        if not self._may_ask(peer, start):
            return None
        end = min(start + PIECE - 1, reach)
        pieces.next = end + 1
        return start, end

    def _second_of(self, peer: Peer) -> tuple[int, int] | None:
        """What another peer was asked for, and everything waits for by now."""
        patience = max(IMPATIENT_SECONDS, IMPATIENT_TIMES * self._piece_seconds)
        piece = self._pieces.overdue(self._core.now, patience)
        if piece is None or not self._may_ask(peer, piece.start) or self._reach(peer) < piece.end:
            return None
        return piece.start, piece.end

    def _is_full(self) -> bool:
        """Whether as much is under way as may be: by numbers, and by the bytes that are to be expected."""
        pieces = self._pieces
        expected = pieces.waiting_bytes + pieces.outstanding * self._piece_bytes
        is_far = pieces.next > self._next_turn + PIECE * PIECES_AHEAD
        return is_far or (expected > BYTES_AHEAD and not self.is_idle)

    def _may_ask(self, peer: Peer, number: int) -> bool:
        """Whether a peer has a number, and what it sent for it before was of use, or nobody else has it."""
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
        """Whether somebody is ahead, and nobody has what comes next."""
        head = self._core.chain.head_number
        ahead = [peer for peer in self._core.trusted() if self._core.reach_of(peer) > head]
        return bool(ahead) and not any(self._has(peer, head + 1) for peer in ahead)

    # -- answers

    def awaits(self, peer: Peer) -> bool:
        """Whether a peer was asked for something and has not answered."""
        return peer.id in self._pieces.asked

    def asked_of(self, peer: Peer) -> range:
        """The numbers that a peer was asked for."""
        piece = self._pieces.asked.get(peer.id)
        return range(0) if piece is None else range(piece.start, piece.end + 1)

    def receive(self, peer: Peer, reply: BlockRangeReply) -> bool:
        """Take in a reply; whether it answers what was asked."""
        core, pieces = self._core, self._pieces
        piece = pieces.asked.pop(peer.id, None)
        if piece is None:
            return False
        peer.advance(LifeEvent.DELIVERED, core.now)
        if piece.is_delivered:
            peer.doubt(core.now)
            return True
        if not reply.blocks:
            self._came_short(peer, piece.start - 1, piece)
            peer.doubt(core.now)
            return True
        numbers = [block.number for block in reply.blocks]
        if numbers[0] < piece.start or numbers[-1] > piece.end or numbers != sorted(set(numbers)):
            core.strike(peer, f"a range reply of blocks {numbers[0]} to {numbers[-1]}, asked for {piece[:2]}")
            peer.doubt(core.now)
            self._pass(peer, piece.start, piece.end)
            return True
        self._take(peer, piece, reply)
        return True

    def _take(self, peer: Peer, piece: Piece, reply: BlockRangeReply) -> None:
        """Use the blocks that follow one another; the rest of the piece is asked for again."""
        pieces = self._pieces
        run = linked_run(reply.blocks)
        batch = Batch(Origin.RANGE, peer.id, run, is_last=reply.is_last and len(run) == len(reply.blocks))
        first, last = batch.first, batch.last
        pieces.delivered(piece)
        self._piece_bytes = (self._piece_bytes + batch.size) // 2
        self._piece_seconds = (self._piece_seconds + self._core.now - piece.asked_at) / 2
        if first > max(piece.start, self._core.chain.head_number + 1):
            self._pass(peer, piece.start, first - 1)
        if len(run) < len(reply.blocks):
            self._pass(peer, last + 1, piece.end)
        elif last < piece.end and reply.is_last:
            self._came_short(peer, last, piece)
        else:
            pieces.hole(last + 1, piece.end)
        if pieces.waiting_bytes > BYTES_AHEAD and first > self._next_turn:
            pieces.hole(first, last)
            return
        pieces.ready[first] = batch
        if self._core.recovers_keys_ahead:
            batch.are_keys_recovered = False
            self._core.ask(RecoverKeys(batch))

    def _pass(self, peer: Peer, start: int, end: int) -> None:
        """Make a range a hole: other peers are asked for it."""
        if start <= end:
            self._passed[peer.id] = start
            self._pieces.hole(start, end)

    def _came_short(self, peer: Peer, last: int, piece: Piece) -> None:
        """It serves no more by ranges; what it claims above comes by pushes and gap fills."""
        self._ends[peer.id] = (peer.reach, last)
        if self._pieces.next == piece.end + 1:
            self._pieces.next = last + 1
        else:
            self._pieces.hole(last + 1, piece.end)

    def take_ready(self) -> Batch | None:
        """The batch whose turn it is."""
        ready = self._pieces.ready
        first = min(ready, default=None)
        if first is None or first > self._next_turn or not ready[first].are_keys_recovered:
            return None
        self._applying = batch = ready.pop(first)
        self._turn = batch.last + 1
        return batch

    def ended(self, batch: Batch, peer: Peer | None) -> None:
        """A batch has been applied. If the head did not move, it is another branch's: is there more of it?

        What links, and still does not win when all of it is here, has lost: its peer is not ahead of us. (The
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
        """A block does not follow our head: another peer is asked what does. If it says the same, ours is the branch
        that is left, and what is wanted begins at the irreversible block.
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
        """Ignore peers that did not answer in time."""
        pieces = self._pieces
        for number, piece in list(pieces.asked.items()):
            if self._core.now - piece.asked_at > ANSWER_SECONDS:
                pieces.unanswered(number)
                peer = self._core.find(number)
                if peer is not None:
                    log.info("%s: sends no blocks %d to %d", peer.endpoint, piece.start, piece.end)
                    peer.advance(LifeEvent.DELIVERED, self._core.now)
                    peer.doubt(self._core.now)
        is_waiting = bool(pieces.ready) and not self.has_more and self._applying is None
        if is_waiting and not pieces.outstanding:
            self.plan()
            if not pieces.outstanding:
                self.stop()


def linked_run(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    """The blocks at the front that continue one another.

    A reference node leaves out what it lacks, and may hold blocks of several branches.
    """
    for place in range(1, len(blocks)):
        if blocks[place].previous != blocks[place - 1].id:
            return blocks[:place]
    return blocks
