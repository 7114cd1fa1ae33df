"""The rules of making and changing accounts (spec 02, sections 6.1 to 6.3; spec 10, section 6.5)."""

from __future__ import annotations

from ledgerd.chain.ledger.arithmetic import uint32
from ledgerd.chain.ledger.evaluation import evaluates
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.accounts.agents import wipe_agents
from ledgerd.chain.rules.accounts.authorities import require_members, update_master_authority
from ledgerd.chain.rules.accounts.energy import energy_now, spend_energy_with_shares
from ledgerd.chain.rules.accounts.key_history import HeldKeys, held_keys, record_changes, require_pause
from ledgerd.chain.rules.accounts.metadata import store_metadata
from ledgerd.chain.rules.money.vesting import create_vesting
from ledgerd.protocol.assets import fits_int64, shares
from ledgerd.protocol.constants import INVITE_ACCOUNT
from ledgerd.protocol.errors import require
from ledgerd.protocol.keys import NULL_KEY
from ledgerd.protocol.operations.accounts import AccountCreate, AccountMetadata, AccountUpdate
from ledgerd.state.objects.accounts import (
    ACCOUNT_AUTHORITIES,
    ACCOUNTS,
    AUTHORITY_BY_ACCOUNT,
    Account,
    AccountAuthority,
)
from ledgerd.state.objects.key_history import Role
from ledgerd.state.objects.vesting import VESTING_DELEGATIONS, VestingDelegation


@evaluates(AccountCreate)
def account_create(ledger: Ledger, operation: AccountCreate) -> None:
    creator = ledger.account(operation.creator)
    fee, delegation = operation.fee.amount, operation.delegation.amount
    _require_means(ledger, creator, operation)
    require_members(ledger, operation.master, operation.active, operation.regular)
    spend_energy_with_shares(ledger, creator, delegation)
    with ledger.editing(creator):
        creator.balance = fits_int64(creator.balance - fee)
        creator.delegated_vesting_shares = fits_int64(creator.delegated_vesting_shares + delegation)
    account = ledger.store.create(ACCOUNTS, _described(ledger, operation))
    store_metadata(ledger, account.name, operation.json_metadata)
    ledger.store.create(
        ACCOUNT_AUTHORITIES,
        AccountAuthority(
            account=account.name, master=operation.master, active=operation.active, regular=operation.regular
        ),
    )
    if delegation > 0:
        ledger.store.create(
            VESTING_DELEGATIONS,
            VestingDelegation(
                delegator=creator.name,
                delegatee=account.name,
                vesting_shares=delegation,
                min_delegation_time=uint32(ledger.now + ledger.median.create_account_delegation_time),
            ),
        )
    if fee > 0:
        create_vesting(ledger, account, fee)


def _require_means(ledger: Ledger, creator: Account, operation: AccountCreate) -> None:
    """Fee and delegation must be available, and together enough: a token counts for a multiple of its shares."""
    fee, delegation = operation.fee.amount, operation.delegation.amount
    require(creator.balance >= fee, "creator.balance >= o.fee: Insufficient balance to create account.")
    require(
        creator.available_beside_withdrawal >= delegation,
        "creator.available_vesting_shares(true) >= o.delegation: "
        "Insufficient vesting shares to delegate to new account.",
    )
    if ledger.hardfork(6) and delegation > 0:
        require(energy_now(ledger, creator) >= 0, "current_energy >= 0: Cannot delegate with negative energy.")
    median, globals_ = ledger.median, ledger.globals
    ratio = median.create_account_delegation_ratio
    target = globals_.shares_for(fits_int64(ratio * median.account_creation_fee.amount))
    current = fits_int64(globals_.shares_for(fits_int64(ratio * fee)) + delegation)
    require(
        current >= target,
        "current_delegation >= target_delegation: Inssufficient Delegation ${f} required, ${p} provided.",
        f=str(shares(target)),
        p=str(shares(current)),
    )


def _described(ledger: Ledger, operation: AccountCreate) -> Account:
    account = Account(
        name=operation.new_account_name,
        memo_key=operation.memo_key,
        created=ledger.now,
        last_vote_time=ledger.now,
        recovery_account=operation.creator,
        received_vesting_shares=operation.delegation.amount,
    )
    if operation.referrer:
        account.referrer = ledger.account(operation.referrer).name
    return account


@evaluates(AccountUpdate)
def account_update(ledger: Ledger, operation: AccountUpdate) -> None:
    """Change what is given; the null key and an empty text leave things as they are.

    A new master or active authority is the end of the account's agents, also one that is the same as before.
    """
    require(operation.account != INVITE_ACCOUNT, "o.account != CHAIN_INVITE_ACCOUNT: Cannot update invite account.")
    if operation.regular is not None:
        operation.regular.check()
    account = ledger.account(operation.account)
    authority = ledger.store.at(AUTHORITY_BY_ACCOUNT, operation.account)
    before = held_keys(ledger, account.name)
    if ledger.hardfork(15):
        _require_pauses(ledger, operation, before)
    if operation.master is not None:
        require(
            ledger.now - authority.last_master_update > ledger.network.master_update_limit,
            "_db.head_block_time() - account_auth.last_master_update > CHAIN_MASTER_UPDATE_LIMIT: "
            "Master authority can only be updated once an hour.",
        )
        require_members(ledger, operation.master)
        update_master_authority(ledger, account.name, operation.master)
    given = (operation.active, operation.regular)
    require_members(ledger, *(each for each in given if each is not None))
    with ledger.editing(account):
        if operation.memo_key != NULL_KEY:
            account.memo_key = operation.memo_key
        account.last_account_update = ledger.now
    if operation.json_metadata:
        store_metadata(ledger, account.name, operation.json_metadata)
    with ledger.editing(authority):
        if operation.active is not None:
            authority.active = operation.active
        if operation.regular is not None:
            authority.regular = operation.regular
    if operation.active is not None:
        wipe_agents(ledger, account.name)
    record_changes(ledger, account.name, before)


def _require_pauses(ledger: Ledger, operation: AccountUpdate, before: HeldKeys) -> None:
    """Each of these changes at most once an hour; what stays the same may be sent at any time (spec 10, 6.4)."""
    if operation.active not in (None, before.active):
        require_pause(ledger, operation.account, Role.ACTIVE, "Active authority")
    if operation.regular not in (None, before.regular):
        require_pause(ledger, operation.account, Role.REGULAR, "Regular authority")
    if operation.memo_key not in {NULL_KEY, before.memo}:
        require_pause(ledger, operation.account, Role.MEMO, "Memo key")


@evaluates(AccountMetadata)
def account_metadata(ledger: Ledger, operation: AccountMetadata) -> None:
    account = ledger.account(operation.account)
    with ledger.editing(account):
        account.last_account_update = ledger.now
    store_metadata(ledger, account.name, operation.json_metadata)
