"""Hardfork 4 pays awards and content for the last time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.migrations.hf4 import end_content_era
from ledgerd.state.objects.accounts.accounts import Account
from ledgerd.state.objects.accounts.content import (
    CONTENT_TYPES,
    CONTENT_VOTES,
    CONTENTS,
    Content,
    ContentType,
    ContentVote,
)
from ledgerd.state.objects.validators import VALIDATOR_VOTES, ValidatorVote
from ledgerd.state.tables.tables import Table
from tests.chain.ledgers import ALICE, NOW, change, create_account, create_validator

FUND = 1_000_000


@pytest.fixture
def ledger(ledger_at: Callable[[int], Ledger]) -> Ledger:
    ledger = ledger_at(3)
    change(ledger, ledger.globals, total_reward_fund=FUND)
    return ledger


def is_empty(ledger: Ledger, table: Table[Any]) -> bool:
    return ledger.store.first(table) is None


def awarded(ledger: Ledger, owner: str, reward_shares: int) -> Account:
    return create_account(ledger, owner, awarded_rshares=reward_shares)


def write(ledger: Ledger, permlink: str, reward_shares: int, due: int) -> None:
    content = Content(author=ALICE, permlink=permlink, net_rshares=reward_shares, cashout_time=due)
    ledger.store.create(CONTENTS, content)
    ledger.store.create(CONTENT_TYPES, ContentType(content=content.id))
    ledger.store.create(CONTENT_VOTES, ContentVote(content=content.id))


def test_the_fund_is_divided_by_awards_and_what_does_not_divide_stays(ledger: Ledger) -> None:
    alice, bob, carol = awarded(ledger, "alice", 10), awarded(ledger, "bob", 20), awarded(ledger, "carol", 0)

    end_content_era(ledger)

    assert (alice.balance, bob.balance, carol.balance) == (333_333, 666_666, 0)
    assert (alice.awarded_rshares, bob.awarded_rshares) == (0, 0)
    assert ledger.globals.total_reward_fund == 1


def test_of_all_content_only_the_earliest_counts_against_awards_and_is_paid_from_what_they_leave(
    ledger: Ledger,
) -> None:
    alice, bob = awarded(ledger, "alice", 0), awarded(ledger, "bob", 30)
    write(ledger, "late", 1_000, NOW + 9)
    write(ledger, "early", 10, NOW + 5)
    change(ledger, ledger.globals, total_reward_shares=100)

    end_content_era(ledger)

    assert bob.balance == 750_000
    paid = 250_000 * 10 // 100
    assert alice.balance == paid // 2
    assert ledger.globals.total_reward_fund == 250_000 - paid


def test_when_content_is_due_already_none_counts_against_awards(ledger: Ledger) -> None:
    awarded(ledger, "alice", 0)
    bob = awarded(ledger, "bob", 30)
    write(ledger, "due", -10, NOW)

    end_content_era(ledger)

    assert bob.balance == FUND


def test_all_content_is_forgotten(ledger: Ledger) -> None:
    awarded(ledger, "alice", 0)
    write(ledger, "late", 0, NOW + 9)
    write(ledger, "later", 0, NOW + 10)
    change(ledger, ledger.globals, total_reward_shares=100)

    end_content_era(ledger)

    assert is_empty(ledger, CONTENTS)
    assert is_empty(ledger, CONTENT_TYPES)
    assert is_empty(ledger, CONTENT_VOTES)
    assert ledger.globals.total_reward_shares == 0


def test_votes_are_divided_what_is_proxied_is_not(ledger: Ledger) -> None:
    alice = create_account(ledger, "alice", shares=9_000, validators_voted_for=2, proxied_vsf_votes=(500, 0, 0, 0))
    create_account(ledger, "bob", shares=90_000)
    one, two = create_validator(ledger, "one", votes=9_500), create_validator(ledger, "two", votes=9_600)
    for validator in (one, two):
        ledger.store.create(VALIDATOR_VOTES, ValidatorVote(validator=validator.id, account=alice.id))

    end_content_era(ledger)

    assert (one.votes, two.votes) == (5_000, 5_100)
    assert one.counted_votes == one.votes
