from __future__ import annotations

from collections.abc import Callable

import msgspec
import pytest

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.protocol.constants import INVITE_ACCOUNT
from ledgerd.protocol.crypto.keys import NULL_KEY
from ledgerd.protocol.operations.accounts.accounts import AccountCreate, AccountMetadata, AccountUpdate
from ledgerd.protocol.types.assets import shares, tokens
from ledgerd.protocol.types.authority import Authority, authority_of
from ledgerd.protocol.types.names import NO_NAME, AccountName
from ledgerd.state.objects.accounts.accounts import Account
from ledgerd.state.objects.accounts.recovery import MASTER_AUTHORITY_HISTORY, MasterAuthorityHistory
from ledgerd.state.objects.money.vesting import VESTING_DELEGATIONS, VestingDelegation
from tests.chain.ledgers import (
    ALICE,
    BOB,
    NOW,
    authority_for,
    carry_out,
    change,
    create_account,
    key_of,
    metadata_of,
    refuses,
    set_median,
)

LedgerAt = Callable[[int], Ledger]

NOBODY = AccountName("nobody")
OF_NOBODY = Authority(1, {NOBODY: 1}, {})
MASTER, ACTIVE, REGULAR = (authority_of(key_of(role)) for role in ("master", "active", "regular"))
MEMO = key_of("memo")
HOUR = 3_600


def create(fee: int = 1_000, delegation: int = 0, referrer: AccountName = NO_NAME) -> AccountCreate:
    return AccountCreate(
        tokens(fee), shares(delegation), ALICE, BOB, MASTER, ACTIVE, REGULAR, MEMO, '{"a":1}', referrer, ()
    )


@pytest.fixture
def alice(ledger: Ledger) -> Account:
    return creator(ledger)


def creator(ledger: Ledger) -> Account:
    set_median(ledger, account_creation_fee=tokens(1_000), create_account_delegation_ratio=10)
    return create_account(ledger, ALICE, balance=1_000, shares=20_000_000, last_vote_time=NOW)


# -- account_create


def test_a_fee_makes_an_account_with_as_many_shares(ledger: Ledger, alice: Account) -> None:
    assert carry_out(ledger, create()) == []

    bob = ledger.account(BOB)
    assert (bob.memo_key, bob.created, bob.last_vote_time, bob.energy) == (MEMO, NOW, NOW, 10_000)
    assert (bob.recovery_account, bob.referrer, bob.valid) == (ALICE, NO_NAME, True)
    assert (bob.vesting_shares, bob.received_vesting_shares, bob.balance) == (1_000_000, 0, 0)
    assert (alice.balance, alice.delegated_vesting_shares) == (0, 0)
    assert metadata_of(ledger, BOB) == '{"a":1}'
    authority = authority_for(ledger, BOB)
    assert (authority.master, authority.active, authority.regular) == (MASTER, ACTIVE, REGULAR)
    assert authority.last_master_update == 0
    assert ledger.store.first(VESTING_DELEGATIONS) is None


def test_shares_can_be_lent_instead_of_a_fee(ledger: Ledger, alice: Account) -> None:
    assert carry_out(ledger, create(0, 10_000_000)) == []

    bob = ledger.account(BOB)
    assert (bob.vesting_shares, bob.received_vesting_shares) == (0, 10_000_000)
    assert (alice.balance, alice.delegated_vesting_shares, alice.energy) == (1_000, 10_000_000, 5_000)
    assert list(ledger.store.scan(VESTING_DELEGATIONS)) == [
        VestingDelegation(0, ALICE, BOB, 10_000_000, NOW + ledger.median.create_account_delegation_time)
    ]


def test_a_fee_of_more_than_the_balance_is_refused(ledger: Ledger, alice: Account) -> None:
    refuses(
        ledger,
        create(alice.balance + 1),
        "creator.balance >= o.fee: Insufficient balance to create account.",
    )


def test_no_more_is_lent_than_is_available_beside_a_withdrawal(ledger: Ledger, alice: Account) -> None:
    change(ledger, alice, delegated_vesting_shares=4_000_000, to_withdraw=7_000_000, withdrawn=1_000_000)

    refuses(
        ledger,
        create(0, 10_000_001),
        "creator.available_vesting_shares(true) >= o.delegation: "
        "Insufficient vesting shares to delegate to new account.",
    )
    carry_out(ledger, create(0, 10_000_000))


def test_fee_and_delegation_together_reach_the_price(ledger: Ledger, alice: Account) -> None:
    refuses(
        ledger,
        create(500, 4_999_999),
        "current_delegation >= target_delegation: "
        "Inssufficient Delegation 10.000000 SHARES required, 9.999999 SHARES provided.",
    )
    carry_out(ledger, create(500, 5_000_000))

    assert (alice.balance, alice.delegated_vesting_shares) == (500, 5_000_000)


@pytest.mark.parametrize("hardfork", [5, 6])
def test_a_debt_of_energy_forbids_lending_since_hardfork_6(ledger_at: LedgerAt, hardfork: int) -> None:
    ledger = ledger_at(hardfork)
    alice = creator(ledger)
    change(ledger, alice, energy=-1)

    if hardfork >= 6:
        refuses(ledger, create(0, 10_000_000), "current_energy >= 0: Cannot delegate with negative energy.")
        change(ledger, alice, energy=0)
    carry_out(ledger, create(0, 10_000_000))


def test_a_debt_of_energy_does_not_matter_to_a_fee(ledger: Ledger, alice: Account) -> None:
    change(ledger, alice, energy=-1)

    carry_out(ledger, create())

    assert alice.energy == -1


def test_even_without_lending_the_energy_of_now_is_written_down(ledger: Ledger, alice: Account) -> None:
    change(ledger, alice, energy=0, last_vote_time=NOW - 44)

    carry_out(ledger, create())

    assert (alice.energy, alice.last_vote_time) == (1, NOW)


@pytest.mark.parametrize("role", ["master", "active", "regular"])
def test_the_members_of_authorities_exist(ledger: Ledger, alice: Account, role: str) -> None:
    operation = msgspec.structs.replace(create(), **{role: OF_NOBODY})

    refuses(ledger, operation, "unknown key: ")
    create_account(ledger, NOBODY)
    carry_out(ledger, operation)

    assert alice.balance == 0


def test_a_referrer_exists(ledger: Ledger, alice: Account) -> None:
    refuses(ledger, create(referrer=NOBODY), "unknown key: ")
    create_account(ledger, NOBODY)
    carry_out(ledger, create(referrer=NOBODY))

    assert ledger.account(BOB).referrer == NOBODY
    assert alice.balance == 0


def test_a_name_is_given_once(ledger: Ledger, alice: Account) -> None:
    create_account(ledger, BOB)

    refuses(ledger, create(), "could not insert object, most likely a uniqueness constraint was violated: ")
    assert alice.balance == 1_000


# -- account_update


def update(**fields: object) -> AccountUpdate:
    plain = AccountUpdate(ALICE, None, None, None, NULL_KEY, "")
    return msgspec.structs.replace(plain, **fields)


def test_an_update_changes_what_is_given(ledger: Ledger, alice: Account) -> None:
    before = authority_for(ledger, ALICE).master

    operation = update(master=MASTER, active=ACTIVE, regular=REGULAR, memo_key=MEMO, json_metadata="{}")
    assert carry_out(ledger, operation) == []

    authority = authority_for(ledger, ALICE)
    assert (authority.master, authority.active, authority.regular) == (MASTER, ACTIVE, REGULAR)
    assert authority.last_master_update == NOW
    assert list(ledger.store.scan(MASTER_AUTHORITY_HISTORY)) == [MasterAuthorityHistory(0, ALICE, before, NOW)]
    assert (alice.memo_key, alice.last_account_update) == (MEMO, NOW)
    assert metadata_of(ledger, ALICE) == "{}"


def test_an_update_leaves_the_rest_as_it_was(ledger: Ledger, alice: Account) -> None:
    change(ledger, alice, memo_key=MEMO)
    before = authority_for(ledger, ALICE).__copy__()
    carry_out(ledger, AccountMetadata(ALICE, "{}"))

    carry_out(ledger, update())

    assert authority_for(ledger, ALICE) == before
    assert (alice.memo_key, alice.last_account_update, metadata_of(ledger, ALICE)) == (MEMO, NOW, "{}")
    assert ledger.store.first(MASTER_AUTHORITY_HISTORY) is None


def test_the_master_authority_changes_once_an_hour(ledger: Ledger, alice: Account) -> None:
    change(ledger, authority_for(ledger, ALICE), last_master_update=NOW - HOUR)

    refuses(
        ledger,
        update(master=MASTER),
        "_db.head_block_time() - account_auth.last_master_update > CHAIN_MASTER_UPDATE_LIMIT: "
        "Master authority can only be updated once an hour.",
    )
    carry_out(ledger, update(active=ACTIVE))
    change(ledger, authority_for(ledger, ALICE), last_master_update=NOW - HOUR - 1)
    carry_out(ledger, update(master=MASTER))

    assert alice.last_account_update == NOW


def test_the_first_block_remembers_no_master_authority(ledger: Ledger, alice: Account) -> None:
    change(ledger, ledger.globals, head_block_number=0)

    carry_out(ledger, update(master=MASTER))

    assert ledger.store.first(MASTER_AUTHORITY_HISTORY) is None
    assert authority_for(ledger, alice.name).master == MASTER


def test_nobody_updates_the_invite_account(ledger: Ledger) -> None:
    refuses(
        ledger,
        update(account=INVITE_ACCOUNT),
        "o.account != CHAIN_INVITE_ACCOUNT: Cannot update invite account.",
    )


def test_only_the_regular_authority_is_asked_for_valid_names(ledger: Ledger, alice: Account) -> None:
    bad = Authority(1, {AccountName("a"): 1}, {})

    refuses(ledger, update(regular=bad), "is_valid_account_name(item.first): ")
    refuses(ledger, update(active=bad), "unknown key: ")
    refuses(ledger, update(master=bad), "unknown key: ")
    assert alice.last_account_update == 0


@pytest.mark.parametrize("role", ["master", "active", "regular"])
def test_the_members_of_new_authorities_exist(ledger: Ledger, alice: Account, role: str) -> None:
    refuses(ledger, update(**{role: OF_NOBODY}), "unknown key: ")
    create_account(ledger, NOBODY)
    carry_out(ledger, update(**{role: OF_NOBODY}))

    assert getattr(authority_for(ledger, alice.name), role) == OF_NOBODY


def test_an_authority_that_cannot_be_reached_is_accepted(ledger: Ledger, alice: Account) -> None:
    carry_out(ledger, update(active=Authority(1, {}, {})))

    assert authority_for(ledger, alice.name).active.is_impossible


def test_who_updates_exists(ledger: Ledger) -> None:
    refuses(ledger, update(), "unknown key: ")


# -- account_metadata


def test_metadata_are_replaced(ledger: Ledger, alice: Account) -> None:
    assert carry_out(ledger, AccountMetadata(ALICE, '{"b":2}')) == []

    assert metadata_of(ledger, ALICE) == '{"b":2}'
    assert alice.last_account_update == NOW


def test_who_has_metadata_exists(ledger: Ledger) -> None:
    refuses(ledger, AccountMetadata(NOBODY, "{}"), "unknown key: ")
