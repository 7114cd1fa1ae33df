"""The clock of auctions: until hardfork 15 the one place where the reference reads its wall clock into the state
(spec 02, 14.4; spec 10, section 7.3).

That state cannot be had twice: a node that replays has another clock. Ours is the time that every node agrees on: the
timestamp of the block which takes the bid. It matters only to bids in the last minutes. Since hardfork 15 it is the
time of the head for everybody.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ledgerd.chain.ledger.arithmetic import uint32
from ledgerd.protocol.constants import ACCOUNT_AUCTION_EXTENSION_TIME

if TYPE_CHECKING:
    from ledgerd.chain.ledger.ledger import Ledger


def earliest_end(ledger: Ledger) -> int:
    """An auction does not end before this, once a bid has come."""
    clock = ledger.now if ledger.hardfork(15) else ledger.place.time
    return uint32(clock + ACCOUNT_AUCTION_EXTENSION_TIME)
