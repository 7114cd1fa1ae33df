"""What holds after any number of bets: books agree with the bets in them, tokens add up, undo leaves nothing."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from ledgerd.chain.ledger.evaluation import apply_operation
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.markets.bets import PmCancelBet, PmPlaceBet, PmTransferPosition
from ledgerd.protocol.types.assets import tokens
from ledgerd.state.objects.markets.bets import ACTIVE, PM_BETS
from ledgerd.state.objects.markets.markets import OUTCOME_BY_MARKET, PM_MARKETS, PmMarket
from ledgerd.state.objects.markets.settlements import PM_DEFERRED_CLAIMS
from tests.chain.ledgers import ALICE, BOB, CAROL
from tests.chain.market_scenes import RICH, create_market, create_multi_market, market_ledger
from tests.chain.whole_state import first_change, whole_state

ACCOUNTS = (ALICE, BOB, CAROL)

accounts = st.sampled_from(ACCOUNTS)
stakes = st.integers(1_000, 10**9) | st.integers(1_000, 5_000)
bet_ids = st.integers(0, 12)

bets = st.builds(
    lambda account, market, side, stake: PmPlaceBet(
        account, market, side if market == 0 else -1, -1 if market == 0 else side, tokens(stake), 0, 0, ()
    ),
    accounts,
    st.integers(0, 1),
    st.integers(0, 1),
    stakes,
)
cancellations = st.builds(lambda account, bet: PmCancelBet(account, bet, 0, ()), accounts, bet_ids)
gifts = st.builds(
    lambda giver, bet, taker, weight: PmTransferPosition(giver, bet, taker, weight, "", ()),
    accounts,
    bet_ids,
    accounts,
    st.integers(0, 5_000),
)
traffic = st.lists(bets | bets | cancellations | gifts, max_size=14)


def try_out(ledger: Ledger, operation: Operation) -> bool:
    """Whether an operation was taken; one that was not leaves nothing."""
    before = whole_state(ledger.store)
    try:
        with ledger.store.begin() as session:
            apply_operation(ledger, operation)
            session.squash()
    except RuleViolation:
        assert first_change(before, whole_state(ledger.store)) is None
        return False
    return True


def books(ledger: Ledger, market: PmMarket) -> dict[str, Any]:
    """What a market says of its bets."""
    by_outcome = [
        (outcome.bets_sum, outcome.q, outcome.bets_count)
        for outcome in ledger.store.scan(OUTCOME_BY_MARKET, lower=(market.id,), upper=(market.id,))
    ]
    return {"all": market.bets_sum, "sides": (market.a_bets_sum, market.b_bets_sum), "outcomes": by_outcome}


def counted(ledger: Ledger, market: PmMarket) -> dict[str, Any]:
    """The same from its bets."""
    rows = [bet for bet in ledger.store.scan(PM_BETS) if bet.market == market.id and bet.status == ACTIVE]
    sides = tuple(sum(bet.amount for bet in rows if bet.side == side) for side in (0, 1))
    by_outcome = []
    for place in range(market.outcome_count if market.market_type else 0):
        on_it = [bet for bet in rows if bet.outcome_index == place]
        by_outcome.append((sum(bet.amount for bet in on_it), sum(bet.weight for bet in on_it)))
    return {"all": sum(bet.amount for bet in rows), "sides": sides, "outcomes": by_outcome}


def require_sound(ledger: Ledger) -> None:
    staked: Counter[str] = Counter()
    for market in ledger.store.scan(PM_MARKETS):
        told, found = books(ledger, market), counted(ledger, market)
        assert (told["all"], told["sides"]) == (found["all"], found["sides"])
        assert [(amount, sold) for amount, sold, _ in told["outcomes"]] == found["outcomes"]
        assert min(market.reserve_a, market.reserve_b, market.forfeit_pool) >= 0
        assert market.reserve_a * market.reserve_b <= market.k
        claims = [claim for claim in ledger.store.scan(PM_DEFERRED_CLAIMS) if claim.market == market.id]
        assert market.deferred_claim_count == len(claims)
        assert all(claim.claim_amount > 0 for claim in claims)
    for bet in ledger.store.scan(PM_BETS):
        staked[bet.account] += bet.amount if bet.status == ACTIVE else 0
    for name in ACCOUNTS:
        assert ledger.account(name).pm_bets_staked == staked[name]
    balances = sum(ledger.account(name).balance for name in ACCOUNTS)
    forfeited = sum(market.forfeit_pool for market in ledger.store.scan(PM_MARKETS))
    assert balances + sum(staked.values()) + forfeited == RICH * len(ACCOUNTS)


@settings(max_examples=60, deadline=None)
@given(operations=traffic, liquidity=st.integers(100_000, 10**10))
def test_books_agree_with_bets_and_tokens_add_up(operations: list[Operation], liquidity: int) -> None:
    with TemporaryDirectory() as folder:
        ledger = market_ledger(Path(folder))
        create_market(ledger, liquidity)
        create_multi_market(ledger, 3, liquidity)
        before = whole_state(ledger.store)
        with ledger.store.begin():
            for operation in operations:
                if try_out(ledger, operation):
                    require_sound(ledger)
        assert first_change(before, whole_state(ledger.store)) is None


@settings(max_examples=60, deadline=None)
@given(stake=stakes, side=st.integers(0, 1), liquidity=st.integers(100_000, 10**10), others=st.lists(bets, max_size=4))
def test_a_bet_that_is_taken_back_at_once_gains_nothing(
    stake: int, side: int, liquidity: int, others: list[Operation]
) -> None:
    with TemporaryDirectory() as folder:
        ledger = market_ledger(Path(folder))
        create_market(ledger, liquidity)
        create_multi_market(ledger, 3, liquidity)
        for operation in others:
            try_out(ledger, operation)
        before = ledger.account(BOB).balance
        bet = PmPlaceBet(BOB, 0, side, -1, tokens(stake), 0, 0, ())
        if not try_out(ledger, bet):
            return

        assert try_out(ledger, PmCancelBet(BOB, ledger.store.next_id(PM_BETS) - 1, 0, ()))

        owned = ledger.account(BOB).balance + sum(claim.claim_amount for claim in ledger.store.scan(PM_DEFERRED_CLAIMS))
        assert owned <= before
