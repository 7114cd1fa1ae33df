"""The end of votes on disputes (spec 09, section 5.7). The tallies are of section 14.3."""

from __future__ import annotations

from typing import Any

import pytest

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.operations.markets.markets import BY_ACCOUNT
from ledgerd.protocol.operations.markets.virtual_markets import PmAutoPayout, PmDisputeFinalize
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.names import AccountName
from ledgerd.state.objects.markets.disputes import (
    OPEN,
    ORACLE_RIGHT,
    ORACLE_WRONG,
    PM_DISPUTE_VOTES,
    PM_DISPUTES,
    PmDispute,
    PmDisputeVote,
)
from ledgerd.state.objects.markets.lazy_pool import PM_LAZY_DEPOSITS, PM_LAZY_POOLS, PmLazyDeposit
from ledgerd.state.objects.markets.markets import BEING_PAID, DISPUTED, PAID, PmMarket
from tests.chain.ledgers import BOB, NOW, change, create_account, set_median
from tests.chain.market_scenes import ORACLE, RICH, create_oracle
from tests.chain.steps.markets.market_blocks import next_block, of_kind, resolved_market, this_block

FEE = 1_000
FIRST_TALLY = ((5_000_000, 1, 10_000), (3_000_000, 2, 7_500), (2_000_001, -1, 5_000), (1_000_000, 1, -10_000))
SECOND_TALLY = ((5_000_000, 1, 4_000), (3_000_000, 2, 6_667))


def disputed_market(ledger: Ledger, **fields: Any) -> tuple[PmMarket, PmDispute]:
    """The oracle said 0 of three outcomes; the vote ends now."""
    market = resolved_market(ledger, 0, payout_status=DISPUTED, outcome_count=3, **fields)
    dispute = PmDispute(
        market=market.id,
        disputer=BOB,
        dispute_fee=FEE,
        oracle_response_time=1,
        voting_end_time=NOW,
        auto_close_time=NOW + 10_000,
    )
    return market, ledger.store.create(PM_DISPUTES, dispute)


def vote(ledger: Ledger, ballots: tuple[tuple[int, int, int], ...], all_shares: int) -> None:
    """Each ballot of an account that has so many shares."""
    for number, (shares, outcome, percent) in enumerate(ballots):
        name = create_account(ledger, f"voter{number}", shares=shares).name
        ballot = PmDisputeVote(market=0, voter=name, vote_outcome=outcome, vote_percent=percent)
        ledger.store.create(PM_DISPUTE_VOTES, ballot)
    change(ledger, ledger.globals, total_vesting_shares=all_shares, total_vesting_fund=all_shares // 1000)


def gain(ledger: Ledger, name: AccountName) -> int:
    return ledger.account(name).balance - RICH


def test_an_override_names_the_outcome_with_most_shares_and_slashes_by_their_part(markets: Ledger) -> None:
    oracle = create_oracle(markets, insurance=1_000_000, disputes_awaiting_decision=1)
    market, dispute = disputed_market(markets, dispute_penalty_percent=5_000)
    vote(markets, FIRST_TALLY, 102_000_000)

    happened = this_block(markets)

    slashed = 500_000 * 4_545 // 10_000
    assert happened == [
        PmDisputeFinalize(ORACLE, 0, 1, tokens(slashed)),
        PmAutoPayout(ORACLE, 0, -1, tokens(0)),
    ]
    assert (market.resolved_outcome, market.payout_status, dispute.status) == (1, PAID, ORACLE_WRONG)
    assert (oracle.insurance, oracle.total_insurance_slashed) == (1_000_000 - slashed, slashed)
    assert (oracle.disputes_lost, oracle.disputes_won, oracle.disputes_awaiting_decision) == (1, 0, 0)
    assert gain(markets, BOB) == 3 * FEE


def test_the_parts_of_shares_count_and_not_the_shares(markets: Ledger) -> None:
    market, _ = disputed_market(markets)
    vote(markets, SECOND_TALLY, 50_000_000)

    this_block(markets)

    assert market.resolved_outcome == 2


@pytest.mark.parametrize(
    ("ballots", "all_shares"),
    [
        ((), 0),
        (FIRST_TALLY, 110_000_020),
        (((5_000_000, 0, -1),), 5_000_000),
        (((5_000_000, 3, 10_000),), 5_000_000),
        (((5_000_000, 1, 0),), 5_000_000),
        (((5_000_000, 1, 5_000), (5_000_000, -1, 5_000)), 10_000_000),
    ],
    ids=["no ballots", "too few voted", "against", "no such outcome", "nothing of it", "as many defend"],
)
def test_otherwise_the_oracle_was_right_and_has_the_fee(
    ballots: tuple[tuple[int, int, int], ...], all_shares: int, markets: Ledger
) -> None:
    oracle = create_oracle(markets)
    market, dispute = disputed_market(markets)
    vote(markets, ballots, all_shares)

    happened = this_block(markets)

    assert happened[0] == PmDisputeFinalize(ORACLE, 0, 0, tokens(0))
    assert (market.resolved_outcome, dispute.status, oracle.disputes_won) == (0, ORACLE_RIGHT, 1)
    assert (gain(markets, ORACLE), gain(markets, BOB)) == (FEE, 0)


def test_just_enough_voters_override(markets: Ledger) -> None:
    market, _ = disputed_market(markets)
    vote(markets, FIRST_TALLY, 110_000_019)

    this_block(markets)

    assert market.resolved_outcome == 1


def test_of_equal_outcomes_the_first_wins(markets: Ledger) -> None:
    market, _ = disputed_market(markets)
    vote(markets, ((5_000_000, 2, 10_000), (5_000_000, 1, 10_000)), 10_000_000)

    this_block(markets)

    assert market.resolved_outcome == 1


@pytest.mark.parametrize(("percent", "rewarded"), [(-2_500, 250), (-10_000, FEE)])
def test_with_a_negative_penalty_the_oracle_has_a_part_of_the_fee(percent: int, rewarded: int, markets: Ledger) -> None:
    oracle = create_oracle(markets)
    disputed_market(markets, dispute_penalty_percent=percent)
    vote(markets, SECOND_TALLY, 50_000_000)

    assert this_block(markets)[0] == PmDisputeFinalize(ORACLE, 0, 2, tokens(0))
    assert (gain(markets, ORACLE), gain(markets, BOB)) == (rewarded, FEE - rewarded)
    assert (oracle.disputes_lost, oracle.insurance) == (1, 5_000_000)


@pytest.mark.parametrize(
    ("percent", "insurance", "lost"), [(0, 5_000_000, 1), (100, 0, 1), (1, 10_000, 0), (1, 50_000, 1)]
)
def test_an_oracle_that_could_be_slashed_and_is_not_has_lost_nothing(
    percent: int, insurance: int, lost: int, markets: Ledger
) -> None:
    """Quirk: the third has insurance, of which a quarter of a ten-thousandth is nothing."""
    oracle = create_oracle(markets, insurance=insurance)
    disputed_market(markets, dispute_penalty_percent=percent)
    vote(markets, SECOND_TALLY, 50_000_000)

    this_block(markets)

    assert oracle.disputes_lost == lost
    assert gain(markets, BOB) == FEE + insurance - oracle.insurance


def test_what_a_slash_exceeds_the_reward_by_goes_to_those_who_bet(markets: Ledger) -> None:
    create_oracle(markets, insurance=1_000_000)
    market, _ = disputed_market(markets, dispute_penalty_percent=5_000)
    vote(markets, FIRST_TALLY, 102_000_000)
    set_median(markets, pm_dispute_grace_sec=NOW)

    this_block(markets)

    assert market.forfeit_pool == 227_250 - 2 * FEE
    assert (market.payout_status, market.result_expiration) == (1, 1)


def test_deposits_in_the_pool_weigh_as_the_shares_that_they_would_buy(markets: Ledger) -> None:
    market, _ = disputed_market(markets)
    vote(markets, ((5_000_000, 1, 10_000), (4_000_000, -1, 10_000)), 50_000_000)
    pool = markets.store.get(PM_LAZY_POOLS, 0)
    change(markets, pool, total_shares=10_000, free_balance=2_000, allocated_balance=2_000, leverage_fund_used=1_000)
    deposit = PmLazyDeposit(account=AccountName("voter1"), shares=2_001)
    markets.store.create(PM_LAZY_DEPOSITS, deposit)

    this_block(markets)

    # 2,001 of 10,000 shares are 1,000 of 5,000 tokens, each of which is a thousand shares of the chain.
    assert market.resolved_outcome == 0


def test_a_dispute_for_an_account_that_did_not_decide_ends_for_the_oracle(markets: Ledger) -> None:
    _, dispute = disputed_market(markets, dispute_mode=BY_ACCOUNT)
    change(markets, dispute, dispute_mode=BY_ACCOUNT)

    this_block(markets)

    assert dispute.status == ORACLE_RIGHT


def test_ballots_are_rows_and_without_rows_no_further_dispute_ends(markets: Ledger) -> None:
    _, first = disputed_market(markets)
    _, second = disputed_market(markets)
    vote(markets, FIRST_TALLY, 102_000_000)
    set_median(markets, pm_settle_rows_per_block=4)

    this_block(markets)
    assert (first.status, second.status) == (ORACLE_WRONG, OPEN)
    next_block(markets)
    assert second.status == ORACLE_RIGHT


def test_a_dispute_whose_market_is_being_refunded_is_left_alone(markets: Ledger) -> None:
    market, dispute = disputed_market(markets)
    change(markets, market, payout_status=BEING_PAID, finalized_time=1)
    set_median(markets, pm_closed_market_retention_sec=NOW)

    assert of_kind(this_block(markets), PmDisputeFinalize) == []
    assert dispute.status == OPEN
