from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.money.content import cash_out_due
from ledgerd.chain.steps.payments import pay_contents
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.operations.virtual import (
    AuthorReward,
    ContentBenefactorReward,
    ContentPayoutUpdate,
    ContentReward,
    CurationReward,
)
from ledgerd.protocol.types.assets import Asset, shares, tokens
from ledgerd.protocol.types.beneficiary import Beneficiary
from ledgerd.protocol.types.names import AccountName
from ledgerd.protocol.types.times import LATEST
from ledgerd.state.objects.accounts.content import CONTENT_VOTES, CONTENTS, Content, ContentVote
from tests.chain.ledgers import ALICE, BOB, CAROL, NOW, change, create_account, run, set_median

LedgerAt = Callable[[int], Ledger]

FUND, ALL_SHARES = 10_000, 1_000
DONE = ContentPayoutUpdate(ALICE, "post")


@pytest.fixture
def ledger(ledger_at: LedgerAt) -> Ledger:
    """In the first era; a thousand shares are worth a thousandth of a token."""
    ledger = ledger_at(3)
    for name in (ALICE, BOB, CAROL):
        create_account(ledger, name, shares=1_000_000_000)
    change(ledger, ledger.globals, total_reward_fund=FUND, total_reward_shares=ALL_SHARES)
    set_median(ledger, min_curation_percent=0, max_curation_percent=10_000)
    return ledger


def post(ledger: Ledger, **fields: Any) -> Content:
    """One that has half of all reward shares, and is due."""
    content = Content(
        author=ALICE,
        permlink="post",
        net_rshares=500,
        abs_rshares=600,
        vote_rshares=550,
        children_rshares=500,
        cashout_time=NOW,
    )
    for field, value in fields.items():
        setattr(content, field, value)
    return ledger.store.create(CONTENTS, content)


def vote(ledger: Ledger, content: Content, voter: AccountName, weight: int) -> None:
    cast = ContentVote(voter=ledger.account(voter).id, content=content.id, weight=weight)
    ledger.store.create(CONTENT_VOTES, cast)


def worth(amount: int) -> Asset:
    return shares(amount * 1_000)


def test_an_author_has_half_in_tokens_and_half_in_shares(ledger: Ledger) -> None:
    content = post(ledger, net_rshares=501)

    assert run(ledger, pay_contents) == [
        AuthorReward(ALICE, "post", tokens(2_505), worth(2_505)),
        ContentReward(ALICE, "post", tokens(5_010)),
        DONE,
    ]

    alice, globals_ = ledger.account(ALICE), ledger.globals
    assert (alice.balance, alice.vesting_shares) == (2_505, 1_000_000_000 + 2_505_000)
    assert alice.posting_rewards == content.author_rewards == 5_010
    assert (content.payout_value, content.shares_payout_value) == (2_505, 2_505_000)
    assert (globals_.total_reward_fund, globals_.total_reward_shares) == (FUND - 5_010, ALL_SHARES - 501)


def test_the_odd_token_becomes_shares(ledger: Ledger) -> None:
    change(ledger, ledger.globals, total_reward_fund=10)
    post(ledger)

    assert run(ledger, pay_contents)[0] == AuthorReward(ALICE, "post", tokens(2), worth(3))


def test_paid_content_is_done_with(ledger: Ledger) -> None:
    content = post(ledger, total_vote_weight=9)

    run(ledger, pay_contents)

    assert (content.net_rshares, content.abs_rshares, content.vote_rshares, content.total_vote_weight) == (0,) * 4
    assert (content.children_rshares, content.cashout_time, content.last_payout) == (0, LATEST, NOW)
    assert run(ledger, pay_contents) == []


def test_curators_share_by_weight_the_heaviest_first(ledger: Ledger) -> None:
    content = post(ledger, curation_percent=2_000, total_vote_weight=7)
    for voter, weight in ((BOB, 2), (CAROL, 4), (ALICE, 1)):
        vote(ledger, content, voter, weight)

    assert run(ledger, pay_contents) == [
        CurationReward(CAROL, worth(571), ALICE, "post"),
        CurationReward(BOB, worth(285), ALICE, "post"),
        CurationReward(ALICE, worth(142), ALICE, "post"),
        AuthorReward(ALICE, "post", tokens(2_001), worth(2_001)),
        ContentReward(ALICE, "post", tokens(5_000)),
        DONE,
    ]
    assert (ledger.account(CAROL).curation_rewards, ledger.account(BOB).curation_rewards) == (571, 285)
    assert content.curator_payout_value == 998_000
    assert (content.consensus_curation_percent, content.author_rewards) == (2_000, 4_002)


def test_what_curators_do_not_claim_is_the_authors(ledger: Ledger) -> None:
    content = post(ledger, curation_percent=2_000, total_vote_weight=1_000_000)
    vote(ledger, content, BOB, 999)
    vote(ledger, content, CAROL, 0)

    emitted = run(ledger, pay_contents)

    assert [type(each) for each in emitted] == [AuthorReward, ContentReward, ContentPayoutUpdate]
    assert content.author_rewards == 5_000


@pytest.mark.parametrize(("wanted", "counts"), [(500, 1_000), (1_500, 1_500), (9_000, 3_000)])
def test_the_curators_part_is_within_what_was_voted(ledger: Ledger, wanted: int, counts: int) -> None:
    set_median(ledger, min_curation_percent=1_000, max_curation_percent=3_000)
    content = post(ledger, curation_percent=wanted, total_vote_weight=1)
    vote(ledger, content, BOB, 1)

    run(ledger, pay_contents)

    assert content.consensus_curation_percent == counts
    assert ledger.account(BOB).curation_rewards == 5_000 * counts // 10_000


def test_beneficiaries_share_what_the_author_would_have(ledger: Ledger) -> None:
    beneficiaries = (Beneficiary(BOB, 2_500), Beneficiary(CAROL, 1))
    content = post(ledger, beneficiaries=beneficiaries, curation_percent=1_000)

    assert run(ledger, pay_contents) == [
        ContentBenefactorReward(BOB, ALICE, "post", worth(1_250)),
        ContentBenefactorReward(CAROL, ALICE, "post", worth(0)),
        AuthorReward(ALICE, "post", tokens(1_875), worth(1_875)),
        ContentReward(ALICE, "post", tokens(5_000)),
        DONE,
    ]
    assert content.beneficiary_payout_value == 1_250_000
    assert content.author_rewards == 3_750


@pytest.mark.parametrize(("net", "left"), [(0, 0), (-5, -5)])
def test_content_without_votes_for_it_is_paid_nothing(ledger: Ledger, net: int, left: int) -> None:
    content = post(ledger, net_rshares=net, children_rshares=0)

    assert run(ledger, pay_contents) == [DONE]
    assert (content.net_rshares, content.cashout_time) == (left, LATEST)
    assert ledger.globals.total_reward_shares == ALL_SHARES


def test_a_reward_of_nothing_still_takes_the_shares_away(ledger: Ledger) -> None:
    change(ledger, ledger.globals, total_reward_fund=1)
    post(ledger)

    assert run(ledger, pay_contents) == [DONE]
    assert ledger.globals.total_reward_shares == ALL_SHARES - 500


def test_a_reply_takes_its_shares_from_all_above_it(ledger: Ledger) -> None:
    above = post(ledger, net_rshares=0, cashout_time=NOW + 1)
    post(ledger, permlink="reply", parent_author=ALICE, parent_permlink="post", depth=1)

    run(ledger, pay_contents)

    assert above.children_rshares == 0


def test_content_is_paid_at_its_time_the_earliest_first(ledger: Ledger) -> None:
    for permlink, due in (("c", NOW + 1), ("b", NOW), ("a", NOW - 1)):
        post(ledger, permlink=permlink, cashout_time=due, net_rshares=0)

    assert run(ledger, lambda ledger, _: cash_out_due(ledger)) == [
        ContentPayoutUpdate(ALICE, "a"),
        ContentPayoutUpdate(ALICE, "b"),
    ]


def test_shares_that_were_never_counted_cannot_be_paid(ledger: Ledger) -> None:
    change(ledger, ledger.globals, total_reward_shares=0)
    post(ledger)

    with pytest.raises(RuleViolation):
        run(ledger, pay_contents)
