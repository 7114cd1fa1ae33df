"""The rules of transfers (spec 02, section 7.1), and of shares: getting them, withdrawing and lending them (sections
7.2 to 7.5). What withdrawals pay is in `steps.payments`; lent shares come back in `steps.housekeeping`.
"""

from __future__ import annotations

from ledgerd.basics.percents import HUNDRED_PERCENT
from ledgerd.chain.ledger.arithmetic import truncated, uint32
from ledgerd.chain.ledger.evaluation import evaluates
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.accounts.energy import energy_now, spend_energy_with_shares
from ledgerd.chain.rules.accounts.new_accounts import receive_anonymously
from ledgerd.chain.rules.money.balances import (
    adjust_balance,
    adjust_delegated,
    adjust_received,
    balance_of,
    create_vesting,
)
from ledgerd.protocol.constants import ANONYMOUS_ACCOUNT, CASHOUT_WINDOW_SECONDS, MAX_WITHDRAW_ROUTES
from ledgerd.protocol.errors import require
from ledgerd.protocol.operations.money import transfers
from ledgerd.protocol.types.assets import TOKEN_SYMBOL, fits_int64, shares
from ledgerd.protocol.types.times import LATEST
from ledgerd.state.objects.accounts.accounts import Account
from ledgerd.state.objects.money import vesting


@evaluates(transfers.Transfer)
def transfer(ledger: Ledger, operation: transfers.Transfer) -> None:
    """Move tokens; what `null` and `committee` receive is dealt with at the end of the block."""
    sender, recipient = ledger.account(operation.sender), ledger.account(operation.recipient)
    amount = operation.amount.amount
    require(
        balance_of(sender, operation.amount.symbol) >= amount,
        "_db.get_balance(from_account, o.amount.symbol) >= o.amount: "
        "Account does not have sufficient funds for transfer.",
    )
    adjust_balance(ledger, sender, -amount)
    adjust_balance(ledger, recipient, amount)
    if recipient.name == ANONYMOUS_ACCOUNT:
        receive_anonymously(ledger, amount, operation.memo)


INSUFFICIENT_SHARES = "Account does not have sufficient SHARES for withdraw."


@evaluates(transfers.TransferToVesting)
def transfer_to_vesting(ledger: Ledger, operation: transfers.TransferToVesting) -> None:
    sender = ledger.account(operation.sender)
    recipient = ledger.account(operation.recipient) if operation.recipient else sender
    amount = operation.amount.amount
    require(
        balance_of(sender, TOKEN_SYMBOL) >= amount,
        "_db.get_balance(from_account, TOKEN_SYMBOL) >= o.amount: Account does not have sufficient TOKEN for transfer.",
    )
    adjust_balance(ledger, sender, -amount)
    create_vesting(ledger, recipient, amount)


@evaluates(transfers.WithdrawVesting)
def withdraw_vesting(ledger: Ledger, operation: transfers.WithdrawVesting) -> None:
    account = ledger.account(operation.account)
    amount = operation.vesting_shares.amount
    require(account.vesting_shares >= 0, f"account.vesting_shares.amount >= 0: {INSUFFICIENT_SHARES}")
    require(
        account.available_shares >= amount,
        f"account.available_vesting_shares() >= o.vesting_shares: {INSUFFICIENT_SHARES}",
    )
    require(amount >= 0, "o.vesting_shares.amount >= 0: Cannot withdraw negative SHARES.")
    if amount == 0:
        rate, following = 0, LATEST
    else:
        rate = _withdraw_rate(ledger, account, amount)
        following = uint32(ledger.now + ledger.network.vesting_withdraw_interval_seconds)
        require(
            account.vesting_withdraw_rate != rate,
            "account.vesting_withdraw_rate != new_vesting_withdraw_rate: "
            "This operation would not change the vesting withdraw rate.",
        )
    with ledger.editing(account):
        account.vesting_withdraw_rate = rate
        account.next_vesting_withdrawal = following
        account.to_withdraw = amount
        account.withdrawn = 0


def _withdraw_rate(ledger: Ledger, account: Account, amount: int) -> int:
    """What is withdrawn at a time; since hardfork 5 a part of all there is, not of what was asked for."""
    is_voted = ledger.hardfork(9)
    intervals = ledger.median.withdraw_intervals if is_voted else ledger.network.vesting_withdraw_intervals
    whole = account.available_shares if ledger.hardfork(5) else amount
    return truncated(whole, intervals) or 1


@evaluates(transfers.SetWithdrawVestingRoute)
def set_withdraw_vesting_route(ledger: Ledger, operation: transfers.SetWithdrawVestingRoute) -> None:
    account, recipient = ledger.account(operation.from_account), ledger.account(operation.to_account)
    route = ledger.store.lookup(vesting.ROUTE_BY_ACCOUNTS, account.id, recipient.id)
    if route is None:
        require(operation.percent != 0, "o.percent != 0: Cannot create a 0% destination.")
        require(
            account.withdraw_routes < MAX_WITHDRAW_ROUTES,
            "from_account.withdraw_routes < CHAIN_MAX_WITHDRAW_ROUTES: "
            "Account already has the maximum number of routes.",
        )
        route = vesting.WithdrawVestingRoute(
            from_account=account.id,
            to_account=recipient.id,
            percent=operation.percent,
            auto_vest=operation.auto_vest,
        )
        ledger.store.create(vesting.WITHDRAW_VESTING_ROUTES, route)
        ledger.remember(account)
        account.withdraw_routes += 1
    elif operation.percent == 0:
        ledger.store.remove(route)
        ledger.remember(account)
        account.withdraw_routes -= 1
    else:
        ledger.remember(route)
        route.percent = operation.percent
        route.auto_vest = operation.auto_vest
    # Only routes to ids above 0 count, here as in withdrawals (spec 02, section 7.4, quirk).
    routes = ledger.store.scan(vesting.ROUTE_BY_ACCOUNTS, lower=(account.id, 1), upper=(account.id,))
    require(
        sum(each.percent for each in routes) <= HUNDRED_PERCENT,
        "total_percent <= CHAIN_100_PERCENT: More than 100% of vesting withdrawals allocated to destinations.",
    )


@evaluates(transfers.DelegateVestingShares)
def delegate_vesting_shares(ledger: Ledger, operation: transfers.DelegateVestingShares) -> None:
    """Lend so many shares in all: what is more is lent at once, what is less comes back later."""
    delegator, delegatee = ledger.account(operation.delegator), ledger.account(operation.delegatee)
    delegation = ledger.store.lookup(vesting.DELEGATION_BY_DELEGATOR, delegator.name, delegatee.name)
    amount = operation.vesting_shares.amount
    if delegation is None:
        require(amount != 0, "op.vesting_shares.amount != 0: Delegation did not exist for initiate revoke.")
    minimum = ledger.globals.shares_for(ledger.median.min_delegation.amount)
    delta = amount if delegation is None else fits_int64(amount - delegation.vesting_shares)
    if delta > 0:
        _require_delegable(ledger, delegator, delta)
    if delegation is None:
        _begin_delegation(ledger, operation, minimum)
    elif delta <= 0:
        require(
            amount == 0 or amount >= minimum,
            "op.vesting_shares.amount == 0 || op.vesting_shares >= min_delegation: "
            "Delegation must be removed or leave minimum delegation amount of ${v}",
            v=str(shares(minimum)),
        )
        _return_later(ledger, delegation, -delta)
    if delta > 0:
        spend_energy_with_shares(ledger, delegator, delta)
        adjust_delegated(ledger, delegator, delta)
    adjust_received(ledger, delegatee, delta)
    if delegation is not None:
        _leave_delegation(ledger, delegation, amount)


def _require_delegable(ledger: Ledger, delegator: Account, delta: int) -> None:
    require(
        delegator.available_beside_withdrawal >= delta,
        "delegator.available_vesting_shares(true) >= delta: Account does not have enough vesting shares to delegate.",
    )
    if ledger.hardfork(6):
        require(energy_now(ledger, delegator) >= 0, "current_energy >= 0: Cannot delegate with negative energy.")


def _begin_delegation(ledger: Ledger, operation: transfers.DelegateVestingShares, minimum: int) -> None:
    """Only a new delegation must reach the minimum: one that grows is not asked."""
    require(
        operation.vesting_shares.amount >= minimum,
        "op.vesting_shares >= min_delegation: Account must delegate a minimum of ${v}",
        v=str(shares(minimum)),
    )
    delegation = vesting.VestingDelegation(
        delegator=operation.delegator,
        delegatee=operation.delegatee,
        vesting_shares=operation.vesting_shares.amount,
        min_delegation_time=ledger.now,
    )
    ledger.store.create(vesting.VESTING_DELEGATIONS, delegation)


def _return_later(ledger: Ledger, delegation: vesting.VestingDelegation, taken_back: int) -> None:
    """Schedule the return of shares, for when the borrower can no longer use their energy or votes; zero shares too."""
    is_safe = ledger.hardfork(10)
    wait = ledger.network.energy_regeneration_seconds if is_safe else CASHOUT_WINDOW_SECONDS
    due = vesting.VestingDelegationExpiration(
        delegator=delegation.delegator,
        vesting_shares=taken_back,
        expiration=max(uint32(ledger.now + wait), delegation.min_delegation_time),
    )
    ledger.store.create(vesting.VESTING_DELEGATION_EXPIRATIONS, due)


def _leave_delegation(ledger: Ledger, delegation: vesting.VestingDelegation, amount: int) -> None:
    if amount == 0:
        ledger.store.remove(delegation)
        return
    ledger.remember(delegation)
    delegation.vesting_shares = amount
