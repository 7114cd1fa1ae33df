"""Warns in the log while validators vote for a hardfork that this program does not know."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from ledgerd.chain.interface.observer import Observer
from ledgerd.chain.rules.validators.unknown_hardforks import unknown_hardfork_votes
from ledgerd.protocol.constants import BLOCK_INTERVAL

if TYPE_CHECKING:
    from ledgerd.chain.chain import Chain
    from ledgerd.chain.events import BlockApplied
    from ledgerd.chain.rules.validators.unknown_hardforks import UnknownHardforkVotes

log = logging.getLogger(__name__)

LOOK_EVERY = 7
"""Blocks: three times in a round of the main network, whose end may apply the hardfork."""

SAY_AGAIN_EVERY = 3_600 // BLOCK_INTERVAL
"""Blocks after which the same votes are told again: an hour."""


class HardforkWarning:
    """Says in the log when the votes change, and every hour; on the chain's thread."""

    def __init__(self) -> None:
        self._said: UnknownHardforkVotes | None = None
        self._said_at = 0

    def follow(self, chain: Chain) -> None:
        """Look now, and every few blocks from now on."""
        self.inspect(chain)
        chain.observe(_Heads(self, chain))

    def inspect(self, chain: Chain) -> None:
        """Look at the votes as they are at the head."""
        self.tell(unknown_hardfork_votes(chain.state, chain.network), chain.head_number)

    def tell(self, found: UnknownHardforkVotes | None, head: int) -> None:
        """Log the votes at a head block if they are news."""
        if found is not None and (found != self._said or head >= self._said_at + SAY_AGAIN_EVERY):
            log.warning("%s", found)
            self._said_at = head
        if found is None and self._said is not None:
            log.info("no validator votes for an unknown hardfork any more")
        self._said = found


class _Heads(Observer):
    """What is seen is the state of the head: of many blocks in one commit only the last one is looked at."""

    def __init__(self, warning: HardforkWarning, chain: Chain) -> None:
        self._warning = warning
        self._chain = chain
        self._is_due = False

    def applied(self, event: BlockApplied) -> None:
        self._is_due |= event.block.number % LOOK_EVERY == 0
        if self._is_due and event.block.number == self._chain.head_number:
            self._is_due = False
            self._warning.inspect(self._chain)
