from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.operations.markets.disputes import (
    PmDisputeCreate,
    PmDisputeOracleRespond,
    PmDisputeVote,
)
from ledgerd.protocol.operations.markets.virtual_markets import PmDisputeOpened
from ledgerd.protocol.types.assets import tokens
from ledgerd.state.objects.markets.disputes import (
    CLOSED_BY_TIME,
    OPEN,
    ORACLE_WRONG,
    PM_DISPUTE_VOTES,
    PM_DISPUTES,
    PmDispute,
)
from ledgerd.state.objects.markets.disputes import PmDisputeVote as Ballot
from ledgerd.state.objects.markets.markets import BEING_PAID, DISPUTED, PAID, TO_BE_PAID
from tests.chain.ledgers import (
    ALICE,
    BOB,
    CAROL,
    NOW,
    carry_out,
    change,
    create_account,
    pass_time,
    refuses,
    set_median,
)
from tests.chain.market_scenes import (
    FAR_ID,
    FEE,
    GRACE,
    NOBODY,
    OPEN_ONE,
    ORACLE,
    RESPONSE,
    RICH,
    UNKNOWN,
    VOTING,
    Rule,
    Scene,
    create_oracle,
    disputable_market,
    file_dispute,
)

CREATE = PmDisputeCreate(disputer=BOB, market_id=0, proposed_outcome=1, reason="not so", extensions=())


def test_filing_a_dispute_asks_in_this_order(markets: Ledger) -> None:
    market = disputable_market(markets)
    dispute = markets.store.create(PM_DISPUTES, PmDispute(market=market.id, status=CLOSED_BY_TIME))
    scene = Scene(markets, CREATE, market=market, dispute=dispute, bob=markets.account(BOB))
    out_of_range = (
        "o.proposed_outcome >= -1 && o.proposed_outcome < (int16_t)mkt.outcome_count: proposed_outcome out of range"
    )

    scene.asks_in_order(
        [
            Rule(UNKNOWN, {"operation": {"market_id": FAR_ID}}, {"operation": {"market_id": market.id}}),
            Rule("mkt.status == 3: Market not resolved", {"market": {"status": 1}}, {"market": {"status": 3}}),
            Rule(
                "mkt.payout_status == 1: Payout not in pending state",
                {"market": {"payout_status": DISPUTED}},
                {"market": {"payout_status": TO_BE_PAID}},
            ),
            Rule(
                "o.reason.size() <= MAX_PM_DISPUTE_REASON_LEN: Reason too long",
                {"operation": {"reason": "ж" * 512 + "a"}},
                {"operation": {"reason": "ж" * 512}},
            ),
            Rule(out_of_range, {"operation": {"proposed_outcome": -2}}),
            Rule(out_of_range, {"operation": {"proposed_outcome": 2}}, {"operation": {"proposed_outcome": 1}}),
            Rule(
                "now <= mkt.result_expiration + fc::seconds(mp.pm_dispute_grace_sec): Grace period passed",
                {"market": {"result_expiration": NOW - GRACE - 1}},
                {"market": {"result_expiration": NOW - GRACE}},
            ),
            Rule(
                "didx.find(mkt.id) == didx.end(): Dispute already filed",
                {"dispute": {"market": market.id}},
                {"dispute": {"market": 77}},
            ),
            Rule(UNKNOWN, {"operation": {"disputer": NOBODY}}, {"operation": {"disputer": BOB}}),
            Rule(
                "disputer.balance >= mp.pm_dispute_fee: Insufficient balance for dispute fee",
                {"bob": {"balance": FEE - 1}},
                {"bob": {"balance": FEE}},
            ),
        ]
    )

    assert (market.payout_status, markets.account(BOB).balance) == (DISPUTED, 0)


@pytest.mark.parametrize("payout", [0, DISPUTED, PAID, BEING_PAID])
def test_a_payout_is_disputed_before_it_begins(markets: Ledger, payout: int) -> None:
    disputable_market(markets, payout_status=payout)

    refuses(markets, CREATE, "mkt.payout_status == 1: Payout not in pending state")


@pytest.mark.parametrize("disputer", [BOB, ORACLE])
def test_a_dispute_has_its_times_from_the_median_of_now(markets: Ledger, disputer: Any) -> None:
    """Anybody may file it, the oracle too."""
    oracle = create_oracle(markets, disputes_received=1, markets_in_dispute_window=2, disputes_awaiting_response=3)
    market = disputable_market(markets, dispute_mode=1)
    pass_time(markets, 9)

    caused = carry_out(markets, replace(CREATE, disputer=disputer, proposed_outcome=-1))

    assert caused == [PmDisputeOpened(ORACLE, disputer, market.id, -1)]
    assert markets.store.get(PM_DISPUTES, 0) == PmDispute(
        id=0,
        market=market.id,
        disputer=disputer,
        dispute_fee=FEE,
        reason="not so",
        filed_time=NOW + 9,
        oracle_response_deadline=NOW + 9 + RESPONSE,
        dispute_mode=1,
        voting_end_time=NOW + 9 + RESPONSE + VOTING,
        auto_close_time=NOW + 9 + 1_209_600,
        proposed_outcome=-1,
    )
    account = markets.account(disputer)
    assert (account.balance, account.pm_bets_staked) == (RICH - FEE, 0)
    assert market.payout_status == DISPUTED
    assert (oracle.disputes_received, oracle.markets_in_dispute_window, oracle.disputes_awaiting_response) == (2, 1, 4)


def test_a_gauge_of_an_oracle_never_falls_below_zero(markets: Ledger) -> None:
    oracle = create_oracle(markets)
    disputable_market(markets)

    carry_out(markets, CREATE)

    assert (oracle.markets_in_dispute_window, oracle.disputes_awaiting_response) == (0, 1)


def test_a_market_of_an_oracle_that_never_registered_is_disputed_too(markets: Ledger) -> None:
    market = disputable_market(markets, oracle=ALICE)

    assert carry_out(markets, CREATE) == [PmDisputeOpened(ALICE, BOB, market.id, 1)]


VOTE = PmDisputeVote(voter=CAROL, market_id=0, vote_outcome=1, vote_percent=10_000, extensions=())
VESTED = 1_000_000_000
"""A thousand tokens in shares, at the price of these ledgers."""


@pytest.fixture
def electorate(markets: Ledger) -> Ledger:
    """What a share is worth is decided by somebody else's."""
    create_account(markets, "elector", shares=VESTED)
    change(markets, markets.account(CAROL), vesting_shares=VESTED)
    return markets


def test_a_vote_asks_in_this_order(electorate: Ledger) -> None:
    market = disputable_market(electorate)
    dispute = file_dispute(electorate, market)
    scene = Scene(electorate, VOTE, market=market, dispute=dispute, carol=electorate.account(CAROL))
    out_of_range = "o.vote_outcome >= -1 && o.vote_outcome < (int16_t)mkt.outcome_count: vote_outcome out of range"
    percent = "o.vote_percent >= -10000 && o.vote_percent <= 10000: vote_percent out of range"

    caused = scene.asks_in_order(
        [
            Rule(UNKNOWN, {"operation": {"market_id": FAR_ID}}, {"operation": {"market_id": market.id}}),
            Rule(
                "mkt.dispute_mode == 0: Vote only for committee-mode disputes",
                {"market": {"dispute_mode": 1}},
                {"market": {"dispute_mode": 0}},
            ),
            Rule(
                "dit != didx.end(): No active dispute", {"dispute": {"market": 77}}, {"dispute": {"market": market.id}}
            ),
            Rule(
                "dit->status == 0: Dispute already resolved",
                {"dispute": {"status": ORACLE_WRONG}},
                {"dispute": {"status": OPEN}},
            ),
            Rule(
                "now <= dit->voting_end_time: Voting period ended",
                {"dispute": {"voting_end_time": NOW - 1}},
                {"dispute": {"voting_end_time": NOW}},
            ),
            Rule(out_of_range, {"operation": {"vote_outcome": -2}}),
            Rule(out_of_range, {"operation": {"vote_outcome": 2}}, {"operation": {"vote_outcome": 1}}),
            Rule(percent, {"operation": {"vote_percent": -10_001}}),
            Rule(percent, {"operation": {"vote_percent": 10_001}}, {"operation": {"vote_percent": 10_000}}),
            Rule(UNKNOWN, {"operation": {"voter": NOBODY}}, {"operation": {"voter": CAROL}}),
            Rule(
                "db.get_account(o.voter).effective_vesting_shares() >= min_shares: "
                "Insufficient vesting for dispute vote (min 1000.000 VIZ)",
                {"carol": {"received_vesting_shares": 0, "delegated_vesting_shares": 1}},
                {"carol": {"received_vesting_shares": 1, "delegated_vesting_shares": 1}},
            ),
            Rule(
                "dit->ballots < mp.pm_dispute_votes_per_market: Dispute ballot cap reached",
                {"dispute": {"ballots": 100_000}},
                {"dispute": {"ballots": 99_999}},
            ),
        ]
    )

    assert caused == []
    assert dispute.ballots == 100_000


def test_the_least_stake_of_a_vote_is_the_medians(electorate: Ledger) -> None:
    """Whatever the text says."""
    file_dispute(electorate, disputable_market(electorate))
    set_median(electorate, pm_dispute_vote_min_vesting=tokens(1_000_001))

    refuses(
        electorate,
        VOTE,
        "db.get_account(o.voter).effective_vesting_shares() >= min_shares: "
        "Insufficient vesting for dispute vote (min 1000.000 VIZ)",
    )
    change(electorate, electorate.account(CAROL), vesting_shares=VESTED + 1_000)
    carry_out(electorate, VOTE)


def test_a_vote_is_kept_and_replaced(electorate: Ledger) -> None:
    """Replacing it is free: nothing is counted, and no cap is asked for."""
    market = disputable_market(electorate)
    dispute = file_dispute(electorate, market)

    carry_out(electorate, VOTE)
    assert electorate.store.get(PM_DISPUTE_VOTES, 0) == Ballot(
        id=0, market=market.id, voter=CAROL, vote_outcome=1, vote_percent=10_000, time=NOW
    )
    assert dispute.ballots == 1
    pass_time(electorate, 5)
    set_median(electorate, pm_dispute_votes_per_market=1)
    change(electorate, electorate.account(BOB), vesting_shares=VESTED)

    refuses(
        electorate,
        replace(VOTE, voter=BOB),
        "dit->ballots < mp.pm_dispute_votes_per_market: Dispute ballot cap reached",
    )
    carry_out(electorate, replace(VOTE, vote_outcome=0, vote_percent=-10_000))
    carry_out(electorate, replace(VOTE, vote_outcome=-1, vote_percent=0))

    (vote,) = electorate.store.scan(PM_DISPUTE_VOTES)
    assert (vote.vote_outcome, vote.vote_percent, vote.time, dispute.ballots) == (-1, 0, NOW + 5, 1)


RESPOND = PmDisputeOracleRespond(oracle=ORACLE, market_id=0, response="it is so", extensions=())


def test_an_answer_asks_in_this_order(markets: Ledger) -> None:
    market = disputable_market(markets)
    dispute = file_dispute(markets, market)
    scene = Scene(markets, RESPOND, market=market, dispute=dispute)

    caused = scene.asks_in_order(
        [
            Rule(UNKNOWN, {"operation": {"market_id": FAR_ID}}, {"operation": {"market_id": market.id}}),
            Rule(
                "mkt.oracle == o.oracle: Not the market oracle",
                {"operation": {"oracle": BOB}},
                {"operation": {"oracle": ORACLE}},
            ),
            Rule(
                "o.response.size() <= MAX_PM_DISPUTE_REASON_LEN: response too long",
                {"operation": {"response": "ж" * 512 + "a"}},
                {"operation": {"response": "ж" * 512}},
            ),
            Rule(OPEN_ONE, {"dispute": {"market": 77}}, {"dispute": {"market": market.id}}),
            Rule(OPEN_ONE, {"dispute": {"status": CLOSED_BY_TIME}}, {"dispute": {"status": OPEN}}),
            Rule(
                "now <= dit->oracle_response_deadline: Oracle response window passed",
                {"dispute": {"oracle_response_deadline": NOW - 1}},
                {"dispute": {"oracle_response_deadline": NOW}},
            ),
        ]
    )

    assert caused == []
    assert dispute.oracle_response_time == NOW


def test_only_the_first_answer_turns_the_gauges(markets: Ledger) -> None:
    oracle = create_oracle(markets, disputes_awaiting_response=2, disputes_awaiting_decision=2)
    dispute = file_dispute(markets, disputable_market(markets))

    carry_out(markets, RESPOND)
    pass_time(markets, 5)
    carry_out(markets, replace(RESPOND, response="it really is"))

    assert (oracle.disputes_awaiting_response, oracle.disputes_awaiting_decision) == (1, 3)
    assert (dispute.oracle_response, dispute.oracle_response_time) == ("it really is", NOW + 5)
