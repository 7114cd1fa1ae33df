"""Gap fill: requests for single blocks by number, up to the head, which ranges do not contain (spec 04, section 13)."""

from __future__ import annotations

from ledgerd.p2p.shared.actions import Batch
from ledgerd.p2p.shared.core import Core
from ledgerd.p2p.shared.peer import Peer
from ledgerd.p2p.sync.admission import Admission
from ledgerd.p2p.wire.messages import GapFillReply, GapFillRequest

MOST_BLOCKS = 100
"""Blocks of one request for gaps."""
COOLDOWN_SECONDS, ANSWER_SECONDS = 5, 15
REPLY_BYTES = 1_900_000
"""The most that fits into a frame; the reference does not check that."""


class GapFill:
    """One request at a time for the whole node."""

    def __init__(self, core: Core, admission: Admission) -> None:
        self._core = core
        self._admission = admission
        self._asked: int | None = None
        self.numbers: frozenset[int] = frozenset()
        self._asked_at = -1e9
        self._limit = MOST_BLOCKS
        self._guide: int | None = None
        self._base = 0
        self._begin_at: int | None = None
        """The block at which the next request begins, if not at the head."""

    def ask(self) -> None:
        core = self._core
        since = core.now - self._asked_at
        if since < COOLDOWN_SECONDS or (self._asked is not None and since <= ANSWER_SECONDS):
            return
        if self._asked is not None:
            self._unanswered()
        base = core.chain.head_number
        if base == 0 or core.now < self._admission.quiet_until:
            return
        base, self._begin_at = self._begin_at or base, None
        self._base = base
        peer = self._choose(base)
        self._guide = None
        if peer is None:
            return
        self._asked_at = core.now
        numbers = tuple(range(base, min(core.height_of(peer), base + self._limit - 1) + 1))
        self._asked, self.numbers = peer.id, frozenset(numbers)
        core.send(peer, GapFillRequest(numbers))

    def _choose(self, base: int) -> Peer | None:
        able = [
            peer
            for peer in self._core.trusted()
            if self._core.height_of(peer) > base and (peer.earliest == 0 or peer.earliest <= base + 1)
        ]
        guide = next((peer for peer in able if peer.id == self._guide), None)
        if guide is not None:
            return guide
        exchanging = [peer for peer in able if peer.exchange]
        if exchanging:
            return max(exchanging, key=lambda peer: (peer.head_number, -peer.id))
        return able[0] if able else None

    def awaits(self, peer: Peer) -> bool:
        return self._asked == peer.id

    def receive(self, peer: Peer, reply: GapFillReply) -> bool:
        """Whether a reply answers the request, without other blocks."""
        if self._asked != peer.id:
            return False
        self._asked = None
        if not reply.blocks:
            peer.doubt(self._core.now)
        else:
            size = sum(len(block.packed) for block in reply.blocks) // len(reply.blocks)
            self._limit = max(2, min(MOST_BLOCKS, REPLY_BYTES // max(1, size)))
        return all(block.number in self.numbers for block in reply.blocks)

    def go_back(self) -> None:
        """Begin at the last irreversible block, below which branches do not differ."""
        lib = self._core.chain.lib_number
        self._begin_at = lib
        if self._base > lib:
            self._hurry()

    def follow_up(self, batch: Batch, peer: Peer | None) -> None:
        """Ask for the blocks after a batch that was pushed.

        A branch that is not better yet is fetched to its end, whatever its length, since pruned peers serve reversible
        blocks only by gap fill. The reference stops after the first hundred blocks.
        """
        if batch.applied:
            self._hurry()
        elif batch.forked and not batch.is_linked:
            if self._base <= self._core.chain.lib_number and peer is not None:
                peer.doubt(self._core.now)
            self.go_back()
        elif peer is not None and batch.first < batch.last < self._core.height_of(peer):
            self._begin_at, self._guide = batch.last, peer.id
            self._hurry()
        elif peer is not None and batch.forked and batch.last >= self._core.height_of(peer):
            peer.lose(self._core.now)
        self.ask()

    def _hurry(self) -> None:
        self._asked_at = self._core.now - COOLDOWN_SECONDS

    def forget(self, peer: Peer) -> None:
        if self._asked == peer.id:
            self._asked = None

    def _unanswered(self) -> None:
        peer = self._core.find(self._asked) if self._asked is not None else None
        if peer is not None:
            peer.doubt(self._core.now)
        self._asked = None
