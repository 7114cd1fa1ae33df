"""Accounts: the amounts that follow from others, at the edges of their arithmetic, and the orders of accounts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.basics.durations import DAY
from ledgerd.protocol.errors import Overflow, RuleViolation, Underflow
from ledgerd.protocol.types.names import AccountName
from ledgerd.state import Store
from ledgerd.state.objects.accounts.accounts import (
    ACCOUNT_AUTHORITIES,
    ACCOUNT_BY_AUCTION_START,
    ACCOUNT_BY_DAY_OF_BANDWIDTH_UPDATE,
    ACCOUNT_BY_NAME,
    ACCOUNT_BY_NEXT_WITHDRAWAL,
    ACCOUNTS,
    AUTHORITY_BY_ACCOUNT,
    Account,
    AccountAuthority,
)

LARGEST, SMALLEST = 2**63 - 1, -(2**63)

WORD_ORDER = [
    *("ba", "ab", "id", "bob", "viz", "dave", "null", "on1x", "alice", "carol", "invite", "readdle"),
    *("a-long-account.name", "chain.cash", "committee", "abcdefghi", "zbcdefgha", "anonymous"),
]
TEXT_ORDER = [
    *("a-long-account.name", "ab", "abcdefghi", "alice", "anonymous", "ba", "bob", "carol", "chain.cash"),
    *("committee", "dave", "id", "invite", "null", "on1x", "readdle", "viz", "zbcdefgha"),
]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path, (ACCOUNTS, ACCOUNT_AUTHORITIES)) as store:
        yield store


def test_shares_count_with_those_received_and_without_those_lent() -> None:
    account = Account(vesting_shares=1_000, delegated_vesting_shares=300, received_vesting_shares=50)

    assert account.effective_shares == 750
    assert account.available_shares == 700


def test_shares_that_are_being_withdrawn_are_set_aside() -> None:
    account = Account(vesting_shares=1_000, delegated_vesting_shares=300, to_withdraw=500, withdrawn=120)

    assert account.available_beside_withdrawal == 320


def test_votes_count_with_those_passed_on() -> None:
    account = Account(vesting_shares=1_000, proxied_vsf_votes=(10, 20, 30, 41), validators_voted_for=3)

    assert account.vote_weight == 1_101
    assert account.fair_vote_weight == 367
    assert account.fair_vote_weight_of_hf4 == 333 + 101


def test_a_vote_for_nobody_weighs_nothing_but_what_was_passed_on_under_hardfork_4() -> None:
    account = Account(vesting_shares=1_000, proxied_vsf_votes=(7, 0, 0, 0))

    assert account.fair_vote_weight == 0
    assert account.fair_vote_weight_of_hf4 == 7


@given(own=st.integers(0, 2**60), proxied=st.integers(0, 2**60), parts=st.integers(1, 0xFFFF))
def test_fair_weights_never_exceed_the_whole(own: int, proxied: int, parts: int) -> None:
    account = Account(vesting_shares=own, proxied_vsf_votes=(proxied, 0, 0, 0), validators_voted_for=parts)

    assert 0 <= account.vote_weight - account.fair_vote_weight * parts < parts
    assert account.fair_vote_weight_of_hf4 <= account.vote_weight


def test_a_negative_weight_cannot_be_divided() -> None:
    account = Account(vesting_shares=-1, validators_voted_for=1)

    with pytest.raises(RuleViolation, match=r"^hi == 0: $"):
        _ = account.fair_vote_weight
    with pytest.raises(RuleViolation, match=r"^hi == 0: $"):
        _ = account.fair_vote_weight_of_hf4


def test_sums_that_do_not_fit_are_errors() -> None:
    with pytest.raises(Overflow):
        _ = Account(vesting_shares=LARGEST, proxied_vsf_votes=(1, -1, 0, 0)).vote_weight
    with pytest.raises(Overflow):
        _ = Account(vesting_shares=LARGEST, received_vesting_shares=1).effective_shares
    with pytest.raises(Underflow):
        _ = Account(vesting_shares=SMALLEST, delegated_vesting_shares=1).available_shares
    with pytest.raises(Overflow):
        _ = Account(to_withdraw=LARGEST, withdrawn=-1).available_beside_withdrawal


def test_accounts_are_in_the_order_of_texts_and_authorities_in_that_of_words(store: Store) -> None:
    for name in sorted(TEXT_ORDER, key=lambda name: name[::-1]):
        store.create(ACCOUNTS, Account(name=AccountName(name)))
        store.create(ACCOUNT_AUTHORITIES, AccountAuthority(account=AccountName(name)))

    assert [account.name for account in store.scan(ACCOUNT_BY_NAME)] == TEXT_ORDER
    assert [authority.account for authority in store.scan(AUTHORITY_BY_ACCOUNT)] == WORD_ORDER


def test_withdrawals_that_are_due_come_first_and_those_of_one_time_by_id(store: Store) -> None:
    for name, time in (("late", 9), ("never", 0xFFFFFFFF), ("first", 5), ("second", 5)):
        store.create(ACCOUNTS, Account(name=AccountName(name), next_vesting_withdrawal=time))

    due = store.scan(ACCOUNT_BY_NEXT_WITHDRAWAL, upper=(9,))

    assert [account.name for account in due] == ["first", "second", "late"]


def test_auctions_are_walked_in_the_order_of_their_starts_and_then_of_their_coming(store: Store) -> None:
    first, second, third = (store.create(ACCOUNTS, Account(name=AccountName(name))) for name in "abc")

    for account, start in ((second, 5), (first, 5), (third, 4)):
        with store.editing(account):
            account.account_on_auction, account.account_on_sale_start_time = True, start

    on_auction = store.scan(ACCOUNT_BY_AUCTION_START, lower=(True,))
    assert [account.name for account in on_auction] == ["c", "b", "a"]


def test_only_auctions_that_are_due_are_walked(store: Store) -> None:
    for name, is_on_auction, start in (("a", True, 8), ("b", False, 1), ("c", True, 7), ("d", True, 9)):
        store.create(
            ACCOUNTS,
            Account(name=AccountName(name), account_on_auction=is_on_auction, account_on_sale_start_time=start),
        )

    due = store.scan(ACCOUNT_BY_AUCTION_START, lower=(True,), upper=(True, 8))

    assert [account.name for account in due] == ["c", "a"]


def test_only_accounts_of_the_last_days_are_walked(store: Store) -> None:
    for name, time in (("a", 0), ("b", 5 * DAY), ("c", 4 * DAY + 7), ("d", 4 * DAY - 1)):
        store.create(ACCOUNTS, Account(name=AccountName(name), last_bandwidth_update=time))

    recent = store.scan(ACCOUNT_BY_DAY_OF_BANDWIDTH_UPDATE, lower=(4,))

    assert [account.name for account in recent] == ["c", "b"]
