"""How much of the markets' work one block does; the rest is for later blocks (spec 09, section 4.2)."""

from __future__ import annotations

from ledgerd.protocol.properties import ChainPropertiesHf14

DEFAULT_CAP = 20
DEFAULT_ROWS = 2000
"""Where the median says 0."""


class MarketBudget:
    """Turns, of which every market, dispute or position takes one, and rows, for the bets and providers in them."""

    __slots__ = ("cap", "done", "rows")

    def __init__(self, median: ChainPropertiesHf14) -> None:
        self.cap = median.pm_processing_cap_per_block or DEFAULT_CAP
        self.done = 0
        self.rows = median.pm_settle_rows_per_block or DEFAULT_ROWS

    @property
    def turns(self) -> int:
        return self.cap - self.done

    def use_turn(self) -> None:
        """One turn was used. Nothing takes one when none is left."""
        self.done += 1

    def spend(self) -> bool:
        if self.rows == 0:
            return False
        self.rows -= 1
        return True
