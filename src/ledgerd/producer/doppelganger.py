"""The doppelganger check: whether another node signs with a key of ours. It does not prevent the first double signature
of a node that was started beside us later; it ends the damage there.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterable
from typing import NamedTuple

from ledgerd.chain.forks.outcome import Outcome
from ledgerd.producer.settings import ProducerSettings
from ledgerd.producer.signing.double_sign import SignedSlot
from ledgerd.producer.time.clock import SECOND, Microseconds
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.constants import BLOCK_INTERVAL, COMMITTEE_ACCOUNT
from ledgerd.protocol.crypto.keys import PublicKey
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.networks.parameters import ChainParameters
from ledgerd.protocol.types.names import AccountName
from ledgerd.protocol.types.time_text import time_text

log = logging.getLogger(__name__)

OLDEST = 100
"""Seconds: a block that is older when it first comes was made before our watch, or is replayed to stop us."""

OURS_REMEMBERED = 256
"""Blocks of our signer that are remembered: far more than one node can sign within `OLDEST`."""


def is_doppelganger_checked(settings: ProducerSettings, network: ChainParameters) -> bool:
    """Whether to look for other nodes that sign with our keys. Not with a signer: several nodes may use it, and it
    signs once for a slot.
    """
    return (
        settings.checks_doppelganger
        and not settings.is_signed_elsewhere
        and bool(settings.keys)
        and not settings.allows_stale
        and network.max_validators > 1
    )


class WatchState(NamedTuple):
    """The state of the check, for whoever reports it."""

    stopped: str = ""
    """Why no block is signed until the node is started again; empty if nothing foreign was seen."""
    watching: str = ""
    """Why no block is signed yet; empty after the watch."""


class Doppelganger:
    """Watches for foreign blocks by the keys of this node; on the chain's thread. The committee is left out: its key is
    published, and several nodes hold it on purpose.
    """

    def __init__(
        self,
        settings: ProducerSettings,
        last_signed: SignedSlot | None,
        slots: int,
        clock: Microseconds,
        report: Callable[[WatchState], None] = lambda _: None,
    ) -> None:
        self._names = frozenset(settings.names) - {COMMITTEE_ACCOUNT}
        self._keys = frozenset(settings.keys)
        self._last = last_signed
        self._slots = slots
        self._clock = clock
        self._report = report
        self._ours: deque[bytes] = deque(maxlen=OURS_REMEMBERED)
        """Our blocks, by their signed hashes. Their ids do not tell them: with a changed signature a block gets another
        id.
        """
        age = None if last_signed is None else abs(clock() // SECOND - last_signed.time)
        # Whoever has signed within the last round is the one whose blocks the network has.
        self._left = 0 if age is not None and age < slots * BLOCK_INTERVAL else slots
        """Slots that are still to be watched before this node signs."""
        self._slot = 0
        """The slot that was counted last; 0 before the first."""
        self._is_announced = False
        self.stopped = ""
        report(self.state)

    def set_keys(self, keys: Iterable[PublicKey]) -> None:
        self._keys = frozenset(keys)

    def remember(self, block: Block) -> None:
        self._ours.append(block.header.digest)

    def inspect(self, block: Block, outcome: Outcome) -> None:
        if block.timestamp < self._clock() // SECOND - OLDEST:
            if outcome.has_moved and self._left:
                # Watch from the beginning: the node was behind, and has received nothing of the present yet.
                self._left, self._slot = self._slots, 0
            return
        if not self.stopped and self._is_foreign(block):
            self._stop(block)

    def count(self, second: int, peers: int) -> None:
        """Count the slot of a moment as watched, where there was a peer to receive blocks from."""
        slot = second // BLOCK_INTERVAL
        if self._left == 0 or not peers or slot == self._slot:
            return
        if not self._is_announced:
            self._is_announced = True
            log.info(
                "doppelganger-check: watching %(slots)d slots for blocks of another node with our keys",
                {"slots": self._left},
            )
        if self._slot:
            self._left -= 1
        self._slot = slot
        if self._left == 0:
            log.info("doppelganger-check: no other node signs with our keys; production begins")
            self._report(self.state)

    def _is_foreign(self, block: Block) -> bool:
        if block.validator not in self._names or block.header.digest in self._ours:
            return False
        last = self._last
        if last is not None and (block.timestamp < last.time or block.header.digest == last.digest):
            # Of an earlier run of this node, which had signed up to there.
            return False
        try:
            return block.signee in self._keys
        except RuleViolation:
            return False

    def _stop(self, block: Block) -> None:
        made = f"block #{block.number} {block.id.hex()} of {time_text(block.timestamp)}"
        self.stopped = (
            f"DOPPELGANGER: another node signs with the key of {block.validator}: {made} is not ours. This node signs "
            f"nothing until it is started again. Stop one of the two nodes for good, wait {OLDEST} seconds, then start "
            "the other"
        )
        log.error("%s", self.stopped)
        self._report(self.state)

    @property
    def state(self) -> WatchState:
        if self.stopped or not self._left:
            return WatchState(self.stopped)
        return WatchState(
            watching=f"doppelganger-check: no block is signed before {self._slots} slots were watched for another node "
            "with our keys, with a peer connected and the chain caught up"
        )

    def refusal(self, name: AccountName) -> WatchState:
        return self.state if name in self._names else WatchState()
