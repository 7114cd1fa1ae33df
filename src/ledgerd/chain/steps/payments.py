"""What is paid when its time has come: parts of withdrawals (spec 03, section 15.23), auctions that are over (section
15.26), paid subscriptions (section 15.31), and content until hardfork 4 (section 15.22).
"""

from __future__ import annotations

from collections.abc import Iterator

from ledgerd.basics.durations import DAY
from ledgerd.basics.percents import HUNDRED_PERCENT
from ledgerd.chain.ledger.arithmetic import uint32
from ledgerd.chain.ledger.block_context import BlockContext
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.accounts.account_sales import clear_auction, close_offer, give_to_buyer, return_bid
from ledgerd.chain.rules.accounts.energy import spend_energy_with_shares
from ledgerd.chain.rules.money.balances import adjust_balance
from ledgerd.chain.rules.money.content import cash_out_due
from ledgerd.chain.rules.validators.votes import adjust_proxied_votes
from ledgerd.protocol.operations import virtual
from ledgerd.protocol.types.assets import Asset, fits_int64, shares, tokens
from ledgerd.protocol.types.names import NO_NAME
from ledgerd.protocol.types.times import LATEST
from ledgerd.state.objects.accounts import accounts
from ledgerd.state.objects.accounts.recovery import RECOVERY_REQUEST_BY_ACCOUNT
from ledgerd.state.objects.money import paid_subscriptions
from ledgerd.state.objects.money.vesting import ROUTE_BY_ACCOUNTS, WithdrawVestingRoute


def withdraw_vesting(ledger: Ledger, _context: BlockContext) -> None:
    """The next account is chosen before one is paid: this decides who is met again where parts are due at once."""
    store = ledger.store
    account = store.first(accounts.ACCOUNT_BY_NEXT_WITHDRAWAL, upper=(ledger.now,))
    while account is not None and account.next_vesting_withdrawal <= ledger.now:
        following = store.following(accounts.ACCOUNT_BY_NEXT_WITHDRAWAL, account)
        _pay_part(ledger, account)
        account = following


def _pay_part(ledger: Ledger, account: accounts.Account) -> None:
    part = _part(account)
    as_shares = sum(_pay_route(ledger, account, route, part) for route in _routes(ledger, account, auto_vest=True))
    as_tokens = sum(_pay_route(ledger, account, route, part) for route in _routes(ledger, account, auto_vest=False))
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


def _part(account: accounts.Account) -> int:
    """What is due now: the rate, and at the end what it leaves over; never more than there is."""
    rate = account.vesting_withdraw_rate
    is_last = account.to_withdraw - account.withdrawn < rate
    return max(min(account.vesting_shares, account.to_withdraw % rate if is_last else rate), 0)


def _routes(ledger: Ledger, account: accounts.Account, *, auto_vest: bool) -> Iterator[WithdrawVestingRoute]:
    """Routes by the ids of their ends, of which 0 is never seen (spec 02, section 7.4, quirk)."""
    for route in ledger.store.scan(ROUTE_BY_ACCOUNTS, lower=(account.id, 1), upper=(account.id,)):
        if route.auto_vest == auto_vest:
            yield route


def _pay_route(ledger: Ledger, account: accounts.Account, route: WithdrawVestingRoute, part: int) -> int:
    deposit = part * route.percent // HUNDRED_PERCENT
    if deposit <= 0:
        return deposit
    converted = 0 if route.auto_vest else ledger.globals.tokens_for(deposit)
    recipient = ledger.store.get(accounts.ACCOUNTS, route.to_account)
    if route.auto_vest:
        ledger.remember(recipient)
        recipient.vesting_shares = fits_int64(recipient.vesting_shares + deposit)
        adjust_proxied_votes(ledger, recipient, deposit)
    else:
        adjust_balance(ledger, recipient, converted)
        _leave_fund(ledger, deposit, converted)
    _report(ledger, account, recipient, deposit, shares(deposit) if route.auto_vest else tokens(converted))
    return deposit


def _leave_fund(ledger: Ledger, withdrawn: int, converted: int) -> None:
    globals_ = ledger.globals
    ledger.remember(globals_)
    globals_.total_vesting_fund = fits_int64(globals_.total_vesting_fund - converted)
    globals_.total_vesting_shares = fits_int64(globals_.total_vesting_shares - withdrawn)


def _report(
    ledger: Ledger, account: accounts.Account, recipient: accounts.Account, withdrawn: int, deposited: Asset
) -> None:
    ledger.emit(virtual.FillVestingWithdraw(account.name, recipient.name, shares(withdrawn), deposited))


def renew_subscriptions(ledger: Ledger, _context: BlockContext) -> None:
    """One a block: a renewed one stands behind all others that are due, and they wait (spec 03, section 15.31,
    quirk).
    """
    subscribe = ledger.store.first(paid_subscriptions.SUBSCRIBE_BY_NEXT_TIME, upper=(ledger.now,))
    while subscribe is not None and subscribe.next_time <= ledger.now:
        if subscribe.active:
            _renew_or_end(ledger, subscribe)
        subscribe = ledger.store.following(paid_subscriptions.SUBSCRIBE_BY_NEXT_TIME, subscribe)


def _renew_or_end(ledger: Ledger, subscribe: paid_subscriptions.PaidSubscribe) -> None:
    offer = ledger.store.lookup(paid_subscriptions.SUBSCRIPTION_BY_CREATOR, subscribe.creator)
    if offer is None or not subscribe.auto_renewal or offer.period < subscribe.period:
        _end(ledger, subscribe)
        return
    level = min(subscribe.level, offer.levels)
    price = fits_int64(offer.amount * level)
    is_no_dearer = fits_int64(subscribe.amount * subscribe.level) >= price
    if is_no_dearer and ledger.account(subscribe.subscriber).balance >= price:
        _renew(ledger, subscribe, offer, level, price)
    else:
        _end(ledger, subscribe)


def _renew(
    ledger: Ledger,
    subscribe: paid_subscriptions.PaidSubscribe,
    offer: paid_subscriptions.PaidSubscription,
    level: int,
    price: int,
) -> None:
    """The period that the subscriber agreed to stays on record, whatever it is now (the same quirk)."""
    adjust_balance(ledger, ledger.account(subscribe.subscriber), -price)
    adjust_balance(ledger, ledger.account(subscribe.creator), price)
    with ledger.editing(subscribe):
        subscribe.amount = offer.amount
        subscribe.level = level
        subscribe.start_time = ledger.now
        subscribe.next_time = uint32(ledger.now + offer.period * DAY)
        subscribe.end_time = LATEST
    ledger.emit(
        virtual.PaidSubscriptionAction(
            subscribe.subscriber, subscribe.creator, level, tokens(offer.amount), offer.period, tokens(price)
        )
    )


def _end(ledger: Ledger, subscribe: paid_subscriptions.PaidSubscribe) -> None:
    with ledger.editing(subscribe):
        subscribe.end_time = subscribe.next_time
        subscribe.next_time = LATEST
        subscribe.active = subscribe.auto_renewal = False
    ledger.emit(virtual.CancelPaidSubscription(subscribe.subscriber, subscribe.creator))


def pay_contents(ledger: Ledger, _context: BlockContext) -> None:
    cash_out_due(ledger)


def end_auctions(ledger: Ledger, _context: BlockContext) -> None:
    """Sell what was bid enough for, in the order of their starts (spec 07, section 11.1); other bids go back."""
    for account in list(ledger.store.scan(accounts.ACCOUNT_BY_AUCTION_START, lower=(True,), upper=(True, ledger.now))):
        _end_auction(ledger, account)
        clear_auction(ledger, account)


def _end_auction(ledger: Ledger, account: accounts.Account) -> None:
    bidder, target = account.current_bidder, account.target_buyer
    if not bidder:
        return
    is_sold = (
        target in (NO_NAME, bidder) and account.account_on_sale and account.current_bid >= account.account_offer_price
    )
    if not is_sold:
        return_bid(ledger, account)
    elif ledger.store.lookup(RECOVERY_REQUEST_BY_ACCOUNT, account.name) is not None:
        return_bid(ledger, account)
        close_offer(ledger, account)
        _forget_target(ledger, account)
    else:
        _sell(ledger, account)
        _forget_target(ledger, account)


def _sell(ledger: Ledger, account: accounts.Account) -> None:
    """The bid, which was set aside, becomes the seller's."""
    bidder, seller = ledger.account(account.current_bidder), ledger.account(account.account_seller)
    bid = account.current_bid
    ledger.remember(bidder)
    bidder.reserved_balance = fits_int64(bidder.reserved_balance - bid)
    adjust_balance(ledger, seller, bid)
    ledger.emit(virtual.AccountSale(account.name, tokens(bid), bidder.name, seller.name))
    give_to_buyer(ledger, account, bidder.name, account.current_bidder_key)


def _forget_target(ledger: Ledger, account: accounts.Account) -> None:
    ledger.remember(account)
    account.target_buyer = NO_NAME
