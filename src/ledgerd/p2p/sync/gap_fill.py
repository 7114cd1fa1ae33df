"""Gap fill: requests for single blocks by number, up to the head, for what no range has (spec 04, section 13)."""

from __future__ import annotations

from ledgerd.p2p.shared.batches import Batch
from ledgerd.p2p.shared.core import Core
from ledgerd.p2p.shared.peer import Peer
from ledgerd.p2p.sync.admission import Admission
from ledgerd.p2p.wire.messages import GapFillReply, GapFillRequest

MOST_BLOCKS = 100
COOLDOWN_SECONDS, ANSWER_SECONDS = 5, 15
REPLY_BYTES = 1_900_000
"""More would not fit into a frame; the reference does not check."""


class GapFill:
    """One request at a time for the whole node."""

    def __init__(self, core: Core, admission: Admission) -> None:
        self._core = core
        self._admission = admission
        self._asked: int | None = None
        self.numbers: frozenset[int] = frozenset()
        """What the last request asked for."""
        self._asked_at = -1e9
        self._limit = MOST_BLOCKS
        self._guide: int | None = None
        """The peer whose branch is fetched, while one is."""
        self._base = 0
        self._begin_at: int | None = None
        """Where the next request begins, if not at the head."""

    def ask(self) -> None:
        """Ask the peer that is highest for what comes after our head, if anything does."""
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
        """The highest of those that exchange with us; else the first that is higher than we."""
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
        """Whether a peer was asked and has not answered."""
        return self._asked == peer.id

    def receive(self, peer: Peer, reply: GapFillReply) -> bool:
        """Whether a reply answers what was asked, and holds nothing else."""
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
        """What came does not link to our chain: begin at the irreversible block, below which nothing can differ."""
        lib = self._core.chain.lib_number
        self._begin_at = lib
        if self._base > lib:
            self._hurry()

    # -- after an answer, so that the next request need not wait

    def follow_up(self, batch: Batch, peer: Peer | None) -> None:
        """Ask for what comes after a batch that was taken in.

        A branch that is not better yet is followed to its end, however long: pruned peers serve what is reversible
        in no other way. The reference stops after the first hundred blocks.
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
        """A peer has disconnected: another may be asked."""
        if self._asked == peer.id:
            self._asked = None

    def _unanswered(self) -> None:
        peer = self._core.find(self._asked) if self._asked is not None else None
        if peer is not None:
            peer.doubt(self._core.now)
        self._asked = None
