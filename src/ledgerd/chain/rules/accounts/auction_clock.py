"""The clock of auctions: the one place where the reference reads its wall clock into the state (spec 02, 14.4).

That state cannot be had twice: a node that replays has another clock. Ours is the time that every node agrees on: the
timestamp of the block which takes the bid. It matters only to bids in the last minutes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledgerd.chain.ledger.arithmetic import uint32
from ledgerd.protocol.constants import ACCOUNT_AUCTION_EXTENSION_TIME

if TYPE_CHECKING:
    from ledgerd.chain.ledger.ledger import Ledger


def earliest_end(ledger: Ledger) -> int:
    """An auction does not end before this, once a bid has come."""
    return uint32(ledger.place.time + ACCOUNT_AUCTION_EXTENSION_TIME)
