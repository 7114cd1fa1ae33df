"""Checks of peers' blocks before they are pushed to the chain.

A block must be well formed, and either follow the head or be signed by the validator that it names. Of other blocks
each peer may send a few (spec 04, section 27, items 7 to 9).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ledgerd.p2p.shared.allowances import Allowance
from ledgerd.p2p.shared.chain_access import Acceptance
from ledgerd.p2p.shared.core import FUTURE_SECONDS, Core
from ledgerd.p2p.shared.peer import Peer
from ledgerd.protocol.blocks.block import Block

FUTURE_LIMIT = 3600
MOST_EARLY, MOST_EARLY_OF_ADDRESS = 64, 8
"""Blocks before their time that are kept, of all peers and of one address."""
MOST_REJECTIONS, QUIET_SECONDS = 3, 120
"""Refused blocks at one height after which gaps are not asked for, and for how long."""
BLOCKS_AT_ONCE, SECONDS_AT_ONCE = 32, 0.01
"""The most blocks of a sync that the chain gets at once, and the seconds after which no more are added: half a turn."""

COUNTED_AS = {
    Acceptance.ACCEPTED: "accepted",
    Acceptance.ALREADY_KNOWN: "known",
    Acceptance.FORK_DB_ONLY: "branch",
    Acceptance.DEAD_FORK: "dead_fork",
    Acceptance.REJECTED: "rejected",
}
"""The values of the label `outcome` in metrics."""


class Admission:
    """Admits the blocks of all peers."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._early: list[tuple[Allowance | None, Block]] = []
        self._rejected_number = 0
        self._rejections = 0
        self.quiet_until = 0.0
        """No gap fill is requested until then: blocks of one number were refused repeatedly (spec 04, section 13.5)."""

    def __len__(self) -> int:
        return len(self._early)

    def admit(self, peer: Peer | None, block: Block, *, is_syncing: bool) -> Acceptance:
        core = self._core
        if not core.chain.is_sound(block):
            return Acceptance.REJECTED
        if core.is_by_our_clock and block.timestamp > core.now + FUTURE_SECONDS:
            self._wait(peer, block)
            return Acceptance.FORK_DB_ONLY
        if block.previous != core.chain.head_id and not core.chain.is_known(block.id):
            is_proven = core.chain.is_signed(block)
            if not is_proven and peer is not None and not peer.allowance.unproven.spend(1, core.now):
                return Acceptance.FORK_DB_ONLY
        outcome = core.chain.accept_block(block, core.now, is_syncing=is_syncing)
        self._credit(peer, block, outcome)
        return outcome

    def continuing(self, blocks: Iterable[Block]) -> list[Block]:
        """The first of these blocks that continue the head, as many as are handed to the chain together."""
        core, found = self._core, list[Block]()
        head, latest = core.chain.head_id, core.now + FUTURE_SECONDS
        for block in blocks:
            is_early = core.is_by_our_clock and block.timestamp > latest
            if block.previous != head or is_early or not core.chain.is_sound(block):
                break
            found.append(block)
            if len(found) == BLOCKS_AT_ONCE:
                break
            head = block.id
        return found

    def admit_all(self, peer: Peer | None, blocks: Sequence[Block]) -> list[Acceptance]:
        """Admit blocks of a sync that continue the head; it ends with one that is not accepted, or for lack of time."""
        outcomes = self._core.chain.accept_blocks(blocks, self._core.now, SECONDS_AT_ONCE)
        for block, outcome in zip(blocks, outcomes, strict=False):
            self._credit(peer, block, outcome)
        return outcomes

    def _credit(self, peer: Peer | None, block: Block, outcome: Acceptance) -> None:
        core = self._core
        if core.meter is not None:
            core.meter.block(COUNTED_AS[outcome])
        is_assumed_place = core.chain.is_assumption_refuted and block.number == core.chain.signers_above
        if outcome is Acceptance.REJECTED and is_assumed_place and peer is not None:
            core.ban(peer, f"block {block.number} is not the one that is assumed to be valid")
        if outcome is Acceptance.ACCEPTED:
            core.last_block_at = core.now
            if peer is not None:
                peer.trust()
                peer.record_useful(core.now)
                peer.exchange = peer.is_aligned = True

    def early(self) -> list[Block]:
        due = [block for _, block in self._early if block.timestamp <= self._core.now + FUTURE_SECONDS]
        self._early = [each for each in self._early if each[1].timestamp > self._core.now + FUTURE_SECONDS]
        return sorted(due, key=lambda block: block.number)

    def count_rejection(self, number: int) -> None:
        if number == self._rejected_number:
            self._rejections += 1
        else:
            self._rejected_number, self._rejections = number, 1
        if self._rejections >= MOST_REJECTIONS:
            self.quiet_until = self._core.now + QUIET_SECONDS
            self._rejected_number = self._rejections = 0

    def _wait(self, peer: Peer | None, block: Block) -> None:
        """Without a strike, since either clock may be wrong (spec 04, section 27, item 9)."""
        owner = None if peer is None else peer.allowance
        mine = sum(each is owner for each, _ in self._early)
        is_near = block.timestamp <= self._core.now + FUTURE_LIMIT
        if is_near and mine < MOST_EARLY_OF_ADDRESS and len(self._early) < MOST_EARLY:
            self._early.append((owner, block))
