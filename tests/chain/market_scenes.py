"""Small ledgers with prediction markets, and operations whose rules are broken all at once and then kept one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.pricing.constant_product import opening_reserves
from ledgerd.pricing.lmsr import depth_of_liquidity
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.markets.markets import MULTI
from ledgerd.protocol.types.names import AccountName
from ledgerd.state import Entity
from ledgerd.state.objects.markets import bets
from ledgerd.state.objects.markets import liquidity as liquidity_rows
from ledgerd.state.objects.markets.bets import PM_BETS, PmBet
from ledgerd.state.objects.markets.disputes import PM_DISPUTES, PmDispute
from ledgerd.state.objects.markets.lazy_pool import PM_LAZY_POOLS, PmLazyPool
from ledgerd.state.objects.markets.leverage import PM_LEVERAGE_POSITIONS, PmLeveragePosition
from ledgerd.state.objects.markets.liquidity import PM_LIQUIDITY, PmLiquidity
from ledgerd.state.objects.markets.markets import (
    ACTIVE,
    DISPUTED,
    PM_MARKETS,
    PM_OUTCOMES,
    RESOLVED,
    TO_BE_PAID,
    PmMarket,
    PmOutcome,
)
from ledgerd.state.objects.markets.oracles import PM_ORACLES, PmOracle
from tests.chain.ledgers import (
    ALICE,
    BOB,
    CAROL,
    NOW,
    carry_out,
    change,
    create_account,
    fresh_ledger,
    refuses,
    set_median,
)

ORACLE, NOBODY = AccountName("oracle"), AccountName("nobody")

NOT_ENABLED = "db.has_hardfork(CHAIN_HARDFORK_14): PM not enabled"
UNKNOWN = "unknown key: "

FEE, GRACE, RESPONSE, VOTING = 1_000_000, 43_200, 43_200, 259_200
"""Of a dispute: what it costs, and its periods, as the median has them."""

OPEN_ONE = "dit != didx.end() && dit->status == 0: No open dispute"

RICH = 10**12
FAR_ID = 2**63 - 1
"""An id that no object has."""


def market_ledger(folder: Path, hardfork: int = 15) -> Ledger:
    """Four accounts with tokens, and the pool, empty."""
    ledger = fresh_ledger(folder, hardfork)
    ledger.store.create(PM_LAZY_POOLS, PmLazyPool())
    for name in (ALICE, BOB, CAROL, ORACLE):
        create_account(ledger, name, balance=RICH)
    return ledger


def create_market(ledger: Ledger, liquidity: int = 100_001, **fields: Any) -> PmMarket:
    """An active binary market that takes bets of both modes, and whose creator is alice."""
    market = PmMarket(
        creator=ALICE,
        oracle=ORACLE,
        status=ACTIVE,
        created_time=NOW - 1_000,
        betting_expiration=NOW + 1_000,
        result_expiration=NOW + 2_000,
        liquidity_sum=liquidity,
        lmsr_subsidy=liquidity,
        allow_batch=True,
        allow_cancellation=True,
    )
    market.reserve_a, market.reserve_b, market.k = opening_reserves(liquidity)
    for field, value in fields.items():
        setattr(market, field, value)
    return ledger.store.create(PM_MARKETS, market)


def create_multi_market(ledger: Ledger, outcomes: int = 3, liquidity: int = 100_000, **fields: Any) -> PmMarket:
    """A market of more outcomes than two."""
    depth = depth_of_liquidity(liquidity, outcomes)
    curve = {"market_type": 1, "outcome_count": outcomes, "lmsr_b": depth, "reserve_a": 0, "reserve_b": 0, "k": 0}
    market = create_market(ledger, liquidity, **curve, **fields)
    for place in range(outcomes):
        ledger.store.create(PM_OUTCOMES, PmOutcome(market=market.id, outcome_index=place, label=f"{place}"))
    return market


def create_oracle(ledger: Ledger, name: AccountName = ORACLE, **fields: Any) -> PmOracle:
    oracle = PmOracle(owner=name, insurance=5_000_000)
    for field, value in fields.items():
        setattr(oracle, field, value)
    return ledger.store.create(PM_ORACLES, oracle)


def create_position(ledger: Ledger, market: PmMarket, **fields: Any) -> PmLeveragePosition:
    """A position as it was opened, in which only what is given differs from nothing."""
    position = PmLeveragePosition(market=market.id, account=CAROL)
    for field, value in fields.items():
        setattr(position, field, value)
    return ledger.store.create(PM_LEVERAGE_POSITIONS, position)


def create_bet(
    ledger: Ledger, market: PmMarket, account: AccountName, amount: int, side: int = 0, **fields: Any
) -> PmBet:
    """A bet, on a side or, in a market of several outcomes, on an outcome; while it stands it is counted as frozen."""
    bet = PmBet(market=market.id, account=account, amount=amount, weight=amount)
    if market.market_type == MULTI:
        bet.outcome_index = side
    else:
        bet.side = side
    for field, value in fields.items():
        setattr(bet, field, value)
    owner = ledger.account(account)
    if bet.status in {bets.ACTIVE, bets.QUEUED, bets.REVEALED}:
        change(ledger, owner, pm_bets_staked=owner.pm_bets_staked + amount)
    return ledger.store.create(PM_BETS, bet)


def create_liquidity(ledger: Ledger, market: PmMarket, provider: str, amount: int, **fields: Any) -> PmLiquidity:
    """Liquidity of an account, or of the pool, which has no name; an account's is counted as frozen while it stands."""
    row = PmLiquidity(market=market.id, provider=AccountName(provider), amount=amount, deposit_time=NOW - 1_000)
    for field, value in fields.items():
        setattr(row, field, value)
    if provider and row.status == liquidity_rows.ACTIVE:
        owner = ledger.account(row.provider)
        change(ledger, owner, pm_liquidity_committed=owner.pm_liquidity_committed + amount)
    return ledger.store.create(PM_LIQUIDITY, row)


def disputable_market(ledger: Ledger, **fields: Any) -> PmMarket:
    """A binary market whose oracle has just said how it ended."""
    resolved = {
        "status": RESOLVED,
        "payout_status": TO_BE_PAID,
        "resolved_outcome": 0,
        "betting_expiration": NOW - 100,
        "result_expiration": NOW,
    }
    return create_market(ledger, **{**resolved, **fields})


def file_dispute(ledger: Ledger, market: PmMarket, **fields: Any) -> PmDispute:
    """An open dispute of bob's."""
    dispute = PmDispute(
        market=market.id,
        disputer=BOB,
        dispute_fee=FEE,
        dispute_mode=market.dispute_mode,
        oracle_response_deadline=NOW + RESPONSE,
        voting_end_time=NOW + RESPONSE + VOTING,
    )
    for field, value in fields.items():
        setattr(dispute, field, value)
    change(ledger, market, payout_status=DISPUTED)
    return ledger.store.create(PM_DISPUTES, dispute)


def pool_of(ledger: Ledger, **fields: int) -> PmLazyPool:
    """The pool, with what a test says of it."""
    pool = ledger.store.get(PM_LAZY_POOLS, 0)
    change(ledger, pool, **fields)
    return pool


def bet_of(ledger: Ledger, bet_id: int = 0) -> PmBet:
    return ledger.store.get(PM_BETS, bet_id)


Changes = Mapping[str, Mapping[str, object]]
"""Fields of objects, by the names that a scene gives them; `operation` and `median` have their names already."""


NOTHING: Changes = MappingProxyType({})


class Rule(NamedTuple):
    """A precondition: what it says when it is broken, and what breaks it by the least that one can."""

    message: str
    broken: Changes
    kept: Changes = NOTHING


class Scene:
    """A ledger, an operation on it that may be carried out, and the objects that decide over that."""

    def __init__(self, ledger: Ledger, operation: Operation, **objects: Entity) -> None:
        self.ledger = ledger
        self.operation = operation
        self._objects = {"globals": ledger.globals, **objects}

    def change(self, changes: Changes) -> None:
        for name, fields in changes.items():
            if name == "operation":
                self.operation = msgspec.structs.replace(self.operation, **fields)
            elif name == "median":
                set_median(self.ledger, **fields)
            else:
                change(self.ledger, self._objects[name], **fields)

    def asks_in_order(self, rules: Sequence[Rule]) -> list[Operation]:
        """With all rules broken the first is named, with that one kept the second, until the operation is taken.

        So each rule is seen on both sides of its bound, and before those that follow it.
        """
        for place, rule in enumerate(rules):
            for kept in rules[:place]:
                self.change(kept.kept)
            for broken in reversed(rules[place:]):
                self.change(broken.broken)
            refuses(self.ledger, self.operation, rule.message)
        for kept in rules:
            self.change(kept.kept)
        return carry_out(self.ledger, self.operation)
