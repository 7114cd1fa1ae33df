from __future__ import annotations

import pytest

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.steps.inflation import distribute_epoch
from ledgerd.protocol.operations.virtual import StakeholderReward, ValidatorReward
from ledgerd.protocol.types.assets import shares
from ledgerd.protocol.types.names import AccountName
from ledgerd.state.objects.validators import VALIDATOR_VOTES, ValidatorVote
from tests.chain.ledgers import ALICE, BOB, CAROL, change, create_account, create_validator, run, set_median

EPOCH = 1_200
END = 2_400
START = END - EPOCH + 1
"""The first block of the epoch that ends with the head."""

SHORT, LONG = AccountName("zz"), AccountName("aaaa")
"""In word order the shorter name comes first."""


@pytest.fixture
def ledger(ledger: Ledger) -> Ledger:
    """Alice, Bob and Carol have equal shares; a thousand shares are worth a thousandth of a token."""
    for name in (ALICE, BOB, CAROL):
        create_account(ledger, name, shares=1_000_000)
    for name in (LONG, SHORT):
        create_account(ledger, name)
        create_validator(ledger, name)
    set_median(ledger, distribution_epoch_length=EPOCH)
    change(ledger, ledger.globals, head_block_number=END)
    return ledger


def vote(ledger: Ledger, voter: AccountName, validator: AccountName, created: int = 0) -> None:
    account = ledger.account(voter)
    ledger.store.create(
        VALIDATOR_VOTES,
        ValidatorVote(validator=ledger.validator(validator).id, account=account.id, vote_created_block=created),
    )
    change(ledger, account, validators_voted_for=account.validators_voted_for + 1)


def put_aside(ledger: Ledger, validator: AccountName, reward: int) -> None:
    change(ledger, ledger.validator(validator), pending_stakeholder_reward=reward)


def to_voter(validator: AccountName, voter: AccountName, tokens: int) -> StakeholderReward:
    return StakeholderReward(validator, voter, shares(tokens * 1_000))


def to_validator(validator: AccountName, tokens: int) -> ValidatorReward:
    return ValidatorReward(validator, shares(tokens * 1_000))


def test_voters_share_alike_for_a_whole_epoch_and_the_validator_has_the_rest(ledger: Ledger) -> None:
    for voter in (CAROL, ALICE, BOB):
        vote(ledger, voter, SHORT)
    put_aside(ledger, SHORT, 100)

    assert run(ledger, distribute_epoch) == [
        to_voter(SHORT, ALICE, 33),
        to_voter(SHORT, BOB, 33),
        to_voter(SHORT, CAROL, 33),
        to_validator(SHORT, 1),
    ]
    assert ledger.validator(SHORT).pending_stakeholder_reward == 0
    assert ledger.account(ALICE).vesting_shares == 1_033_000


def test_a_vote_counts_from_the_block_it_was_given_in(ledger: Ledger) -> None:
    vote(ledger, ALICE, SHORT, START - 1)
    vote(ledger, BOB, SHORT, START + EPOCH // 2)
    put_aside(ledger, SHORT, 300)

    assert run(ledger, distribute_epoch) == [to_voter(SHORT, ALICE, 200), to_voter(SHORT, BOB, 100)]


def test_a_voter_of_several_validators_weighs_less_for_each(ledger: Ledger) -> None:
    vote(ledger, ALICE, SHORT)
    vote(ledger, ALICE, LONG)
    vote(ledger, BOB, SHORT)
    put_aside(ledger, SHORT, 300)

    assert run(ledger, distribute_epoch) == [to_voter(SHORT, ALICE, 100), to_voter(SHORT, BOB, 200)]


def test_a_part_of_less_than_the_smallest_amount_stays_with_the_validator(ledger: Ledger) -> None:
    for voter in (ALICE, BOB, CAROL):
        vote(ledger, voter, SHORT)
    put_aside(ledger, SHORT, 2)

    assert run(ledger, distribute_epoch) == [to_validator(SHORT, 2)]


@pytest.mark.parametrize("has_idle_voter", [False, True])
def test_without_voters_of_weight_the_validator_has_it_all(ledger: Ledger, has_idle_voter: bool) -> None:
    if has_idle_voter:
        vote(ledger, LONG, SHORT)
    put_aside(ledger, SHORT, 50)

    assert run(ledger, distribute_epoch) == [to_validator(SHORT, 50)]
    assert ledger.validator(SHORT).pending_stakeholder_reward == 0


def test_validators_pay_in_word_order_and_each_payment_counts_for_the_next(ledger: Ledger) -> None:
    for validator in (LONG, SHORT):
        put_aside(ledger, validator, 1_000)
    vote(ledger, ALICE, SHORT)
    vote(ledger, ALICE, LONG)
    vote(ledger, BOB, LONG)

    # Having got a thousand tokens' worth of shares, Alice weighs for the second validator as much as Bob.
    assert run(ledger, distribute_epoch) == [
        to_voter(SHORT, ALICE, 1_000),
        to_voter(LONG, ALICE, 500),
        to_voter(LONG, BOB, 500),
    ]


def test_nothing_is_paid_within_an_epoch(ledger: Ledger) -> None:
    put_aside(ledger, SHORT, 50)
    change(ledger, ledger.globals, head_block_number=END - 1)

    assert run(ledger, distribute_epoch) == []


def test_an_epoch_without_length_never_ends(ledger: Ledger) -> None:
    put_aside(ledger, SHORT, 50)
    set_median(ledger, distribution_epoch_length=0)

    assert run(ledger, distribute_epoch) == []


def test_a_validator_without_an_account_keeps_what_it_put_aside(ledger: Ledger) -> None:
    put_aside(ledger, SHORT, 50)
    put_aside(ledger, LONG, 60)
    ledger.store.remove(ledger.account(SHORT))

    assert run(ledger, distribute_epoch) == [to_validator(LONG, 60)]
    assert ledger.validator(SHORT).pending_stakeholder_reward == 50
