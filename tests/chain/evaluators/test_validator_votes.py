from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.validators.votes import votes_of
from ledgerd.protocol.operations.validators import AccountValidatorProxy, AccountValidatorVote
from ledgerd.protocol.types.names import NO_NAME, AccountName
from ledgerd.state.objects.validators import VALIDATOR_VOTES
from tests.chain.ledgers import (
    ALICE,
    BOB,
    CAROL,
    HEAD,
    carry_out,
    change,
    create_account,
    create_validator,
    key_of,
    refuses,
)

LedgerAt = Callable[[int], Ledger]

SHARES = 1_000
FIRST, SECOND, THIRD = AccountName("first"), AccountName("second"), AccountName("third")


def vote(validator: AccountName, approve: bool = True, voter: AccountName = ALICE) -> AccountValidatorVote:
    return AccountValidatorVote(voter, validator, approve)


def proxy(account: AccountName, to: AccountName) -> AccountValidatorProxy:
    return AccountValidatorProxy(account, to)


def votes(ledger: Ledger, *validators: AccountName) -> list[int]:
    return [ledger.validator(validator).votes for validator in validators]


def with_voter(ledger: Ledger, *, proxied: tuple[int, int, int, int] = (0, 0, 0, 0)) -> Ledger:
    """Alice has a thousand shares, and further ones from those who vote through her; others have plenty."""
    create_account(ledger, ALICE, shares=SHARES, proxied_vsf_votes=proxied)
    create_account(ledger, AccountName("whale"), shares=1_000_000)
    for name in (FIRST, SECOND, THIRD):
        create_validator(ledger, name)
    return ledger


def test_a_vote_is_stored_with_the_number_of_the_head(ledger: Ledger) -> None:
    with_voter(ledger)

    assert carry_out(ledger, vote(FIRST)) == []

    stored = ledger.store.get(VALIDATOR_VOTES, 0)
    assert (stored.account, stored.validator) == (ledger.account(ALICE).id, ledger.validator(FIRST).id)
    assert stored.vote_created_block == HEAD
    assert votes(ledger, FIRST) == [SHARES]


def test_since_hardfork_5_votes_share_all_that_an_account_weighs(ledger_at: LedgerAt) -> None:
    ledger = with_voter(ledger_at(5), proxied=(1, 0, 0, 0))

    for each in (FIRST, SECOND, THIRD):
        carry_out(ledger, vote(each))

    assert votes(ledger, FIRST, SECOND, THIRD) == [333, 333, 333]
    alice = ledger.account(ALICE)
    assert (alice.validators_voted_for, alice.validators_vote_weight) == (3, 333)

    carry_out(ledger, vote(SECOND, approve=False))

    assert votes(ledger, FIRST, SECOND, THIRD) == [500, 0, 500]
    assert (alice.validators_voted_for, alice.validators_vote_weight) == (2, 500)

    carry_out(ledger, vote(FIRST, approve=False))
    carry_out(ledger, vote(THIRD, approve=False))

    assert votes(ledger, FIRST, SECOND, THIRD) == [0, 0, 0]
    assert (alice.validators_voted_for, alice.validators_vote_weight) == (0, 0)


def test_since_hardfork_5_what_is_taken_back_is_the_stored_weight(ledger_at: LedgerAt) -> None:
    ledger = with_voter(ledger_at(5))
    carry_out(ledger, vote(FIRST))
    change(ledger, ledger.account(ALICE), validators_vote_weight=990)

    carry_out(ledger, vote(SECOND))

    assert votes(ledger, FIRST, SECOND) == [1_000 - 990 + 500, 500]


def test_under_hardfork_4_only_the_own_shares_are_divided(ledger_at: LedgerAt) -> None:
    ledger = with_voter(ledger_at(4), proxied=(10, 0, 0, 0))

    carry_out(ledger, vote(FIRST))
    assert votes(ledger, FIRST) == [1_010]
    carry_out(ledger, vote(SECOND))
    assert votes(ledger, FIRST, SECOND) == [510, 510]
    carry_out(ledger, vote(FIRST, approve=False))

    assert votes(ledger, FIRST, SECOND) == [0, 1_010]
    assert ledger.account(ALICE).validators_vote_weight == 0


def test_before_hardfork_4_each_vote_weighs_everything(ledger_at: LedgerAt) -> None:
    ledger = with_voter(ledger_at(3), proxied=(1, 2, 3, 4))

    carry_out(ledger, vote(FIRST))
    carry_out(ledger, vote(SECOND))
    assert votes(ledger, FIRST, SECOND) == [1_010, 1_010]
    assert ledger.account(ALICE).validators_voted_for == 2
    carry_out(ledger, vote(FIRST, approve=False))

    assert votes(ledger, FIRST, SECOND) == [0, 1_010]
    assert ledger.account(ALICE).validators_voted_for == 1
    assert [each.validator for each in votes_of(ledger, ledger.account(ALICE))] == [ledger.validator(SECOND).id]


@pytest.mark.parametrize("hardfork", [0, 4, 13])
def test_a_vote_is_given_once_and_taken_back_once(ledger_at: LedgerAt, hardfork: int) -> None:
    ledger = with_voter(ledger_at(hardfork))

    refuses(
        ledger,
        vote(FIRST, approve=False),
        "o.approve: Vote doesn't exist, user must indicate a desire to approve validator.",
    )
    carry_out(ledger, vote(FIRST))
    refuses(
        ledger,
        vote(FIRST),
        "!o.approve: Vote currently exists, user must indicate a desire to reject validator.",
    )


@pytest.mark.parametrize(
    ("hardfork", "limit", "constant"),
    [
        (3, 2, "CHAIN_MAX_ACCOUNT_VALIDATOR_VOTES_PRE_HF4"),
        (4, 100, "CHAIN_MAX_ACCOUNT_VALIDATOR_VOTES"),
        (13, 100, "CHAIN_MAX_ACCOUNT_VALIDATOR_VOTES"),
    ],
)
def test_votes_are_limited(ledger_at: LedgerAt, hardfork: int, limit: int, constant: str) -> None:
    ledger = with_voter(ledger_at(hardfork))
    alice = ledger.account(ALICE)
    change(ledger, alice, validators_voted_for=limit)

    refuses(
        ledger,
        vote(FIRST),
        f"voter.validators_voted_for < {constant}: Account has voted for too many validators.",
    )

    change(ledger, alice, validators_voted_for=limit - 1)
    carry_out(ledger, vote(FIRST))
    assert alice.validators_voted_for == limit


def test_voter_and_validator_exist(ledger: Ledger) -> None:
    with_voter(ledger)

    refuses(ledger, vote(FIRST, voter=BOB), "unknown key: ")
    refuses(ledger, vote(ALICE), "unknown key: ")


def test_before_hardfork_4_who_has_a_proxy_cannot_vote(ledger_at: LedgerAt) -> None:
    ledger = with_voter(ledger_at(3))
    change(ledger, ledger.account(ALICE), proxy=BOB)

    refuses(
        ledger,
        vote(FIRST),
        "voter.proxy.size() == 0: A proxy is currently set, please clear the proxy before voting for a validator.",
    )


@pytest.mark.parametrize("hardfork", [4, 5, 13])
def test_since_hardfork_4_the_first_vote_ends_the_proxy(ledger_at: LedgerAt, hardfork: int) -> None:
    ledger = with_voter(ledger_at(hardfork), proxied=(20, 0, 0, 0))
    create_account(ledger, BOB)
    carry_out(ledger, vote(SECOND, voter=BOB))
    carry_out(ledger, proxy(ALICE, BOB))
    assert votes(ledger, SECOND) == [1_020]

    carry_out(ledger, vote(FIRST))

    assert votes(ledger, FIRST, SECOND) == [1_020, 0]
    assert ledger.account(ALICE).proxy == NO_NAME
    assert ledger.account(BOB).proxied_vsf_votes == (0, 0, 0, 0)


def test_a_proxy_takes_the_place_of_votes(ledger: Ledger) -> None:
    with_voter(ledger, proxied=(5, 6, 7, 8))
    create_account(ledger, BOB)
    carry_out(ledger, vote(SECOND, voter=BOB))
    carry_out(ledger, vote(FIRST))
    assert votes(ledger, FIRST) == [1_026]

    assert carry_out(ledger, proxy(ALICE, BOB)) == []

    alice, bob = ledger.account(ALICE), ledger.account(BOB)
    assert votes(ledger, FIRST, SECOND) == [0, 1_018]
    assert bob.proxied_vsf_votes == (1_000, 5, 6, 7)
    assert (alice.proxy, alice.validators_voted_for, alice.validators_vote_weight) == (BOB, 0, 0)
    assert list(votes_of(ledger, alice)) == []


def test_the_drift_of_votes_stays_with_the_validators(ledger: Ledger) -> None:
    with_voter(ledger)
    create_account(ledger, BOB)
    for each in (FIRST, SECOND, THIRD):
        carry_out(ledger, vote(each))
    change(ledger, ledger.validator(FIRST), votes=340, counted_votes=340)

    carry_out(ledger, proxy(ALICE, BOB))

    assert votes(ledger, FIRST, SECOND, THIRD) == [7, 0, 0]


def test_without_a_proxy_earlier_votes_do_not_come_back(ledger: Ledger) -> None:
    with_voter(ledger)
    create_account(ledger, BOB)
    carry_out(ledger, vote(SECOND, voter=BOB))
    carry_out(ledger, vote(FIRST))
    carry_out(ledger, proxy(ALICE, BOB))

    carry_out(ledger, proxy(ALICE, NO_NAME))

    assert votes(ledger, FIRST, SECOND) == [0, 0]
    assert ledger.account(ALICE).proxy == NO_NAME


def test_a_proxy_must_change(ledger: Ledger) -> None:
    create_account(ledger, ALICE)

    refuses(ledger, proxy(ALICE, NO_NAME), "account.proxy != o.proxy: Proxy must change.")


def test_account_and_proxy_exist(ledger: Ledger) -> None:
    create_account(ledger, ALICE)

    refuses(ledger, proxy(BOB, ALICE), "unknown key: ")
    refuses(ledger, proxy(ALICE, BOB), "unknown key: ")


@pytest.mark.parametrize("hops", [1, 2])
def test_a_loop_of_proxies_is_refused(ledger: Ledger, hops: int) -> None:
    names = [ALICE, BOB, CAROL][: hops + 1]
    for name in names:
        create_account(ledger, name)
    for name, to in pairwise(names):
        carry_out(ledger, proxy(name, to))

    refuses(
        ledger,
        proxy(names[-1], ALICE),
        "proxy_chain.insert(next_proxy.id).second: This proxy would create a proxy loop.",
    )


def test_a_proxy_has_two_further_hops_at_most(ledger: Ledger) -> None:
    names = [AccountName(f"account{letter}") for letter in "abcde"]
    for name in names:
        create_account(ledger, name)
    for name, to in pairwise(names[1:]):
        carry_out(ledger, proxy(name, to))

    refuses(
        ledger,
        proxy(names[0], names[1]),
        "proxy_chain.size() <= CHAIN_MAX_PROXY_RECURSION_DEPTH: Proxy chain is too long.",
    )

    carry_out(ledger, proxy(names[0], names[2]))
    assert ledger.account(names[0]).proxy == names[2]


def test_a_validator_without_a_key_can_be_voted_for(ledger: Ledger) -> None:
    with_voter(ledger)
    change(ledger, ledger.validator(FIRST), signing_key=bytes(33))

    carry_out(ledger, vote(FIRST))

    assert votes(ledger, FIRST) == [SHARES]
    assert key_of(FIRST) != ledger.validator(FIRST).signing_key
