"""The recovery of stolen accounts (spec 05, sections 9.13 and 9.14)."""

from __future__ import annotations

from ledgerd.protocol.names import AccountName
from ledgerd.rpc.api.database_api.declared import DATABASE_API
from ledgerd.rpc.call.counts import exactly
from ledgerd.rpc.call.view import ApiView
from ledgerd.state.objects.recovery import (
    MASTER_HISTORY_BY_ACCOUNT,
    RECOVERY_REQUEST_BY_ACCOUNT,
    AccountRecoveryRequest,
    MasterAuthorityHistory,
)


@DATABASE_API.method(args=exactly(1), examples=[["alice"]])
def get_master_history(view: ApiView, account: AccountName) -> tuple[MasterAuthorityHistory, ...]:
    """The master authorities that an account had before, the oldest first."""
    return tuple(view.state.scan(MASTER_HISTORY_BY_ACCOUNT, lower=(account,), upper=(account,)))


@DATABASE_API.method(args=exactly(1), examples=[["alice"]])
def get_recovery_request(view: ApiView, account: AccountName) -> AccountRecoveryRequest | None:
    """The open recovery request of an account, with the offered master authority."""
    return view.state.lookup(RECOVERY_REQUEST_BY_ACCOUNT, account)
