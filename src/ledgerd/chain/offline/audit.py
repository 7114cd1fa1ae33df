"""What the state adds up to, tokens first, and by how much that differs from the totals it keeps. The reference
leaves such differences; `discrepancies` has what they are by right. What is counted is the ledger as it is now, or
the view that is given.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any, Generic, NamedTuple

from ledgerd.chain.ledger.discrepancies import record_discrepancy
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.markets.seeds import STAKED
from ledgerd.state.objects.accounts.accounts import ACCOUNTS
from ledgerd.state.objects.discrepancies import Sum
from ledgerd.state.objects.globals import DYNAMIC_GLOBAL_PROPERTIES, DynamicGlobalProperty
from ledgerd.state.objects.markets import commitments, disputes, leverage, liquidity
from ledgerd.state.objects.markets.bets import PM_BETS
from ledgerd.state.objects.markets.commitments import PM_COMMITS
from ledgerd.state.objects.markets.disputes import PM_DISPUTES
from ledgerd.state.objects.markets.lazy_pool import PM_LAZY_POOLS
from ledgerd.state.objects.markets.leverage import PM_LEVERAGE_POSITIONS
from ledgerd.state.objects.markets.liquidity import PM_LIQUIDITY
from ledgerd.state.objects.markets.markets import PM_MARKETS
from ledgerd.state.objects.markets.oracles import PM_ORACLES
from ledgerd.state.objects.markets.settlements import PM_SETTLEMENTS
from ledgerd.state.objects.money.escrow import ESCROWS
from ledgerd.state.objects.money.invites import INVITES
from ledgerd.state.objects.money.vesting import WITHDRAW_VESTING_ROUTES
from ledgerd.state.objects.validators import VALIDATOR_VOTES, VALIDATORS
from ledgerd.state.tables.tables import E, Entity, Table
from ledgerd.state.views.view import View

BASE = "base"
"""Whatever has nothing to do with markets."""


class Holding(NamedTuple, Generic[E]):
    """What the objects of a table hold."""

    table: Table[E]
    term: str
    amount: Callable[[E], int]
    fields: tuple[str, ...] = ()
    """All that the amount is made of, for tables that may be very large."""


HOLDINGS: tuple[Holding[Any], ...] = (
    Holding(
        DYNAMIC_GLOBAL_PROPERTIES,
        BASE,
        lambda funds: funds.total_vesting_fund + funds.total_reward_fund + funds.committee_fund,
    ),
    # A live bid is out of the bidder's balance, and stands in `reserved_balance` until it is paid or given back.
    Holding(
        ACCOUNTS,
        BASE,
        lambda account: account.balance + account.reserved_balance,
        ("balance", "reserved_balance"),
    ),
    Holding(ESCROWS, BASE, lambda escrow: escrow.token_balance + escrow.pending_fee),
    Holding(INVITES, BASE, lambda invite: invite.balance),
    Holding(VALIDATORS, BASE, lambda validator: validator.pending_stakeholder_reward),
    Holding(PM_BETS, "bets", lambda bet: bet.amount if bet.status in STAKED else 0, ("amount", "status")),
    Holding(
        PM_LIQUIDITY,
        "user liquidity",
        lambda row: row.amount if row.status == liquidity.ACTIVE and row.provider else 0,
        ("amount", "status", "provider"),
    ),
    Holding(PM_LAZY_POOLS, "lazy", lambda pool: pool.free_balance + pool.allocated_balance),
    Holding(
        PM_COMMITS, "commits", lambda commit: commit.escrow_amount if commit.status == commitments.COMMITTED else 0
    ),
    Holding(PM_DISPUTES, "disputes", lambda dispute: dispute.dispute_fee if dispute.status == disputes.OPEN else 0),
    Holding(PM_MARKETS, "forfeit", lambda market: market.forfeit_pool),
    Holding(PM_ORACLES, "insurance", lambda oracle: oracle.insurance),
    Holding(
        PM_LEVERAGE_POSITIONS,
        "leverage",
        lambda each: each.collateral + each.loan if each.status == leverage.ACTIVE else 0,
    ),
    Holding(PM_SETTLEMENTS, "settling", lambda settlement: settlement.escrow),
)

HOLDING_TABLES = frozenset(holding.table for holding in HOLDINGS)
"""Objects of other tables hold none."""

_BY_RECORD: dict[type[Entity], Holding[Any]] = {holding.table.record: holding for holding in HOLDINGS}


class TokenTally:
    """Counts the tokens of objects that pass by."""

    def __init__(self) -> None:
        self.terms: Counter[str] = Counter()
        self.supply = 0

    def add(self, entity: Entity) -> None:
        holding = _BY_RECORD.get(type(entity))
        if holding is not None:
            self.add_of(holding, entity)

    def add_of(self, holding: Holding[Any], entity: Entity) -> None:
        self.terms[holding.term] += holding.amount(entity)
        if isinstance(entity, DynamicGlobalProperty):
            self.supply = entity.current_supply

    @property
    def found(self) -> int:
        return sum(self.terms.values())

    @property
    def excess(self) -> int:
        return self.found - self.supply

    def __str__(self) -> str:
        parts = " + ".join(f"{term} {amount}" for term, amount in self.terms.items() if amount or term == BASE)
        return f"{parts} - supply {self.supply} = {self.excess}"


def tally_of(view: View) -> TokenTally:
    tally = TokenTally()
    for holding in HOLDINGS:
        fields = holding.fields
        for entity in view.scan_fields(holding.table, *fields) if fields else view.scan(holding.table):
            tally.add_of(holding, entity)
    return tally


def excess_tokens(ledger: Ledger) -> dict[int, int]:
    return _unless_zero({0: tally_of(ledger.store.uncached).excess})


def excess_votes(ledger: Ledger, view: View | None = None) -> dict[int, int]:
    """What validators have beyond the present weight of the votes for them."""
    store, given = view or ledger.store.uncached, Counter[int]()
    for vote in store.scan(VALIDATOR_VOTES):
        given[vote.validator] += store.get(ACCOUNTS, vote.account).validators_vote_weight
    return _unless_zero({each.id: each.votes - given[each.id] for each in store.scan(VALIDATORS)})


def excess_routes(ledger: Ledger, view: View | None = None) -> dict[int, int]:
    """How many routes accounts count beyond those there are."""
    store = view or ledger.store.uncached
    routes = Counter(route.from_account for route in store.scan(WITHDRAW_VESTING_ROUTES))
    accounts = store.scan_fields(ACCOUNTS, "id", "withdraw_routes")
    differing = ((each.id, each.withdraw_routes - routes.get(each.id, 0)) for each in accounts)
    return {account: count for account, count in differing if count}


def _unless_zero(amounts: Mapping[int, int]) -> dict[int, int]:
    return {of: amount for of, amount in amounts.items() if amount}


def accept_discrepancies(ledger: Ledger, tokens: int) -> dict[Sum, dict[int, int]]:
    """Take a state of others, all of which is committed, with what rules leave out of balance in votes and routes.

    No file tells by how much they do, so what is found counts as rightful, and is returned. Of tokens, only what the
    operator knows of does: whatever else there is beyond the supply is left to the check of the supply.
    """
    with ledger.store.committed() as view:
        votes = excess_votes(ledger, view) if ledger.hardfork(5) else {}
        routes = excess_routes(ledger, view)
    record_discrepancy(ledger, Sum.TOKENS, tokens)
    for validator, excess in votes.items():
        record_discrepancy(ledger, Sum.VOTES, excess, validator)
    for account, excess in routes.items():
        record_discrepancy(ledger, Sum.ROUTES, excess, account)
    return {Sum.VOTES: votes, Sum.ROUTES: routes}
