"""Applying a hardfork: what it changes in the state once, and that from now on its rules hold (spec 03, section 21).

What a hardfork changes is in `migrations`; which hardforks there are is in the network's parameters.
"""

from __future__ import annotations

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.migrations import MIGRATIONS
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.operations.virtual import Hardfork


class UnknownHardfork(RuleViolation):
    """The validators have agreed on a hardfork that this program does not know: it is too old to go on."""

    code, name, what = 4090000, "unknown_hardfork_exception", "chain attempted to apply unknown hardfork"


def is_hardfork_due(ledger: Ledger) -> bool:
    hardforks = ledger.hardforks
    current = ledger.network.hardforks[hardforks.last_hardfork].version
    return current < hardforks.next_hardfork and hardforks.next_hardfork_time <= ledger.now


def apply_next_hardfork(ledger: Ledger) -> None:
    """Apply the hardfork after the last one; while it changes the state, its own rules do not hold yet."""
    hardforks = ledger.hardforks
    number = hardforks.last_hardfork + 1
    if number > ledger.network.last_hardfork.number:
        raise UnknownHardfork("")
    migrate = MIGRATIONS.get(number)
    if migrate is not None:
        migrate(ledger)
    applied = ledger.network.hardforks[number]
    with ledger.editing(hardforks):
        hardforks.processed_hardforks = (*hardforks.processed_hardforks, applied.time)
        hardforks.last_hardfork = number
        hardforks.current_hardfork_version = applied.version
    ledger.emit(Hardfork(number))
