"""Paying the parts of withdrawals that are due (spec 03, section 15.23)."""

from __future__ import annotations

from collections.abc import Iterator

from ledgerd.basics.percents import HUNDRED_PERCENT
from ledgerd.chain.ledger.arithmetic import uint32
from ledgerd.chain.ledger.block_context import BlockContext
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.accounts.energy import spend_energy_with_shares
from ledgerd.chain.rules.validators.votes import adjust_proxied_votes
from ledgerd.protocol.assets import Asset, fits_int64, shares, tokens
from ledgerd.protocol.operations.virtual import FillVestingWithdraw
from ledgerd.protocol.times import LATEST
from ledgerd.state.objects.accounts import ACCOUNT_BY_NEXT_WITHDRAWAL, ACCOUNTS, Account
from ledgerd.state.objects.vesting import ROUTE_BY_ACCOUNTS, WithdrawVestingRoute


def withdraw_vesting(ledger: Ledger, _progress: BlockContext) -> None:
    """One part for each account that is due, its routes first.

    The next account is chosen before this one is paid: where parts are due again at once, that decides who is met
    a second time in the same block.
    """
    store = ledger.store
    account = store.first(ACCOUNT_BY_NEXT_WITHDRAWAL, upper=(ledger.now,))
    while account is not None and account.next_vesting_withdrawal <= ledger.now:
        following = store.following(ACCOUNT_BY_NEXT_WITHDRAWAL, account)
        _pay_part(ledger, account)
        account = following


def _pay_part(ledger: Ledger, account: Account) -> None:
    part = _part(account)
    as_shares = sum(_pay_shares(ledger, account, route, part) for route in _routes(ledger, account, auto_vest=True))
    as_tokens = sum(_pay_tokens(ledger, account, route, part) for route in _routes(ledger, account, auto_vest=False))
    own = max(part - as_tokens - as_shares, 0)
    converted = ledger.globals.tokens_for(own)
    spend_energy_with_shares(ledger, account, as_tokens + own)
    with ledger.editing(account):
        account.vesting_shares = fits_int64(account.vesting_shares - part)
        account.balance = fits_int64(account.balance + converted)
        account.withdrawn = fits_int64(account.withdrawn + part)
        if account.withdrawn >= account.to_withdraw or account.vesting_shares == 0:
            account.vesting_withdraw_rate = 0
            account.next_vesting_withdrawal = LATEST
        else:
            interval = ledger.network.vesting_withdraw_interval_seconds
            account.next_vesting_withdrawal = uint32(account.next_vesting_withdrawal + interval)
    _leave_fund(ledger, own, converted)
    if part > 0:
        adjust_proxied_votes(ledger, account, -part)
        _report(ledger, account, account, part, tokens(converted))


def _part(account: Account) -> int:
    """What is due now: the rate, and at the end what it leaves over; never more than there is."""
    rate = account.vesting_withdraw_rate
    is_last = account.to_withdraw - account.withdrawn < rate
    return max(min(account.vesting_shares, account.to_withdraw % rate if is_last else rate), 0)


def _routes(ledger: Ledger, account: Account, *, auto_vest: bool) -> Iterator[WithdrawVestingRoute]:
    """Routes by the ids of their ends, of which 0 is never seen (spec 02, section 7.4, quirk)."""
    for route in ledger.store.scan(ROUTE_BY_ACCOUNTS, lower=(account.id, 1), upper=(account.id,)):
        if route.auto_vest == auto_vest:
            yield route


def _pay_shares(ledger: Ledger, account: Account, route: WithdrawVestingRoute, part: int) -> int:
    deposit = part * route.percent // HUNDRED_PERCENT
    if deposit > 0:
        recipient = ledger.store.get(ACCOUNTS, route.to_account)
        with ledger.editing(recipient):
            recipient.vesting_shares = fits_int64(recipient.vesting_shares + deposit)
        adjust_proxied_votes(ledger, recipient, deposit)
        _report(ledger, account, recipient, deposit, shares(deposit))
    return deposit


def _pay_tokens(ledger: Ledger, account: Account, route: WithdrawVestingRoute, part: int) -> int:
    deposit = part * route.percent // HUNDRED_PERCENT
    if deposit > 0:
        converted = ledger.globals.tokens_for(deposit)
        recipient = ledger.store.get(ACCOUNTS, route.to_account)
        with ledger.editing(recipient):
            recipient.balance = fits_int64(recipient.balance + converted)
        _leave_fund(ledger, deposit, converted)
        _report(ledger, account, recipient, deposit, tokens(converted))
    return deposit


def _leave_fund(ledger: Ledger, withdrawn: int, converted: int) -> None:
    globals_ = ledger.globals
    with ledger.editing(globals_):
        globals_.total_vesting_fund = fits_int64(globals_.total_vesting_fund - converted)
        globals_.total_vesting_shares = fits_int64(globals_.total_vesting_shares - withdrawn)


def _report(ledger: Ledger, account: Account, recipient: Account, withdrawn: int, deposited: Asset) -> None:
    ledger.emit(FillVestingWithdraw(account.name, recipient.name, shares(withdrawn), deposited))
