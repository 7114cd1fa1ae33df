"""Counters for display that are counted from the rows once: after hardfork 14, and after an import.

The reference counts in the first block with markets (spec 09, section 4.1; spec 08, section 3.16). A ledger that came
to hardfork 14 block by block has counted all along, and an import counts before its first block. So that block finds
the counts right; there is one exception, `recount_newcomers`.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from operator import attrgetter

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.markets.liquidation import bring_end, expect_end
from ledgerd.chain.rules.markets.market import COLLATERAL, LIQUIDITY, STAKES, Frozen
from ledgerd.chain.rules.markets.oracles import AWAITING_DECISION, AWAITING_RESPONSE, IN_DISPUTE_WINDOW, Gauge, gauge_of
from ledgerd.protocol.types.names import AccountName
from ledgerd.state.objects.accounts.accounts import ACCOUNTS
from ledgerd.state.objects.markets import bets, disputes, leverage, liquidity
from ledgerd.state.objects.markets.bets import PmBet
from ledgerd.state.objects.markets.disputes import DISPUTE_BY_MARKET
from ledgerd.state.objects.markets.leverage import PM_LEVERAGE_POSITIONS, PmLeveragePosition
from ledgerd.state.objects.markets.liquidity import PmLiquidity
from ledgerd.state.objects.markets.markets import (
    ACTIVE,
    MARKET_BY_ORACLE_STATUS,
    PM_MARKETS,
    RESOLVED,
    TO_BE_PAID,
    PmMarket,
)
from ledgerd.state.objects.markets.oracles import PM_ORACLES, PmOracle
from ledgerd.state.tables.tables import Entity
from ledgerd.state.views.view import View

STAKED = frozenset({bets.ACTIVE, bets.QUEUED, bets.REVEALED})
COUNTERS: tuple[Frozen, ...] = (LIQUIDITY, STAKES, COLLATERAL)
GAUGES: tuple[Gauge, ...] = (IN_DISPUTE_WINDOW, AWAITING_RESPONSE, AWAITING_DECISION)


def recount_newcomers(ledger: Ledger, parent_time: int) -> None:
    """For oracles of this block: markets that one had before it registered were not counted then, but are by this."""
    for oracle in ledger.store.scan(PM_ORACLES, reverse=True):
        if oracle.active_since < parent_time:
            return
        markets = list(ledger.store.under(MARKET_BY_ORACLE_STATUS, oracle.owner))
        _set_gauges(ledger, oracle, sum(map(_is_active, markets)), _gauges(ledger.store, markets))


class FrozenTally:
    """Counts what accounts have in markets, by the rows that pass by."""

    def __init__(self) -> None:
        self.frozen: Counter[tuple[AccountName, Frozen]] = Counter()

    def add(self, row: Entity) -> None:
        if isinstance(row, PmBet):
            if row.status in STAKED:
                self.frozen[row.account, STAKES] += row.amount
        elif isinstance(row, PmLiquidity):
            if row.status == liquidity.ACTIVE and row.provider:
                self.frozen[row.provider, LIQUIDITY] += row.amount
        elif isinstance(row, PmLeveragePosition) and row.status == leverage.ACTIVE:
            self.frozen[row.account, COLLATERAL] += row.collateral


def recount_accounts(ledger: Ledger, tally: FrozenTally) -> None:
    """Set what each account has in markets to what was counted in an import, whose rows are committed.

    Accounts are read without keeping them in memory; what stands as it was counted is not written again.
    """
    frozen, counted, nothing = tally.frozen, attrgetter(*COUNTERS), (0,) * len(COUNTERS)
    found = {name: tuple(frozen[name, counter] for counter in COUNTERS) for name, _ in frozen}
    with ledger.store.committed() as view:
        differing = [
            account.id
            for account in view.scan_fields(ACCOUNTS, "id", "name", *COUNTERS)
            if counted(account) != found.get(account.name, nothing)
        ]
    for account_id in differing:
        account = ledger.store.get(ACCOUNTS, account_id)
        with ledger.editing(account):
            for counter in COUNTERS:
                setattr(account, counter, frozen[account.name, counter])


def recount_oracles(ledger: Ledger) -> None:
    """Count the markets and disputes of each oracle, in the same way.

    An oracle may come out with more than were counted along the way: markets that it had as its own oracle before it
    registered were only ever counted down (spec 09, section 3.3).
    """
    active: Counter[AccountName] = Counter()
    gauges: dict[AccountName, Counter[Gauge]] = defaultdict(Counter)
    with ledger.store.committed() as view:
        for market in view.scan(PM_MARKETS):
            active[market.oracle] += _is_active(market)
            gauges[market.oracle] += _gauges(view, [market])
    for oracle in list(ledger.store.scan(PM_ORACLES)):
        _set_gauges(ledger, oracle, active[oracle.owner], gauges[oracle.owner])


def record_leverage_ends(ledger: Ledger) -> None:
    """Record when positions end, of which an import does not tell."""
    with ledger.store.committed() as view:
        leveraged = {
            position.market for position in view.scan(PM_LEVERAGE_POSITIONS) if position.status == leverage.ACTIVE
        }
    for market_id in sorted(leveraged):
        market = ledger.store.find(PM_MARKETS, market_id)
        if market is not None:
            expect_end(ledger, market)
            if market.status >= RESOLVED:
                bring_end(ledger, market)


def _is_active(market: PmMarket) -> bool:
    return market.status == ACTIVE


def _gauges(view: View, markets: list[PmMarket]) -> Counter[Gauge]:
    found: Counter[Gauge] = Counter()
    for market in markets:
        dispute = view.lookup(DISPUTE_BY_MARKET, market.id)
        if dispute is None:
            found[IN_DISPUTE_WINDOW] += market.status == RESOLVED and market.payout_status == TO_BE_PAID
        elif dispute.status == disputes.OPEN:
            found[gauge_of(dispute)] += 1
    return found


def _set_gauges(ledger: Ledger, oracle: PmOracle, active: int, gauges: Counter[Gauge]) -> None:
    with ledger.editing(oracle):
        oracle.active_markets = active
        for gauge in GAUGES:
            setattr(oracle, gauge, gauges[gauge])
