"""Hardfork 5 counts all votes again."""

from __future__ import annotations

from collections.abc import Callable

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.migrations.hf5 import recount_votes
from ledgerd.state.objects.validators import VALIDATOR_VOTES, ValidatorVote
from tests.chain.ledgers import create_account, create_validator


def test_each_vote_weighs_own_and_proxied_shares_divided_by_the_number_of_votes(
    ledger_at: Callable[[int], Ledger],
) -> None:
    ledger = ledger_at(4)
    alice = create_account(ledger, "alice", shares=9_000, validators_voted_for=2, proxied_vsf_votes=(500, 0, 3, 0))
    bob = create_account(ledger, "bob", shares=90_000, validators_voted_for=1)
    one, two = create_validator(ledger, "one", votes=77), create_validator(ledger, "two", votes=88)
    unloved = create_validator(ledger, "unloved", votes=99, counted_votes=99)
    for validator, voter in ((one, alice), (two, alice), (one, bob)):
        ledger.store.create(VALIDATOR_VOTES, ValidatorVote(validator=validator.id, account=voter.id))

    recount_votes(ledger)

    assert (one.votes, two.votes, unloved.votes) == (94_751, 4_751, 0)
    assert (one.counted_votes, unloved.counted_votes) == (94_751, 0)
    assert (alice.validators_vote_weight, bob.validators_vote_weight) == (4_751, 90_000)
