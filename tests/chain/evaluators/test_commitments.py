from __future__ import annotations

import pytest
from msgspec.structs import replace

from ledgerd.chain.evaluators.markets.bets import commitment_of
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.operations.markets.bets import PmCommitBet, PmRevealBet
from ledgerd.protocol.types.assets import shares, tokens
from ledgerd.protocol.types.identifiers import Commitment
from ledgerd.state.objects.markets.bets import PM_BETS, QUEUED, PmBet
from ledgerd.state.objects.markets.commitments import COMMITTED, FORFEITED, PM_COMMITS, REVEALED, PmCommit
from tests.chain.ledgers import BOB, CAROL, HEAD, NOW, carry_out, change, pass_time, refuses, set_median
from tests.chain.market_scenes import (
    FAR_ID,
    NOBODY,
    RICH,
    UNKNOWN,
    Rule,
    Scene,
    bet_of,
    create_market,
    create_multi_market,
)

SALT = "соль"
HASH = Commitment(commitment_of(0, BOB, 1, -1, 700, 3, SALT))

COMMIT = PmCommitBet(
    account=BOB, market_id=0, commitment=HASH, escrow_amount=tokens(1_000), no_reveal_fee_percent=2_000, extensions=()
)
REVEAL = PmRevealBet(
    account=BOB, commit_id=0, side=1, outcome_index=-1, amount=tokens(700), salt=SALT, min_tokens=3, extensions=()
)

MISMATCH = (
    "verify_commit(commit, o.side, o.outcome_index, o.amount.amount, o.min_tokens, o.salt): Commitment hash mismatch"
)
ENDED = "mkt.betting_expiration == time_point_sec() || now < mkt.betting_expiration: Betting period ended"


def commit_of(ledger: Ledger) -> PmCommit:
    return ledger.store.get(PM_COMMITS, 0)


def test_hiding_a_bet_asks_in_this_order(markets: Ledger) -> None:
    market = create_market(markets)
    scene = Scene(markets, COMMIT, market=market, bob=markets.account(BOB))

    caused = scene.asks_in_order(
        [
            Rule(
                "mp.pm_commit_reveal_enabled: Commit-reveal not enabled",
                {"median": {"pm_commit_reveal_enabled": False}},
                {"median": {"pm_commit_reveal_enabled": True}},
            ),
            Rule(UNKNOWN, {"operation": {"market_id": FAR_ID}}, {"operation": {"market_id": 0}}),
            Rule("mkt.status == 1: Market not active", {"market": {"status": 0}}, {"market": {"status": 1}}),
            Rule(
                "mkt.allow_batch: Batch mode not enabled",
                {"market": {"allow_batch": False}},
                {"market": {"allow_batch": True}},
            ),
            Rule(ENDED, {"market": {"betting_expiration": NOW}}, {"market": {"betting_expiration": NOW + 1}}),
            Rule(
                "o.escrow_amount.symbol == TOKEN_SYMBOL: Escrow must be VIZ",
                {"operation": {"escrow_amount": shares(1_000)}},
            ),
            Rule(
                "o.escrow_amount.amount >= mp.pm_min_batch_bet.amount: Escrow below minimum batch bet",
                {"operation": {"escrow_amount": tokens(999)}},
                {"operation": {"escrow_amount": tokens(1_000)}},
            ),
            Rule(
                "o.no_reveal_fee_percent == mp.pm_commit_no_reveal_penalty_percent: "
                "no_reveal_fee_percent must equal current consensus value",
                {"operation": {"no_reveal_fee_percent": 1_999}},
                {"operation": {"no_reveal_fee_percent": 2_000}},
            ),
            Rule(
                "mkt.open_commits < MAX_PM_OPEN_COMMITS_PER_MARKET: Open commit cap reached for this market",
                {"market": {"open_commits": 10_000}},
                {"market": {"open_commits": 9_999}},
            ),
            Rule(UNKNOWN, {"operation": {"account": NOBODY}}, {"operation": {"account": BOB}}),
            Rule(
                "acct.balance >= o.escrow_amount: Insufficient balance for escrow",
                {"bob": {"balance": 999}},
                {"bob": {"balance": 1_000}},
            ),
        ]
    )

    assert caused == []
    assert (market.open_commits, markets.account(BOB).balance) == (10_000, 0)


@pytest.mark.parametrize("no_end", [True, False])
def test_a_hidden_bet_is_kept_under_its_hash(markets: Ledger, *, no_end: bool) -> None:
    """In a market of any type; the tokens are in no counter."""
    market = create_market(markets, betting_expiration=0) if no_end else create_multi_market(markets)

    assert carry_out(markets, COMMIT) == []

    assert commit_of(markets) == PmCommit(
        id=0,
        market=0,
        account=BOB,
        commitment=HASH,
        escrow_amount=1_000,
        no_reveal_fee_percent=2_000,
        commit_time=NOW,
        reveal_deadline=NOW + (20 + 200) * 3,
    )
    bob = markets.account(BOB)
    assert (bob.balance, bob.pm_bets_staked, market.open_commits) == (RICH - 1_000, 0, 1)


@pytest.mark.parametrize(("head", "seconds"), [(1_005, 645), (1_020, 660), (1_019, 603)])
def test_the_time_to_show_a_bet_is_counted_from_the_end_of_its_epoch(markets: Ledger, head: int, seconds: int) -> None:
    """The examples of spec 08, section 13.4."""
    assert head != HEAD
    create_market(markets)
    change(markets, markets.globals, head_block_number=head)

    carry_out(markets, COMMIT)

    assert commit_of(markets).reveal_deadline == NOW + seconds


@pytest.mark.parametrize(
    ("epoch", "window", "seconds"),
    [
        (2**32 - 1, 200, (2**32 - 1 - HEAD + 200) % 2**32 * 3),
        (1, 2**32 - 1, 0),
    ],
)
def test_the_time_to_show_a_bet_is_cut_to_32_bits(markets: Ledger, epoch: int, window: int, seconds: int) -> None:
    create_market(markets)
    set_median(markets, pm_batch_epoch_blocks=epoch, pm_reveal_window_blocks=window)

    carry_out(markets, COMMIT)

    assert commit_of(markets).reveal_deadline == (NOW + seconds) % 2**32


def test_showing_a_bet_asks_in_this_order(markets: Ledger) -> None:
    market = create_market(markets)
    carry_out(markets, COMMIT)
    commit = commit_of(markets)
    hashes = {amount: Commitment(commitment_of(0, BOB, 1, -1, amount, 3, SALT)) for amount in (1_001, 1_000)}
    scene = Scene(markets, REVEAL, market=market, commit=commit)
    invalid = "o.amount.amount > 0 && o.amount.amount <= commit.escrow_amount: Invalid reveal amount"

    caused = scene.asks_in_order(
        [
            Rule(UNKNOWN, {"operation": {"commit_id": FAR_ID}}, {"operation": {"commit_id": 0}}),
            Rule(
                "commit.account == o.account: Not your commitment",
                {"operation": {"account": CAROL}},
                {"operation": {"account": BOB}},
            ),
            Rule(
                "commit.status == 0: Already revealed or forfeited",
                {"commit": {"status": REVEALED}},
                {"commit": {"status": COMMITTED}},
            ),
            Rule(
                "now <= commit.reveal_deadline: Reveal window passed",
                {"commit": {"reveal_deadline": NOW - 1}},
                {"commit": {"reveal_deadline": NOW}},
            ),
            Rule("o.amount.symbol == TOKEN_SYMBOL: Amount must be VIZ", {"operation": {"amount": shares(700)}}),
            Rule(invalid, {"operation": {"amount": tokens(0)}}),
            Rule(
                invalid,
                {"operation": {"amount": tokens(1_001)}, "commit": {"commitment": hashes[1_001]}},
                {"operation": {"amount": tokens(1_000)}},
            ),
            Rule(MISMATCH, {"commit": {"commitment": HASH}}, {"commit": {"commitment": hashes[1_000]}}),
            Rule("mkt.status == 1: Market not active", {"market": {"status": 3}}, {"market": {"status": 1}}),
            Rule(ENDED, {"market": {"betting_expiration": NOW}}, {"market": {"betting_expiration": NOW + 1}}),
        ]
    )

    assert caused == []
    assert (bet_of(markets).amount, markets.account(BOB).balance) == (1_000, RICH - 1_000)


@pytest.mark.parametrize("status", [REVEALED, FORFEITED])
def test_a_bet_is_shown_once(markets: Ledger, status: int) -> None:
    create_market(markets)
    carry_out(markets, COMMIT)
    change(markets, commit_of(markets), status=status)

    refuses(markets, REVEAL, "commit.status == 0: Already revealed or forfeited")


@pytest.mark.parametrize(
    "other",
    [
        {"side": 0},
        {"outcome_index": 0},
        {"amount": tokens(701)},
        {"min_tokens": 2},
        {"salt": "соли"},
        {"salt": ""},
    ],
)
def test_the_whole_bet_is_under_the_hash(markets: Ledger, other: dict[str, object]) -> None:
    create_market(markets)
    carry_out(markets, COMMIT)

    refuses(markets, replace(REVEAL, **other), MISMATCH)


def test_a_bet_that_was_shown_waits_for_the_end_of_its_epoch(markets: Ledger) -> None:
    """Its risk began when it was hidden; what it had put aside beyond its stake comes back."""
    market = create_market(
        markets, current_epoch=6, betting_expiration=NOW + 100, time_penalty_value=200, allow_batch=True
    )
    carry_out(markets, COMMIT)
    pass_time(markets, 60)
    change(markets, market, allow_batch=False, open_commits=5)
    set_median(markets, pm_commit_reveal_enabled=False)

    assert carry_out(markets, REVEAL) == []

    assert bet_of(markets) == PmBet(
        id=0,
        market=0,
        account=BOB,
        side=1,
        amount=700,
        min_tokens=3,
        mode=1,
        epoch=6,
        status=QUEUED,
        created_time=NOW + 60,
        time_penalty=500_000,
    )
    bob = markets.account(BOB)
    assert (bob.balance, bob.pm_bets_staked) == (RICH - 700, 700)
    assert (commit_of(markets).status, market.open_commits, market.bets_sum) == (REVEALED, 4, 0)


def test_a_count_of_open_bets_never_falls_below_zero(markets: Ledger) -> None:
    market = create_market(markets)
    carry_out(markets, COMMIT)
    change(markets, market, open_commits=0)

    carry_out(markets, REVEAL)

    assert market.open_commits == 0


def test_neither_the_outcome_nor_a_least_amount_is_asked_for(markets: Ledger) -> None:
    create_market(markets)
    carry_out(markets, replace(COMMIT, commitment=Commitment(commitment_of(0, BOB, -1, 32_767, 1, 2**63 - 1, ""))))

    carry_out(
        markets,
        replace(REVEAL, side=-1, outcome_index=32_767, amount=tokens(1), min_tokens=2**63 - 1, salt=""),
    )

    assert (bet_of(markets).outcome_index, bet_of(markets).amount) == (32_767, 1)
    assert markets.store.count(PM_BETS) == 1
