"""What recovers a lost account: earlier authorities, and requests under way (spec 02, sections 3.4 to 3.6)."""

from __future__ import annotations

from ledgerd.protocol.types.authority import Authority
from ledgerd.protocol.types.names import NO_NAME, AccountName
from ledgerd.protocol.types.times import Time
from ledgerd.state.objects.accounts.accounts import NO_AUTHORITY
from ledgerd.state.tables.keys import NAME_WORD, OWN_ID, TIME
from ledgerd.state.tables.tables import Entity, Table, unique


class MasterAuthorityHistory(Entity):
    """A master authority that an account had before."""

    account: AccountName = NO_NAME
    previous_master_authority: Authority = NO_AUTHORITY
    last_valid_time: Time = 0


class AccountRecoveryRequest(Entity):
    """The recovery account's offer of a new master authority."""

    account_to_recover: AccountName = NO_NAME
    new_master_authority: Authority = NO_AUTHORITY
    expires: Time = 0


class ChangeRecoveryAccountRequest(Entity):
    """The wish for another recovery account, which has to wait."""

    account_to_recover: AccountName = NO_NAME
    recovery_account: AccountName = NO_NAME
    effective_on: Time = 0


MASTER_AUTHORITY_HISTORY = Table(MasterAuthorityHistory, number=13)
MASTER_HISTORY_BY_ACCOUNT = unique(
    MASTER_AUTHORITY_HISTORY,
    "by_account",
    lambda history: (history.account, history.last_valid_time, history.id),
    (NAME_WORD, TIME, OWN_ID),
)

ACCOUNT_RECOVERY_REQUESTS = Table(AccountRecoveryRequest, number=14)
RECOVERY_REQUEST_BY_ACCOUNT = unique(
    ACCOUNT_RECOVERY_REQUESTS,
    "by_account",
    lambda request: (request.account_to_recover, request.id),
    (NAME_WORD, OWN_ID),
)
RECOVERY_REQUEST_BY_EXPIRATION = unique(
    ACCOUNT_RECOVERY_REQUESTS,
    "by_expiration",
    lambda request: (request.expires, request.id),
    (TIME, OWN_ID),
)

CHANGE_RECOVERY_ACCOUNT_REQUESTS = Table(ChangeRecoveryAccountRequest, number=15)
CHANGE_RECOVERY_BY_ACCOUNT = unique(
    CHANGE_RECOVERY_ACCOUNT_REQUESTS,
    "by_account",
    lambda request: (request.account_to_recover, request.id),
    (NAME_WORD, OWN_ID),
)
CHANGE_RECOVERY_BY_EFFECTIVE_DATE = unique(
    CHANGE_RECOVERY_ACCOUNT_REQUESTS,
    "by_effective_date",
    lambda request: (request.effective_on, request.id),
    (TIME, OWN_ID),
)
