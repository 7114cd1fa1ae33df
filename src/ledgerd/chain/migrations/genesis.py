"""The state before the first block: built-in accounts and the initial distribution (spec 03, section 4)."""

from __future__ import annotations

from ledgerd.chain.ledger.arithmetic import MAX_UINT128
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.money.balances import create_vesting
from ledgerd.chain.rules.validators.slots import SLOTS_REMEMBERED
from ledgerd.protocol import constants
from ledgerd.protocol.networks.genesis_accounts import GenesisAccount
from ledgerd.protocol.properties import default_properties
from ledgerd.protocol.types.authority import Authority, authority_of
from ledgerd.protocol.types.names import NO_NAME, AccountName
from ledgerd.protocol.types.times import Time
from ledgerd.state.objects import validators
from ledgerd.state.objects.accounts import accounts
from ledgerd.state.objects.globals import (
    DYNAMIC_GLOBAL_PROPERTIES,
    HARDFORK_PROPERTIES,
    DynamicGlobalProperty,
    HardforkProperty,
)
from ledgerd.state.objects.transactions import BLOCK_SUMMARIES, BLOCK_SUMMARY_COUNT, BlockSummary

NOBODY = Authority(1, {}, {})
"""An authority that needs one signature, and that nobody can give."""

FIRST_CANDIDATES = 3
"""For the reserve of bandwidth; each account of the distribution is one more."""

NO_ANONYMOUS_ACCOUNTS = "0"
"""The metadata of the anonymous account counts those that it has made."""


def create_genesis(ledger: Ledger, now: Time) -> None:
    """Fill an empty state. The first block says when the chain really began, and replaces the time given here."""
    _create_built_in_accounts(ledger)
    ledger.store.create_all(BLOCK_SUMMARIES, [BlockSummary() for _ in range(BLOCK_SUMMARY_COUNT)])
    _create_singletons(ledger, now)
    for account in ledger.network.genesis_accounts:
        _distribute(ledger, account)


def _create_built_in_accounts(ledger: Ledger) -> None:
    """Their order is that of their ids."""
    network, store = ledger.network, ledger.store
    _create_account(ledger, accounts.Account(name=constants.NULL_ACCOUNT))
    _create_account(ledger, accounts.Account(name=constants.COMMITTEE_ACCOUNT))
    validator = validators.Validator(
        owner=constants.COMMITTEE_ACCOUNT,
        signing_key=network.committee_key,
        schedule=validators.SchedulePlace.TOP,
        props=default_properties(network),
    )
    store.create(validators.VALIDATORS, validator)
    _create_account(ledger, accounts.Account(name=constants.ANONYMOUS_ACCOUNT), metadata=NO_ANONYMOUS_ACCOUNTS)
    _create_account(ledger, accounts.Account(name=constants.INVITE_ACCOUNT), active=authority_of(network.invite_key))
    initiator = authority_of(network.initiator_key)
    _create_account(
        ledger,
        accounts.Account(
            name=constants.INITIATOR_ACCOUNT, memo_key=network.initiator_key, balance=constants.INIT_SUPPLY
        ),
        master=initiator,
        active=initiator,
        regular=initiator,
    )


def _create_account(
    ledger: Ledger,
    account: accounts.Account,
    *,
    metadata: str = "",
    master: Authority = NOBODY,
    active: Authority = NOBODY,
    regular: Authority = NOBODY,
) -> None:
    store = ledger.store
    store.create(accounts.ACCOUNTS, account)
    store.create(accounts.ACCOUNT_METADATA, accounts.AccountMetadata(account=account.name, json_metadata=metadata))
    store.create(
        accounts.ACCOUNT_AUTHORITIES,
        accounts.AccountAuthority(account=account.name, master=master, active=active, regular=regular),
    )


def _create_singletons(ledger: Ledger, now: Time) -> None:
    """The validator of the start has told no version yet: the first block has to (spec 03, section 4, quirk)."""
    network, store = ledger.network, ledger.store
    store.create(
        HARDFORK_PROPERTIES,
        HardforkProperty(processed_hardforks=(now,), current_hardfork_version=network.startup_version),
    )
    nobody = (NO_NAME,) * (network.max_validators - 1)
    schedule = validators.ValidatorSchedule(
        current_shuffled_validators=(constants.COMMITTEE_ACCOUNT, *nobody),
        median_props=default_properties(network),
    )
    store.create(validators.VALIDATOR_SCHEDULES, schedule)
    globals_ = DynamicGlobalProperty(
        current_validator=constants.COMMITTEE_ACCOUNT,
        genesis_time=now,
        recent_slots_filled=MAX_UINT128,
        participation_count=SLOTS_REMEMBERED,
        current_supply=constants.INIT_SUPPLY,
        maximum_block_size=constants.BLOCK_SIZE,
        bandwidth_reserve_candidates=FIRST_CANDIDATES,
    )
    store.create(DYNAMIC_GLOBAL_PROPERTIES, globals_)


def _distribute(ledger: Ledger, entry: GenesisAccount) -> None:
    """The initiator's tokens become shares of an account with one key for everything."""
    owner = authority_of(entry.key)
    account = accounts.Account(
        name=AccountName(entry.name), memo_key=entry.key, recovery_account=constants.INITIATOR_ACCOUNT
    )
    _create_account(ledger, account, master=owner, active=owner, regular=owner)
    create_vesting(ledger, account, entry.amount)
    initiator, globals_ = ledger.account(constants.INITIATOR_ACCOUNT), ledger.globals
    with ledger.editing(initiator, globals_):
        initiator.balance -= entry.amount
        globals_.bandwidth_reserve_candidates += 1
