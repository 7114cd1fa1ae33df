"""The rules of giving a stolen account back (spec 02, sections 6.4 to 6.6; spec 08, section 12.2).

What expires or takes effect with time is in `steps.recovery`.
"""

from __future__ import annotations

from ledgerd.chain.ledger.arithmetic import uint32
from ledgerd.chain.ledger.evaluation import evaluates
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.accounts.authorities import require_members, update_master_authority
from ledgerd.chain.rules.accounts.key_history import held_keys, record_changes
from ledgerd.protocol.authority import Authority
from ledgerd.protocol.constants import ACCOUNT_RECOVERY_REQUEST_EXPIRATION_PERIOD
from ledgerd.protocol.errors import RuleViolation, require
from ledgerd.protocol.names import NO_NAME
from ledgerd.protocol.operations.recovery import ChangeRecoveryAccount, RecoverAccount, RequestAccountRecovery
from ledgerd.state.objects.accounts import Account
from ledgerd.state.objects.recovery import (
    ACCOUNT_RECOVERY_REQUESTS,
    CHANGE_RECOVERY_ACCOUNT_REQUESTS,
    CHANGE_RECOVERY_BY_ACCOUNT,
    MASTER_HISTORY_BY_ACCOUNT,
    RECOVERY_REQUEST_BY_ACCOUNT,
    AccountRecoveryRequest,
    ChangeRecoveryAccountRequest,
)
from ledgerd.state.objects.validators import VALIDATOR_BY_VOTES


@evaluates(RequestAccountRecovery)
def request_account_recovery(ledger: Ledger, operation: RequestAccountRecovery) -> None:
    ledger.account(operation.recovery_account)
    account = ledger.account(operation.account_to_recover)
    _require_recovery_account(ledger, account, operation)
    master = operation.new_master_authority
    request = ledger.store.lookup(RECOVERY_REQUEST_BY_ACCOUNT, account.name)
    if request is not None and master.weight_threshold == 0:
        ledger.store.remove(request)
        return
    _require_usable(ledger, master)
    expires = uint32(ledger.now + ACCOUNT_RECOVERY_REQUEST_EXPIRATION_PERIOD)
    if request is None:
        request = AccountRecoveryRequest(account_to_recover=account.name, new_master_authority=master, expires=expires)
        ledger.store.create(ACCOUNT_RECOVERY_REQUESTS, request)
        return
    with ledger.editing(request):
        request.new_master_authority = master
        request.expires = expires


def _require_recovery_account(ledger: Ledger, account: Account, operation: RequestAccountRecovery) -> None:
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
    request = ledger.store.lookup(RECOVERY_REQUEST_BY_ACCOUNT, account.name)
    if request is None:
        raise RuleViolation(
            "request != recovery_request_idx.end(): There are no active recovery requests for this account."
        )
    require(
        request.new_master_authority == operation.new_master_authority,
        "request->new_master_authority == o.new_master_authority: "
        "New master authority does not match recovery request.",
    )
    history = ledger.store.scan(MASTER_HISTORY_BY_ACCOUNT, lower=(account.name,), upper=(account.name,))
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
    request = ledger.store.lookup(CHANGE_RECOVERY_BY_ACCOUNT, account.name)
    effective_on = uint32(ledger.now + ledger.network.master_auth_recovery_period)
    if request is None:
        ledger.store.create(
            CHANGE_RECOVERY_ACCOUNT_REQUESTS,
            ChangeRecoveryAccountRequest(
                account_to_recover=account.name, recovery_account=successor, effective_on=effective_on
            ),
        )
    elif account.recovery_account == successor:
        ledger.store.remove(request)
    else:
        with ledger.editing(request):
            request.recovery_account = successor
            request.effective_on = effective_on
