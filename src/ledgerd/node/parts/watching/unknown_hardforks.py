"""Warns in the log while validators vote for a hardfork that this program does not know."""

from __future__ import annotations

import logging

from ledgerd.chain.chain import Chain
from ledgerd.chain.interface.observer import Observer
from ledgerd.chain.ledger.events import BlockApplied
from ledgerd.chain.rules.validators.unknown_hardforks import UnknownHardforkVotes, unknown_hardfork_votes
from ledgerd.protocol.constants import BLOCK_INTERVAL

log = logging.getLogger(__name__)

CHECKED_EVERY = 7
"""Blocks: three times in a round of the main network, whose end may apply the hardfork."""

REPEATED_EVERY = 3_600 // BLOCK_INTERVAL
"""Blocks after which the same votes are told again: an hour."""


class HardforkWarning(Observer):
    """Logs the votes when they change, and every hour: those of the head, so only once for the blocks of a commit."""

    def __init__(self) -> None:
        self._chain: Chain | None = None
        self._is_due = False
        self._reported: UnknownHardforkVotes | None = None
        self._reported_at = 0

    def observe(self, chain: Chain) -> None:
        self._chain, self._is_due = chain, False
        self._inspect(chain)
        chain.observe(self)

    def applied(self, event: BlockApplied) -> None:
        self._is_due |= event.block.number % CHECKED_EVERY == 0
        if self._is_due and self._chain is not None and event.block.number == self._chain.head_number:
            self._is_due = False
            self._inspect(self._chain)

    def _inspect(self, chain: Chain) -> None:
        self.report(unknown_hardfork_votes(chain.state, chain.network), chain.head_number)

    def report(self, found: UnknownHardforkVotes | None, head: int) -> None:
        if found is not None and (found != self._reported or head >= self._reported_at + REPEATED_EVERY):
            log.warning("%s", found)
            self._reported_at = head
        if found is None and self._reported is not None:
            log.info("no validator votes for an unknown hardfork any more")
        self._reported = found
