"""Slots that a node's own validators have lost, as metrics tell them."""

from __future__ import annotations

from ledgerd.metrics.table import validators as table
from ledgerd.node.parts.production import LostSlots
from ledgerd.producer.outcome import TickOutcome
from tests.metrics.memories import node_memory


def test_lost_slots_are_told_apart_by_what_was_done_last_for_them() -> None:
    lost = {TickOutcome.SIGNER_AWAY: 3, TickOutcome.ASKED: 1, TickOutcome.SIGNER_REFUSED: 2, TickOutcome.LAG: 4}
    with node_memory() as node:
        slots = LostSlots(node.main())
        slots.sample({})
        slots.sample({**lost, TickOutcome.SIGNED_BY_ANOTHER: 5})
        values = node.values()[table.LOST_SLOTS.name]

    assert values == {("signer_away",): [4.0], ("signer_refused",): [2.0], ("branch",): [5.0], ("other",): [4.0]}
