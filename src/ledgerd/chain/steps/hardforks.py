"""Applies the hardforks that the validators have voted for, at their time (spec 03, section 21)."""

from __future__ import annotations

from ledgerd.chain.ledger.block_context import BlockContext
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.migrations.hardforks import apply_next_hardfork, is_hardfork_due


def process_hardforks(ledger: Ledger, _progress: BlockContext) -> None:
    """A vote for a later version brings all hardforks up to it in one block."""
    while is_hardfork_due(ledger):
        apply_next_hardfork(ledger)
