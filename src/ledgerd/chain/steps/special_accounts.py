"""Emptying the special accounts `null`, `anonymous` and `committee` (spec 03, section 15.27)."""

from __future__ import annotations

from ledgerd.chain.ledger.block_context import BlockContext
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.money.balances import burn
from ledgerd.protocol.assets import fits_int64
from ledgerd.protocol.constants import ANONYMOUS_ACCOUNT, COMMITTEE_ACCOUNT, NULL_ACCOUNT
from ledgerd.protocol.names import AccountName


def clear_null_account(ledger: Ledger, _progress: BlockContext) -> None:
    """What `null` has is burned."""
    burn(ledger, _take_all(ledger, NULL_ACCOUNT))


def clear_anonymous_account(ledger: Ledger, _progress: BlockContext) -> None:
    """What made no account is burned."""
    burn(ledger, _take_all(ledger, ANONYMOUS_ACCOUNT))


def claim_committee_account(ledger: Ledger, _progress: BlockContext) -> None:
    """What `committee` has goes to the committee's fund."""
    taken = _take_all(ledger, COMMITTEE_ACCOUNT)
    if taken > 0:
        globals_ = ledger.globals
        with ledger.editing(globals_):
            globals_.committee_fund = fits_int64(globals_.committee_fund + taken)


def _take_all(ledger: Ledger, name: AccountName) -> int:
    """An account's tokens, and what its shares are worth; votes that count those shares stay as they are."""
    account, globals_ = ledger.account(name), ledger.globals
    taken = 0
    if account.balance > 0:
        taken = account.balance
        with ledger.editing(account):
            account.balance = 0
    if account.vesting_shares > 0:
        converted = globals_.tokens_for(account.vesting_shares)
        with ledger.editing(globals_, account):
            globals_.total_vesting_shares = fits_int64(globals_.total_vesting_shares - account.vesting_shares)
            globals_.total_vesting_fund = fits_int64(globals_.total_vesting_fund - converted)
            account.vesting_shares = 0
        taken = fits_int64(taken + converted)
    return taken
