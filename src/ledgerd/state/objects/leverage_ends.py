"""When the positions of a market are closed at the latest. Ours, not consensus: the reference looks at every position.

Kept by `chain.rules.markets.leverage_ends`.
"""

from __future__ import annotations

from ledgerd.protocol.times import LATEST, Time
from ledgerd.state.keys import OBJECT_ID, TIME
from ledgerd.state.tables import Entity, ObjectId, Table, unique

AT_ONCE = 0
NEVER = LATEST
"""Beside the end of betting: the market is resolved already, or takes bets until it is."""


class LeverageEnd(Entity):
    """A market that has, or had, positions which stand: from this time on they do not."""

    market: ObjectId = 0
    time: Time = NEVER


LEVERAGE_ENDS = Table(LeverageEnd, number=104)
LEVERAGE_END_BY_MARKET = unique(LEVERAGE_ENDS, "by_market", lambda end: (end.market,), (OBJECT_ID,))
LEVERAGE_END_BY_TIME = unique(LEVERAGE_ENDS, "by_time", lambda end: (end.time, end.market), (TIME, OBJECT_ID))
