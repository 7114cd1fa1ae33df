"""The rules of making and changing accounts (spec 02, sections 6.1 to 6.3; spec 10, section 6.5), and of giving a
stolen one back (spec 02, sections 6.4 to 6.6; spec 08, section 12.2). What expires or takes effect with time is in
`steps.housekeeping`.
"""

from __future__ import annotations

from ledgerd.chain.ledger.arithmetic import uint32
from ledgerd.chain.ledger.evaluation import evaluates
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.accounts.authorities import require_members, update_master_authority, wipe_agents
from ledgerd.chain.rules.accounts.energy import energy_now, spend_energy_with_shares
from ledgerd.chain.rules.accounts.key_history import HeldKeys, held_keys, record_changes, require_pause
from ledgerd.chain.rules.accounts.new_accounts import store_metadata
from ledgerd.chain.rules.money.balances import create_vesting
from ledgerd.protocol.constants import ACCOUNT_RECOVERY_REQUEST_EXPIRATION_PERIOD, INVITE_ACCOUNT
from ledgerd.protocol.crypto.keys import NULL_KEY
from ledgerd.protocol.errors import RuleViolation, require
from ledgerd.protocol.operations.accounts.accounts import (
    AccountCreate,
    AccountMetadata,
    AccountUpdate,
    ChangeRecoveryAccount,
    RecoverAccount,
    RequestAccountRecovery,
)
from ledgerd.protocol.types.assets import fits_int64, shares
from ledgerd.protocol.types.authority import Authority
from ledgerd.protocol.types.names import NO_NAME
from ledgerd.state.objects.accounts import accounts, recovery
from ledgerd.state.objects.accounts.accounts import Role
from ledgerd.state.objects.money.vesting import VESTING_DELEGATIONS, VestingDelegation
from ledgerd.state.objects.validators import VALIDATOR_BY_VOTES


@evaluates(AccountCreate)
def account_create(ledger: Ledger, operation: AccountCreate) -> None:
    creator = ledger.account(operation.creator)
    fee, delegation = operation.fee.amount, operation.delegation.amount
    _require_means(ledger, creator, operation)
    require_members(ledger, operation.master, operation.active, operation.regular)
    spend_energy_with_shares(ledger, creator, delegation)
    ledger.remember(creator)
    creator.balance = fits_int64(creator.balance - fee)
    creator.delegated_vesting_shares = fits_int64(creator.delegated_vesting_shares + delegation)
    account = ledger.store.create(accounts.ACCOUNTS, _described(ledger, operation))
    store_metadata(ledger, account.name, operation.json_metadata)
    authority = accounts.AccountAuthority(
        account=account.name, master=operation.master, active=operation.active, regular=operation.regular
    )
    ledger.store.create(accounts.ACCOUNT_AUTHORITIES, authority)
    if delegation > 0:
        new_delegation = VestingDelegation(
            delegator=creator.name,
            delegatee=account.name,
            vesting_shares=delegation,
            min_delegation_time=uint32(ledger.now + ledger.median.create_account_delegation_time),
        )
        ledger.store.create(VESTING_DELEGATIONS, new_delegation)
    if fee > 0:
        create_vesting(ledger, account, fee)


def _require_means(ledger: Ledger, creator: accounts.Account, operation: AccountCreate) -> None:
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


def _described(ledger: Ledger, operation: AccountCreate) -> accounts.Account:
    account = accounts.Account(
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
    """The null key and an empty text change nothing. A new master or active authority, even the same, ends the
    agents.
    """
    require(operation.account != INVITE_ACCOUNT, "o.account != CHAIN_INVITE_ACCOUNT: Cannot update invite account.")
    if operation.regular is not None:
        operation.regular.check()
    account = ledger.account(operation.account)
    authority = ledger.authority(operation.account)
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
    ledger.remember(account)
    if operation.memo_key != NULL_KEY:
        account.memo_key = operation.memo_key
    account.last_account_update = ledger.now
    if operation.json_metadata:
        store_metadata(ledger, account.name, operation.json_metadata)
    ledger.remember(authority)
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
    ledger.remember(account)
    account.last_account_update = ledger.now
    store_metadata(ledger, account.name, operation.json_metadata)


@evaluates(RequestAccountRecovery)
def request_account_recovery(ledger: Ledger, operation: RequestAccountRecovery) -> None:
    ledger.account(operation.recovery_account)
    account = ledger.account(operation.account_to_recover)
    _require_recovery_account(ledger, account, operation)
    master = operation.new_master_authority
    request = ledger.store.lookup(recovery.RECOVERY_REQUEST_BY_ACCOUNT, account.name)
    if request is not None and master.weight_threshold == 0:
        ledger.store.remove(request)
        return
    _require_usable(ledger, master)
    expires = uint32(ledger.now + ACCOUNT_RECOVERY_REQUEST_EXPIRATION_PERIOD)
    if request is None:
        request = recovery.AccountRecoveryRequest(
            account_to_recover=account.name, new_master_authority=master, expires=expires
        )
        ledger.store.create(recovery.ACCOUNT_RECOVERY_REQUESTS, request)
        return
    with ledger.editing(request):
        request.new_master_authority = master
        request.expires = expires


def _require_recovery_account(ledger: Ledger, account: accounts.Account, operation: RequestAccountRecovery) -> None:
    """An account that has no recovery account is recovered by the validator with the most votes."""
    if account.recovery_account:
        require(
            account.recovery_account == operation.recovery_account,
            "account_to_recover.recovery_account == o.recovery_account: "
            "Cannot recover an account that does not have you as there recovery partner.",
        )
        return
    top = ledger.store.first(VALIDATOR_BY_VOTES)
    require(
        top is not None and top.owner == operation.recovery_account,
        "_db.get_index<validator_index>().indices().get<by_vote_name>().begin()->owner == o.recovery_account: "
        "Top validator must recover an account with no recovery partner.",
    )


def _require_usable(ledger: Ledger, master: Authority) -> None:
    require(
        not master.is_impossible,
        "!o.new_master_authority.is_impossible(): Cannot recover using an impossible authority.",
    )
    require(
        master.weight_threshold,
        "o.new_master_authority.weight_threshold: Cannot recover using an open authority.",
    )
    require_members(ledger, master)


@evaluates(RecoverAccount)
def recover_account(ledger: Ledger, operation: RecoverAccount) -> None:
    """Take the offer, by a master authority that the account had not long ago."""
    account = ledger.account(operation.account_to_recover)
    require(
        ledger.now - account.last_account_recovery > ledger.network.master_update_limit,
        "_db.head_block_time() - account.last_account_recovery > CHAIN_MASTER_UPDATE_LIMIT: "
        "Master authority can only be updated once an hour.",
    )
    request = ledger.store.lookup(recovery.RECOVERY_REQUEST_BY_ACCOUNT, account.name)
    if request is None:
        raise RuleViolation(
            "request != recovery_request_idx.end(): There are no active recovery requests for this account."
        )
    require(
        request.new_master_authority == operation.new_master_authority,
        "request->new_master_authority == o.new_master_authority: "
        "New master authority does not match recovery request.",
    )
    history = ledger.store.under(recovery.MASTER_HISTORY_BY_ACCOUNT, account.name)
    require(
        any(each.previous_master_authority == operation.recent_master_authority for each in history),
        "found: Recent authority not found in authority history.",
    )
    ledger.store.remove(request)
    before = held_keys(ledger, account.name)
    update_master_authority(ledger, account.name, operation.new_master_authority)
    record_changes(ledger, account.name, before)
    with ledger.editing(account):
        account.last_account_recovery = ledger.now
        if ledger.hardfork(9):
            # A bid that stands stays, and is returned when auctions end (spec 02, section 6.5, quirk).
            account.account_seller = NO_NAME
            account.account_offer_price = 0
            account.account_on_sale = False
            account.account_on_sale_start_time = 0


@evaluates(ChangeRecoveryAccount)
def change_recovery_account(ledger: Ledger, operation: ChangeRecoveryAccount) -> None:
    """Name another recovery account, or take that back by naming the present one again."""
    successor = ledger.account(operation.new_recovery_account).name
    account = ledger.account(operation.account_to_recover)
    request = ledger.store.lookup(recovery.CHANGE_RECOVERY_BY_ACCOUNT, account.name)
    effective_on = uint32(ledger.now + ledger.network.master_auth_recovery_period)
    if request is None:
        new_request = recovery.ChangeRecoveryAccountRequest(
            account_to_recover=account.name, recovery_account=successor, effective_on=effective_on
        )
        ledger.store.create(recovery.CHANGE_RECOVERY_ACCOUNT_REQUESTS, new_request)
    elif account.recovery_account == successor:
        ledger.store.remove(request)
    else:
        with ledger.editing(request):
            request.recovery_account = successor
            request.effective_on = effective_on
