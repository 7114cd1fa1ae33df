"""Bans that are over (spec 09, section 5.13)."""

from __future__ import annotations

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.steps.markets.budget import MarketBudget
from ledgerd.protocol.names import NO_NAME
from ledgerd.protocol.operations.virtual_markets import PmBanExpired
from ledgerd.state.objects.disputes import CREATOR_BAN_BY_EXPIRY
from ledgerd.state.objects.oracles import NOT_BANNED, ORACLE_BY_BAN

EARLIEST = 1


def lift_bans(ledger: Ledger, budget: MarketBudget) -> None:
    """Of oracles, then of creators; together no more than the cap, whatever else the block has done."""
    lifted = 0
    for oracle in ledger.store.scan(ORACLE_BY_BAN, lower=(EARLIEST,), upper=(ledger.now,)):
        if lifted == budget.cap:
            return
        with ledger.editing(oracle):
            oracle.banned_until, oracle.banned_by = NOT_BANNED, NO_NAME
        ledger.emit(PmBanExpired(oracle.owner, oracle=True, creator=False))
        lifted += 1
    for ban in ledger.store.scan(CREATOR_BAN_BY_EXPIRY, lower=(EARLIEST,), upper=(ledger.now,)):
        if lifted == budget.cap:
            return
        with ledger.editing(ban):
            ban.banned_until, ban.banned_by = NOT_BANNED, NO_NAME
        ledger.emit(PmBanExpired(ban.creator, oracle=False, creator=True))
        lifted += 1
