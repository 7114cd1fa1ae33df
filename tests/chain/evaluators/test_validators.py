from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.crypto.keys import NULL_KEY
from ledgerd.protocol.networks.parameters import MAINNET
from ledgerd.protocol.operations.validators import (
    ChainPropertiesUpdate,
    SetRewardSharing,
    ValidatorUpdate,
    VersionedChainPropertiesUpdate,
)
from ledgerd.protocol.properties import (
    ChainPropertiesHf4,
    ChainPropertiesHf6,
    ChainPropertiesHf9,
    ChainPropertiesHf13,
    ChainPropertiesInit,
    default_properties,
)
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.names import AccountName
from ledgerd.state.objects.validators import NEVER_SCHEDULED, VALIDATORS
from tests.chain.ledgers import ALICE, BOB, NOW, carry_out, create_account, create_validator, key_of, refuses

LedgerAt = Callable[[int], Ledger]

FEE = 10_000
KEY = key_of("signing")
UPDATE = ValidatorUpdate(ALICE, "https://alice.test", KEY)

DEFAULTS = default_properties(MAINNET)
LATEST = msgspec.structs.replace(
    DEFAULTS, account_creation_fee=tokens(5_000), inflation_recalc_period=7, distribution_epoch_length=2_400
)


def version(kind: type[ChainPropertiesInit]) -> ChainPropertiesInit:
    return kind(*(getattr(LATEST, field) for field in kind.__struct_fields__))


def test_the_first_update_declares_a_validator_for_the_fee(ledger: Ledger) -> None:
    create_account(ledger, ALICE, balance=FEE)

    assert carry_out(ledger, UPDATE) == []

    validator = ledger.validator(ALICE)
    assert (validator.owner, validator.url, validator.signing_key) == (ALICE, "https://alice.test", KEY)
    assert (validator.created, validator.virtual_scheduled_time) == (NOW, NEVER_SCHEDULED)
    assert validator.props == DEFAULTS
    assert (ledger.account(ALICE).balance, ledger.globals.committee_fund) == (0, FEE)


def test_who_cannot_pay_the_fee_is_no_validator(ledger: Ledger) -> None:
    create_account(ledger, ALICE, balance=FEE - 1)

    refuses(
        ledger,
        UPDATE,
        "owner.balance >= median_props.validator_declaration_fee: "
        "Account does not have sufficient funds to declare himself as validator: required 10.000 VIZ.",
    )


def test_a_declaration_costs_nothing_before_hardfork_9(ledger_at: LedgerAt) -> None:
    ledger = ledger_at(8)
    create_account(ledger, ALICE)

    carry_out(ledger, UPDATE)

    assert ledger.validator(ALICE).signing_key == KEY
    assert ledger.globals.committee_fund == 0


def test_later_updates_are_free_and_change_page_and_key_alone(ledger: Ledger) -> None:
    create_account(ledger, ALICE)
    create_validator(ledger, ALICE, votes=5, created=3)

    carry_out(ledger, ValidatorUpdate(ALICE, "https://b.test", NULL_KEY))

    validator = ledger.validator(ALICE)
    assert (validator.url, validator.signing_key) == ("https://b.test", NULL_KEY)
    assert (validator.votes, validator.created) == (5, 3)


def test_a_validator_has_an_account(ledger: Ledger) -> None:
    refuses(ledger, UPDATE, "unknown key: ")
    refuses(ledger, ChainPropertiesUpdate(ALICE, version(ChainPropertiesInit)), "unknown key: ")
    refuses(ledger, VersionedChainPropertiesUpdate(ALICE, LATEST), "unknown key: ")
    refuses(ledger, SetRewardSharing(ALICE, 1), "unknown key: ")


@pytest.mark.parametrize("hardfork", [0, 13])
def test_first_properties_leave_later_ones_as_they_are(ledger_at: LedgerAt, hardfork: int) -> None:
    ledger = ledger_at(hardfork)
    create_account(ledger, ALICE)
    create_validator(ledger, ALICE, props=LATEST)
    voted = msgspec.structs.replace(version(ChainPropertiesInit), account_creation_fee=tokens(9_000))

    carry_out(ledger, ChainPropertiesUpdate(ALICE, voted))

    assert ledger.validator(ALICE).props == msgspec.structs.replace(LATEST, account_creation_fee=tokens(9_000))


def test_a_vote_on_properties_makes_a_validator_without_fee_page_and_key(ledger: Ledger) -> None:
    create_account(ledger, ALICE)
    create_account(ledger, BOB)

    carry_out(ledger, ChainPropertiesUpdate(ALICE, version(ChainPropertiesInit)))
    carry_out(ledger, VersionedChainPropertiesUpdate(BOB, version(ChainPropertiesHf4)))

    for owner in (ALICE, BOB):
        validator = ledger.validator(owner)
        assert (validator.url, validator.signing_key, validator.created) == ("", NULL_KEY, NOW)
    assert ledger.validator(ALICE).props == msgspec.structs.replace(DEFAULTS, account_creation_fee=tokens(5_000))
    assert ledger.validator(BOB).props == msgspec.structs.replace(
        DEFAULTS, account_creation_fee=tokens(5_000), inflation_recalc_period=7
    )


def test_versioned_properties_begin_with_hardfork_4(ledger_at: LedgerAt) -> None:
    ledger = ledger_at(3)
    create_account(ledger, ALICE)

    refuses(
        ledger,
        VersionedChainPropertiesUpdate(ALICE, version(ChainPropertiesInit)),
        "_db.has_hardfork(CHAIN_HARDFORK_4): versioned_chain_properties_update_evaluator not enabled until HF 4",
    )


def test_the_first_version_is_accepted_from_hardfork_4_on(ledger_at: LedgerAt) -> None:
    ledger = ledger_at(4)
    create_account(ledger, ALICE)

    carry_out(ledger, VersionedChainPropertiesUpdate(ALICE, version(ChainPropertiesInit)))

    assert ledger.validator(ALICE).props.account_creation_fee == tokens(5_000)


@pytest.mark.parametrize(
    ("kind", "since"),
    [(ChainPropertiesHf4, 4), (ChainPropertiesHf6, 6), (ChainPropertiesHf9, 9), (ChainPropertiesHf13, 13)],
)
def test_each_version_of_properties_waits_for_its_hardfork(
    ledger_at: LedgerAt, kind: type[ChainPropertiesInit], since: int
) -> None:
    operation = VersionedChainPropertiesUpdate(ALICE, version(kind))
    ledger = ledger_at(since)
    create_account(ledger, ALICE)
    carry_out(ledger, operation)
    assert version(kind).apply_to(DEFAULTS) == ledger.validator(ALICE).props

    if since > 4:
        before = ledger_at(since - 1)
        create_account(before, ALICE)
        refuses(before, operation, f"_db.has_hardfork(CHAIN_HARDFORK_{since}): chain_properties_hf{since}")


def test_the_fifth_version_waits_for_hardfork_14_and_the_fourth_leaves_its_fields(ledger_at: LedgerAt) -> None:
    fifth = msgspec.structs.replace(DEFAULTS, pm_min_bet=tokens(7_000), committee_votes_per_request=5)
    before, ledger = ledger_at(13), ledger_at(14)
    for each in (before, ledger):
        create_account(each, ALICE)
    refuses(
        before, VersionedChainPropertiesUpdate(ALICE, fifth), "_db.has_hardfork(CHAIN_HARDFORK_14): chain_properties_pm"
    )
    assert before.find_validator(ALICE) is None

    carry_out(ledger, VersionedChainPropertiesUpdate(ALICE, fifth))
    assert ledger.validator(ALICE).props == fifth
    carry_out(ledger, VersionedChainPropertiesUpdate(ALICE, version(ChainPropertiesHf13)))
    assert ledger.validator(ALICE).props == version(ChainPropertiesHf13).apply_to(fifth)
    assert ledger.validator(ALICE).props.pm_min_bet == tokens(7_000)


def test_a_validator_sets_the_part_that_it_shares(ledger: Ledger) -> None:
    create_account(ledger, ALICE)
    create_validator(ledger, ALICE)

    carry_out(ledger, SetRewardSharing(ALICE, 10_000))

    assert ledger.validator(ALICE).sharing_rate == 10_000


def test_sharing_begins_with_hardfork_13(ledger_at: LedgerAt) -> None:
    refuses(
        ledger_at(12),
        SetRewardSharing(ALICE, 1),
        "db().has_hardfork(13): set_reward_sharing_operation is not enabled until HF 13",
    )


def test_only_a_validator_shares(ledger: Ledger) -> None:
    create_account(ledger, ALICE)

    refuses(ledger, SetRewardSharing(ALICE, 1), "itr != idx.end(): Account alice is not a registered validator")


def test_validators_are_found_by_the_whole_name(ledger: Ledger) -> None:
    create_account(ledger, "alice-b", balance=FEE)
    create_account(ledger, ALICE, balance=FEE)

    carry_out(ledger, ValidatorUpdate(AccountName("alice-b"), "u", KEY))
    carry_out(ledger, UPDATE)

    assert [each.owner for each in ledger.store.scan(VALIDATORS)][-2:] == ["alice-b", ALICE]
