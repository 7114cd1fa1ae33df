"""Account recovery: expiry of requests and of old master authorities, and changes of recovery accounts (spec 03,
section 15.24).
"""

from __future__ import annotations

from ledgerd.chain.ledger.arithmetic import uint32
from ledgerd.chain.ledger.block_context import BlockContext
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.state.objects.recovery import (
    CHANGE_RECOVERY_BY_EFFECTIVE_DATE,
    MASTER_AUTHORITY_HISTORY,
    RECOVERY_REQUEST_BY_EXPIRATION,
)


def process_account_recovery(ledger: Ledger, _progress: BlockContext) -> None:
    """Remove expired requests and old master authorities; new recovery accounts take effect."""
    _expire_requests(ledger)
    _forget_master_authorities(ledger)
    _change_recovery_accounts(ledger)


def _expire_requests(ledger: Ledger) -> None:
    for request in ledger.store.scan(RECOVERY_REQUEST_BY_EXPIRATION, upper=(ledger.now,)):
        ledger.store.remove(request)


def _forget_master_authorities(ledger: Ledger) -> None:
    """In the order in which they were replaced, until the first that is young enough."""
    period = ledger.network.master_auth_recovery_period
    for history in ledger.store.scan(MASTER_AUTHORITY_HISTORY):
        if uint32(history.last_valid_time + period) >= ledger.now:
            break
        ledger.store.remove(history)


def _change_recovery_accounts(ledger: Ledger) -> None:
    for request in ledger.store.scan(CHANGE_RECOVERY_BY_EFFECTIVE_DATE, upper=(ledger.now,)):
        account = ledger.account(request.account_to_recover)
        with ledger.editing(account):
            account.recovery_account = request.recovery_account
        ledger.store.remove(request)
