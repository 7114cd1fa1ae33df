"""Where tokens are: what each object holds, under the names of the terms in spec 11, section 8.6, check 5."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any, Generic, NamedTuple

from ledgerd.state.objects import bets, commitments, disputes, leverage, liquidity
from ledgerd.state.objects.accounts import ACCOUNTS, Account
from ledgerd.state.objects.bets import PM_BETS, PmBet
from ledgerd.state.objects.commitments import PM_COMMITS, PmCommit
from ledgerd.state.objects.disputes import PM_DISPUTES, PmDispute
from ledgerd.state.objects.escrow import ESCROWS, Escrow
from ledgerd.state.objects.globals import DYNAMIC_GLOBAL_PROPERTIES, DynamicGlobalProperty
from ledgerd.state.objects.invites import INVITES, Invite
from ledgerd.state.objects.lazy_pool import PM_LAZY_POOLS, PmLazyPool
from ledgerd.state.objects.leverage import PM_LEVERAGE_POSITIONS, PmLeveragePosition
from ledgerd.state.objects.liquidity import PM_LIQUIDITY, PmLiquidity
from ledgerd.state.objects.markets import PM_MARKETS, PmMarket
from ledgerd.state.objects.oracles import PM_ORACLES, PmOracle
from ledgerd.state.objects.settlements import PM_SETTLEMENTS, PmSettlement
from ledgerd.state.objects.validators import VALIDATORS, Validator
from ledgerd.state.tables import E, Entity, Table
from ledgerd.state.view import View

BASE = "base"
"""Whatever has nothing to do with markets."""

STAKED = frozenset({bets.ACTIVE, bets.QUEUED, bets.REVEALED})


class Holding(NamedTuple, Generic[E]):
    """What the objects of a table hold."""

    table: Table[E]
    term: str
    amount: Callable[[E], int]


def _in_funds(globals_: DynamicGlobalProperty) -> int:
    return globals_.total_vesting_fund + globals_.total_reward_fund + globals_.committee_fund


def _at_account(account: Account) -> int:
    # A live bid is out of the bidder's balance, and stands in `reserved_balance` until it is paid or given back.
    return account.balance + account.reserved_balance


def _in_escrow(escrow: Escrow) -> int:
    return escrow.token_balance + escrow.pending_fee


def _in_invite(invite: Invite) -> int:
    return invite.balance


def _at_validator(validator: Validator) -> int:
    return validator.pending_stakeholder_reward


def _in_bet(bet: PmBet) -> int:
    return bet.amount if bet.status in STAKED else 0


def _in_liquidity(row: PmLiquidity) -> int:
    return row.amount if row.status == liquidity.ACTIVE and row.provider else 0


def _in_pool(pool: PmLazyPool) -> int:
    return pool.free_balance + pool.allocated_balance


def _in_commit(commit: PmCommit) -> int:
    return commit.escrow_amount if commit.status == commitments.COMMITTED else 0


def _in_dispute(dispute: PmDispute) -> int:
    return dispute.dispute_fee if dispute.status == disputes.OPEN else 0


def _forfeited(market: PmMarket) -> int:
    return market.forfeit_pool


def _insured(oracle: PmOracle) -> int:
    return oracle.insurance


def _in_position(position: PmLeveragePosition) -> int:
    return position.collateral + position.loan if position.status == leverage.ACTIVE else 0


def _settling(settlement: PmSettlement) -> int:
    return settlement.escrow


HOLDINGS: tuple[Holding[Any], ...] = (
    Holding(DYNAMIC_GLOBAL_PROPERTIES, BASE, _in_funds),
    Holding(ACCOUNTS, BASE, _at_account),
    Holding(ESCROWS, BASE, _in_escrow),
    Holding(INVITES, BASE, _in_invite),
    Holding(VALIDATORS, BASE, _at_validator),
    Holding(PM_BETS, "bets", _in_bet),
    Holding(PM_LIQUIDITY, "user liquidity", _in_liquidity),
    Holding(PM_LAZY_POOLS, "lazy", _in_pool),
    Holding(PM_COMMITS, "commits", _in_commit),
    Holding(PM_DISPUTES, "disputes", _in_dispute),
    Holding(PM_MARKETS, "forfeit", _forfeited),
    Holding(PM_ORACLES, "insurance", _insured),
    Holding(PM_LEVERAGE_POSITIONS, "leverage", _in_position),
    Holding(PM_SETTLEMENTS, "settling", _settling),
)

HOLDING_TABLES = frozenset(holding.table for holding in HOLDINGS)
"""Objects of other tables hold none."""

_BY_RECORD: dict[type[Entity], Holding[Any]] = {holding.table.record: holding for holding in HOLDINGS}


class TokenTally:
    """Counts the tokens of objects that pass by."""

    def __init__(self) -> None:
        self.terms: Counter[str] = Counter()
        self.supply = 0

    def take(self, entity: Entity) -> None:
        holding = _BY_RECORD.get(type(entity))
        if holding is not None:
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
        for entity in view.scan(holding.table):
            tally.take(entity)
    return tally
