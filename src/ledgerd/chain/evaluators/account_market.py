"""The rules of offering accounts for sale (spec 02, sections 14.1 to 14.3); buying them is in `account_purchases`."""

from __future__ import annotations

from ledgerd.chain.ledger.arithmetic import uint32
from ledgerd.chain.ledger.evaluation import evaluates
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.accounts.account_sales import clear_auction, close_offer, return_bid
from ledgerd.chain.rules.money.balances import pay_committee
from ledgerd.protocol.errors import require
from ledgerd.protocol.names import NO_NAME
from ledgerd.protocol.operations.account_market import SetAccountPrice, SetSubaccountPrice, TargetAccountSale
from ledgerd.state.objects.accounts import Account


@evaluates(SetAccountPrice)
def set_account_price(ledger: Ledger, operation: SetAccountPrice) -> None:
    """A buyer whom an earlier operation has named stays the only one (spec 02, section 14.1, quirk)."""
    account = ledger.account(operation.account)
    seller = ledger.account(operation.account_seller).name
    price = operation.account_offer_price.amount
    if ledger.hardfork(9):
        _pay_listing_fee(ledger, account)
    with ledger.editing(account):
        account.account_seller = seller
    if ledger.hardfork(11):
        if not operation.account_on_sale:
            _withdraw_offer(ledger, account)
        elif account.current_bidder and _outprices_bid(account, price):
            return_bid(ledger, account)
            clear_auction(ledger, account)
    _set_offer(ledger, account, price, is_on_sale=operation.account_on_sale, has_delay=ledger.hardfork(9))


@evaluates(TargetAccountSale)
def target_account_sale(ledger: Ledger, operation: TargetAccountSale) -> None:
    """Not bound to a hardfork (spec 02, section 14.3, quirk)."""
    account = ledger.account(operation.account)
    seller = ledger.account(operation.account_seller).name
    buyer = ledger.account(operation.target_buyer).name
    price = operation.account_offer_price.amount
    _pay_listing_fee(ledger, account)
    with ledger.editing(account):
        account.account_seller = seller
        account.target_buyer = buyer if operation.account_on_sale else NO_NAME
    if not operation.account_on_sale:
        _withdraw_offer(ledger, account)
    elif account.current_bidder and (account.current_bidder != buyer or _outprices_bid(account, price)):
        return_bid(ledger, account)
        clear_auction(ledger, account)
    _set_offer(ledger, account, price, is_on_sale=operation.account_on_sale, has_delay=True)


@evaluates(SetSubaccountPrice)
def set_subaccount_price(ledger: Ledger, operation: SetSubaccountPrice) -> None:
    account = ledger.account(operation.account)
    seller = ledger.account(operation.subaccount_seller).name
    if ledger.hardfork(9) and not account.subaccount_seller:
        fee = ledger.median.subaccount_on_sale_fee
        require(
            account.balance >= fee.amount,
            "account.balance >= median_props.subaccount_on_sale_fee: "
            "Account does not have sufficient funds to place subaccount for sale: required ${a}.",
            a=str(fee),
        )
        pay_committee(ledger, account, fee.amount)
    with ledger.editing(account):
        account.subaccount_seller = seller
        account.subaccount_offer_price = operation.subaccount_offer_price.amount
        account.subaccount_on_sale = operation.subaccount_on_sale


def _pay_listing_fee(ledger: Ledger, account: Account) -> None:
    """A seller on record means that the fee is paid: once, until the account is sold or recovered."""
    if account.account_seller:
        return
    fee = ledger.median.account_on_sale_fee
    require(
        account.balance >= fee.amount,
        "account.balance >= median_props.account_on_sale_fee: "
        "Account does not have sufficient funds to place account for sale: required ${a}.",
        a=str(fee),
    )
    pay_committee(ledger, account, fee.amount)


def _outprices_bid(account: Account, price: int) -> bool:
    """Whether a price is raised above the bid that stands. Below the old price, any bid is enough."""
    return account.account_offer_price < price and account.current_bid < price


def _withdraw_offer(ledger: Ledger, account: Account) -> None:
    if account.account_on_auction and account.current_bidder:
        return_bid(ledger, account)
    close_offer(ledger, account)
    clear_auction(ledger, account)


def _set_offer(ledger: Ledger, account: Account, price: int, *, is_on_sale: bool, has_delay: bool) -> None:
    """The price is kept even when the account is taken off sale; a sale starts some time after its offer."""
    with ledger.editing(account):
        account.account_offer_price = price
        if has_delay and not is_on_sale:
            account.account_on_sale_start_time = 0
        elif has_delay and not account.account_on_sale:
            account.account_on_sale_start_time = uint32(ledger.now + ledger.network.account_on_sale_delay)
        account.account_on_sale = is_on_sale
