"""What the account decides that a market names for it, and bans that are taken back."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.operations.markets.disputes import (
    PmDisputeResolve,
    PmUnban,
)
from ledgerd.protocol.types.assets import shares, tokens
from ledgerd.protocol.types.names import NO_NAME
from ledgerd.protocol.types.times import LATEST
from ledgerd.state.objects.markets.disputes import (
    OPEN,
    ORACLE_RIGHT,
    ORACLE_WRONG,
    PM_CREATOR_BANS,
    PmCreatorBan,
)
from ledgerd.state.objects.markets.markets import RESOLVED, TO_BE_PAID, PmMarket
from tests.chain.ledgers import ALICE, BOB, CAROL, NOW, carry_out, refuses, set_median
from tests.chain.market_scenes import (
    FAR_ID,
    FEE,
    NOBODY,
    OPEN_ONE,
    ORACLE,
    RICH,
    UNKNOWN,
    VOTING,
    Rule,
    Scene,
    create_oracle,
    disputable_market,
    file_dispute,
)

RESOLVE = PmDisputeResolve(
    resolver=CAROL,
    market_id=0,
    correct_outcome=1,
    penalty_amount=tokens(500_000),
    ban_oracle=False,
    ban_oracle_until=NOW + 50,
    ban_creator=False,
    ban_creator_until=NOW + 60,
    extensions=(),
)
UPHOLD = replace(RESOLVE, correct_outcome=0)


def judged_market(ledger: Ledger, **fields: Any) -> PmMarket:
    return disputable_market(ledger, **{"dispute_mode": 1, "dispute_resolver": CAROL, **fields})


def test_deciding_a_dispute_asks_in_this_order(markets: Ledger) -> None:
    market = judged_market(markets)
    dispute = file_dispute(markets, market)
    scene = Scene(markets, RESOLVE, market=market, dispute=dispute)
    out_of_range = (
        "o.correct_outcome >= -1 && o.correct_outcome < (int16_t)mkt.outcome_count: correct_outcome out of range"
    )

    caused = scene.asks_in_order(
        [
            Rule(UNKNOWN, {"operation": {"market_id": FAR_ID}}, {"operation": {"market_id": market.id}}),
            Rule(
                "mkt.dispute_mode == 1: resolve only for account-mode disputes",
                {"market": {"dispute_mode": 0}},
                {"market": {"dispute_mode": 1}},
            ),
            Rule(
                "mkt.dispute_resolver == o.resolver: Not the market dispute resolver",
                {"operation": {"resolver": BOB}},
                {"operation": {"resolver": CAROL}},
            ),
            Rule(out_of_range, {"operation": {"correct_outcome": -2}}),
            Rule(out_of_range, {"operation": {"correct_outcome": 2}}, {"operation": {"correct_outcome": 1}}),
            Rule(
                "o.penalty_amount.symbol == TOKEN_SYMBOL: penalty_amount must be VIZ",
                {"operation": {"penalty_amount": shares(1)}},
                {"operation": {"penalty_amount": tokens(1)}},
            ),
            Rule(OPEN_ONE, {"dispute": {"market": 77}}, {"dispute": {"market": market.id}}),
            Rule(OPEN_ONE, {"dispute": {"status": ORACLE_RIGHT}}, {"dispute": {"status": OPEN}}),
            Rule(
                "now <= dit->oracle_response_deadline + fc::seconds(mp.pm_dispute_vote_period_sec): "
                "Resolution window passed",
                {"dispute": {"oracle_response_deadline": NOW - VOTING - 1, "voting_end_time": LATEST}},
                {"dispute": {"oracle_response_deadline": NOW - VOTING, "voting_end_time": 0}},
            ),
        ]
    )

    assert caused == []


@pytest.mark.parametrize(
    ("penalty", "insurance", "slash", "bonus"),
    [
        (500_000, 5_000_000, 500_000, 500_000),
        (2_600_000, 5_000_000, 2_600_000, 2_000_000),
        (2_600_000, 100, 100, 100),
        (0, 5_000_000, 0, 0),
        (2**63 - 1, 5_000_000, 5_000_000, 2_000_000),
    ],
)
def test_an_oracle_that_was_wrong_pays_out_of_its_insurance(
    markets: Ledger, penalty: int, insurance: int, slash: int, bonus: int
) -> None:
    """The examples of spec 08, section 13.7."""
    oracle = create_oracle(markets, insurance=insurance, disputes_awaiting_response=1, disputes_awaiting_decision=1)
    market = judged_market(markets, forfeit_pool=9)
    dispute = file_dispute(markets, market)

    assert carry_out(markets, replace(RESOLVE, penalty_amount=tokens(penalty))) == []

    assert markets.account(BOB).balance == RICH + FEE + bonus
    assert (oracle.insurance, oracle.total_insurance_slashed) == (insurance - slash, slash)
    assert (oracle.disputes_lost, oracle.disputes_won, oracle.banned_until) == (1, 0, 0)
    assert (oracle.disputes_awaiting_response, oracle.disputes_awaiting_decision) == (0, 1)
    assert market.forfeit_pool == 9 + slash - bonus
    assert (market.resolved_outcome, market.status, market.payout_status) == (1, RESOLVED, TO_BE_PAID)
    assert (market.result_expiration, dispute.status, oracle.markets_in_dispute_window) == (NOW, ORACLE_WRONG, 0)
    assert markets.store.count(PM_CREATOR_BANS) == 0


@pytest.mark.parametrize(("multiplier", "fee", "gets"), [(10_000, FEE, FEE), (15_000, 3, 4), (30_000, 0, 0)])
def test_a_disputer_gets_a_multiple_of_the_fee(markets: Ledger, multiplier: int, fee: int, gets: int) -> None:
    set_median(markets, pm_dispute_reward_multiplier=multiplier)
    create_oracle(markets)
    file_dispute(markets, judged_market(markets), dispute_fee=fee)

    carry_out(markets, RESOLVE)

    assert markets.account(BOB).balance == RICH + gets


def test_a_market_is_declared_undecided(markets: Ledger) -> None:
    """By an oracle without insurance, as it never registered: the fee comes back, and nothing else."""
    market = judged_market(markets, oracle=ALICE)
    file_dispute(markets, market)

    carry_out(markets, replace(RESOLVE, correct_outcome=-1, ban_oracle=True))

    assert (market.resolved_outcome, market.forfeit_pool, markets.account(BOB).balance) == (-1, 0, RICH + FEE)


def test_an_oracle_that_was_right_gets_the_fee(markets: Ledger) -> None:
    """A ban that is asked for is not carried out, nor is the penalty."""
    oracle = create_oracle(markets, disputes_awaiting_response=1, disputes_awaiting_decision=1)
    market = judged_market(markets)
    dispute = file_dispute(markets, market, oracle_response_time=NOW - 1)

    assert carry_out(markets, replace(UPHOLD, ban_oracle=True)) == []

    assert markets.account(ORACLE).balance == RICH + FEE
    assert markets.account(BOB).balance == RICH
    assert (oracle.disputes_won, oracle.disputes_lost, oracle.insurance, oracle.banned_until) == (1, 0, 5_000_000, 0)
    assert (oracle.disputes_awaiting_response, oracle.disputes_awaiting_decision) == (1, 0)
    assert (market.payout_status, market.resolved_outcome, market.forfeit_pool) == (TO_BE_PAID, 0, 0)
    assert dispute.status == ORACLE_RIGHT


def test_the_window_to_decide_moves_with_the_median(markets: Ledger) -> None:
    create_oracle(markets)
    file_dispute(markets, judged_market(markets), oracle_response_deadline=NOW - 10, voting_end_time=NOW - 1)
    set_median(markets, pm_dispute_vote_period_sec=9)

    refuses(
        markets,
        RESOLVE,
        "now <= dit->oracle_response_deadline + fc::seconds(mp.pm_dispute_vote_period_sec): Resolution window passed",
    )
    set_median(markets, pm_dispute_vote_period_sec=10)
    carry_out(markets, RESOLVE)


def test_a_wrong_oracle_is_banned_anew(markets: Ledger) -> None:
    """The last ban holds, also a shorter one."""
    oracle = create_oracle(markets, banned_until=LATEST, banned_by=ALICE)
    file_dispute(markets, judged_market(markets))

    carry_out(markets, replace(RESOLVE, ban_oracle=True))

    assert (oracle.banned_until, oracle.banned_by, oracle.bans_received) == (NOW + 50, CAROL, 0)


@pytest.mark.parametrize("verdict", [RESOLVE, UPHOLD])
def test_a_creator_is_banned_with_either_verdict(markets: Ledger, verdict: PmDisputeResolve) -> None:
    create_oracle(markets)
    file_dispute(markets, judged_market(markets))

    carry_out(markets, replace(verdict, ban_creator=True))

    assert list(markets.store.scan(PM_CREATOR_BANS)) == [
        PmCreatorBan(id=0, creator=ALICE, banned_until=NOW + 60, ban_count=1, banned_by=CAROL)
    ]


@pytest.mark.parametrize(("before", "after"), [(NOW + 61, NOW + 61), (NOW + 59, NOW + 60)])
def test_a_further_ban_of_a_creator_never_shortens_one(markets: Ledger, before: int, after: int) -> None:
    create_oracle(markets)
    file_dispute(markets, judged_market(markets))
    ban = markets.store.create(
        PM_CREATOR_BANS, PmCreatorBan(creator=ALICE, banned_until=before, ban_count=4, banned_by=BOB)
    )

    carry_out(markets, replace(RESOLVE, ban_creator=True))

    assert (ban.banned_until, ban.ban_count, ban.banned_by) == (after, 5, CAROL)


UNBAN = PmUnban(resolver=CAROL, target=ORACLE, unban_oracle=True, unban_creator=True, extensions=())
BY_ANOTHER = "it->banned_by == o.resolver: Only the resolver that imposed the ban may lift it"


def test_taking_bans_back_asks_in_this_order(markets: Ledger) -> None:
    oracle = create_oracle(markets, banned_until=NOW + 1, banned_by=CAROL)
    ban = markets.store.create(
        PM_CREATOR_BANS, PmCreatorBan(creator=ORACLE, banned_until=NOW + 1, ban_count=2, banned_by=CAROL)
    )
    scene = Scene(markets, UNBAN, oracle=oracle, ban=ban)

    caused = scene.asks_in_order(
        [
            Rule("it != oidx.end(): Oracle not found", {"oracle": {"owner": BOB}}, {"oracle": {"owner": ORACLE}}),
            Rule(
                "it->banned_until > now: Oracle is not currently banned",
                {"oracle": {"banned_until": NOW}},
                {"oracle": {"banned_until": NOW + 1}},
            ),
            Rule(BY_ANOTHER, {"oracle": {"banned_by": BOB}}, {"oracle": {"banned_by": CAROL}}),
            Rule(
                "it != cbidx.end(): No creator ban for target", {"ban": {"creator": BOB}}, {"ban": {"creator": ORACLE}}
            ),
            Rule(
                "it->banned_until > now: Creator is not currently banned",
                {"ban": {"banned_until": NOW}},
                {"ban": {"banned_until": NOW + 1}},
            ),
            Rule(BY_ANOTHER, {"ban": {"banned_by": BOB}}, {"ban": {"banned_by": CAROL}}),
        ]
    )

    assert caused == []
    assert (oracle.banned_until, oracle.banned_by) == (0, NO_NAME)
    assert (ban.banned_until, ban.ban_count, ban.banned_by) == (0, 2, NO_NAME)


@pytest.mark.parametrize(("of_oracle", "of_creator"), [(True, False), (False, True)])
def test_one_ban_is_taken_back_alone(markets: Ledger, *, of_oracle: bool, of_creator: bool) -> None:
    oracle = create_oracle(markets, banned_until=LATEST, banned_by=CAROL)
    ban = markets.store.create(PM_CREATOR_BANS, PmCreatorBan(creator=ORACLE, banned_until=LATEST, banned_by=CAROL))

    carry_out(markets, replace(UNBAN, unban_oracle=of_oracle, unban_creator=of_creator))

    assert (oracle.banned_until == 0, ban.banned_until == 0) == (of_oracle, of_creator)


def test_there_is_something_to_take_back(markets: Ledger) -> None:
    """Neither account has to exist."""
    nothing = replace(UNBAN, resolver=NOBODY, target=NOBODY, unban_oracle=False, unban_creator=False)

    refuses(markets, nothing, "did: Nothing to unban")
    create_oracle(markets, NOBODY, banned_until=NOW + 1, banned_by=NOBODY)
    carry_out(markets, replace(nothing, unban_oracle=True))
