"""Votes for a hardfork that this program does not know are counted by hardfork, among the validators of the round."""

from __future__ import annotations

from pathlib import Path

from ledgerd.chain.rules.validators.unknown_hardforks import unknown_hardfork_votes
from ledgerd.protocol.types.names import AccountName
from ledgerd.protocol.types.versions import version_number
from ledgerd.state.objects.validators import VALIDATOR_SCHEDULES
from tests.chain.ledgers import change, create_validator, fresh_ledger

COMING, LATER = 1_900_000_000, 1_900_000_003
NAMES = tuple(map(AccountName, ("ann", "ben", "cat", "dan")))


def test_the_hardfork_with_most_votes_of_this_round_is_counted_with_its_time(tmp_path: Path) -> None:
    ledger = fresh_ledger(tmp_path)
    votes = ((9, COMING), (9, COMING), (9, LATER), (4, 0))
    for name, (major, when) in zip(NAMES, votes, strict=True):
        create_validator(ledger, name, hardfork_version_vote=version_number(major, 0), hardfork_time_vote=when)
    create_validator(ledger, "elsewhere", hardfork_version_vote=version_number(9, 0), hardfork_time_vote=LATER)
    schedule = ledger.store.get(VALIDATOR_SCHEDULES, 0)
    change(ledger, schedule, current_shuffled_validators=(*NAMES, NAMES[0]), num_scheduled_validators=5)

    found = unknown_hardfork_votes(ledger.store, ledger.network)

    assert found is not None
    assert (found.version, found.time, found.votes, found.validators) == (version_number(9, 0), COMING, 2, 4)
    assert str(found) == (
        "2 of 4 validators vote for hardfork version 9.0.0 of 2030-03-17T17:46:40 UTC, which this program does not "
        "know; with 17 votes it will stop there: update it"
    )


def test_agreement_is_told_as_such(tmp_path: Path) -> None:
    ledger = fresh_ledger(tmp_path)
    create_validator(ledger, "bob")
    assert unknown_hardfork_votes(ledger.store, ledger.network) is None

    change(ledger, ledger.hardforks, next_hardfork=version_number(9, 1), next_hardfork_time=1_900_000_000)
    found = unknown_hardfork_votes(ledger.store, ledger.network)

    assert found is not None
    assert str(found) == (
        "hardfork version 9.1.0 of 2030-03-17T17:46:40 UTC is agreed on; "
        "this program does not know it and will stop there: update it"
    )
