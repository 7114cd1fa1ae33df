"""Auctions that are over (spec 03, section 15.26)."""

from __future__ import annotations

from ledgerd.chain.ledger.block_context import BlockContext
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.accounts.account_sales import clear_auction, close_offer, give_to_buyer, return_bid
from ledgerd.chain.rules.money.balances import adjust_balance
from ledgerd.protocol.assets import fits_int64, tokens
from ledgerd.protocol.names import NO_NAME
from ledgerd.protocol.operations.virtual import AccountSale
from ledgerd.state.objects.accounts import ACCOUNT_BY_AUCTION_START, Account
from ledgerd.state.objects.recovery import RECOVERY_REQUEST_BY_ACCOUNT


def end_auctions(ledger: Ledger, _progress: BlockContext) -> None:
    """Sell what was bid enough for; other bids go back."""
    for account in _due(ledger):
        _end(ledger, account)
        clear_auction(ledger, account)


def _due(ledger: Ledger) -> list[Account]:
    """Auctions that are over, in the order of their starts (spec 07, section 11.1)."""
    return list(ledger.store.scan(ACCOUNT_BY_AUCTION_START, lower=(True,), upper=(True, ledger.now)))


def _end(ledger: Ledger, account: Account) -> None:
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


def _sell(ledger: Ledger, account: Account) -> None:
    """The bid, which was set aside, becomes the seller's."""
    bidder, seller = ledger.account(account.current_bidder), ledger.account(account.account_seller)
    bid = account.current_bid
    with ledger.editing(bidder):
        bidder.reserved_balance = fits_int64(bidder.reserved_balance - bid)
    adjust_balance(ledger, seller, bid)
    ledger.emit(AccountSale(account.name, tokens(bid), bidder.name, seller.name))
    give_to_buyer(ledger, account, bidder.name, account.current_bidder_key)


def _forget_target(ledger: Ledger, account: Account) -> None:
    with ledger.editing(account):
        account.target_buyer = NO_NAME
