"""Metrics of the slots that this node's own validators have lost, from what its producer has counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from ledgerd.metrics.cells import Cells
from ledgerd.metrics.table import validators as table
from ledgerd.producer.outcome import TickOutcome

OTHER = "other"
CAUSES = {
    TickOutcome.ASKED: "signer_away",
    TickOutcome.SIGNER_AWAY: "signer_away",
    TickOutcome.SIGNER_REFUSED: "signer_refused",
    TickOutcome.SIGNED_BY_ANOTHER: "branch",
    TickOutcome.ALREADY_SIGNED: "branch",
}
"""By the last outcome for a slot; one that was signed and is not in the chain is on a branch."""


class LostSlots:
    """Writes them."""

    def __init__(self, cells: Cells) -> None:
        self._counters = {cause: cells.counter(table.LOST_SLOTS, cause) for cause in table.CAUSE.values}

    def sample(self, lost: Mapping[TickOutcome, int]) -> None:
        counts = Counter[str]()
        for outcome, count in lost.items():
            counts[CAUSES.get(outcome, OTHER)] += count
        for cause, counter in self._counters.items():
            counter.rise_to(counts[cause])
