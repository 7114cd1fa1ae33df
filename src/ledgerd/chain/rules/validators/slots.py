"""Slots: times of blocks, and their validators (spec 03, section 6)."""

from __future__ import annotations

from ledgerd.chain.ledger.arithmetic import uint32
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.constants import BLOCK_INTERVAL
from ledgerd.protocol.types.names import AccountName

SLOTS_REMEMBERED = 128
"""The bits of `recent_slots_filled`."""


def slot_time(ledger: Ledger, slot: int) -> int:
    """When a slot after the head begins; before the first block time stands still, so slot 1 is at zero."""
    if slot == 0:
        return 0
    globals_ = ledger.globals
    if globals_.head_block_number == 0:
        return uint32(globals_.time - BLOCK_INTERVAL + slot * BLOCK_INTERVAL)
    return uint32(globals_.time // BLOCK_INTERVAL * BLOCK_INTERVAL + slot * BLOCK_INTERVAL)


def slot_at(ledger: Ledger, time: int) -> int:
    """The slot that a moment falls in, counted from the head; 0 before the first."""
    first = slot_time(ledger, 1)
    return 0 if time < first else (time - first) // BLOCK_INTERVAL + 1


def scheduled_validator(ledger: Ledger, slot: int) -> AccountName:
    schedule = ledger.schedule
    place = (ledger.globals.current_aslot + slot) % schedule.num_scheduled_validators
    return schedule.current_shuffled_validators[place]


def participation(recent_slots_filled: int, slots: int = SLOTS_REMEMBERED) -> int:
    """How many of the last slots were filled, in hundredths of a percent; 128 of them are remembered."""
    return 10_000 * (recent_slots_filled & (1 << slots) - 1).bit_count() // slots
