"""The rules of selling accounts (spec 02, sections 14.1 to 14.3), and of buying them or bidding (section 14.4)."""

from __future__ import annotations

from ledgerd.basics.percents import HUNDRED_PERCENT
from ledgerd.chain.ledger.arithmetic import uint32
from ledgerd.chain.ledger.evaluation import evaluates
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.accounts import account_sales
from ledgerd.chain.rules.accounts.new_accounts import open_account
from ledgerd.chain.rules.money.balances import adjust_balance, create_vesting, pay_fee
from ledgerd.protocol.constants import ACCOUNT_AUCTION_EXTENSION_TIME, ACCOUNT_AUCTION_MIN_STEP
from ledgerd.protocol.crypto.keys import NULL_KEY
from ledgerd.protocol.errors import RuleViolation, require
from ledgerd.protocol.operations.accounts import account_market
from ledgerd.protocol.operations.virtual import AccountSale, Bid
from ledgerd.protocol.types.assets import fits_int64, tokens
from ledgerd.protocol.types.names import NO_NAME, cut_name, is_valid_name
from ledgerd.protocol.types.time_text import time_text
from ledgerd.state.objects.accounts.accounts import Account
from ledgerd.state.objects.accounts.recovery import RECOVERY_REQUEST_BY_ACCOUNT


@evaluates(account_market.SetAccountPrice)
def set_account_price(ledger: Ledger, operation: account_market.SetAccountPrice) -> None:
    """A buyer whom an earlier operation has named stays the only one (spec 02, section 14.1, quirk)."""
    account = ledger.account(operation.account)
    seller = ledger.account(operation.account_seller).name
    price = operation.account_offer_price.amount
    if ledger.hardfork(9):
        _pay_listing_fee(ledger, account)
    ledger.remember(account)
    account.account_seller = seller
    if ledger.hardfork(11):
        if not operation.account_on_sale:
            _withdraw_offer(ledger, account)
        elif account.current_bidder and _outprices_bid(account, price):
            account_sales.return_bid(ledger, account)
            account_sales.clear_auction(ledger, account)
    _set_offer(ledger, account, price, is_on_sale=operation.account_on_sale, has_delay=ledger.hardfork(9))


@evaluates(account_market.TargetAccountSale)
def target_account_sale(ledger: Ledger, operation: account_market.TargetAccountSale) -> None:
    """Not bound to a hardfork (spec 02, section 14.3, quirk)."""
    account = ledger.account(operation.account)
    seller = ledger.account(operation.account_seller).name
    buyer = ledger.account(operation.target_buyer).name
    price = operation.account_offer_price.amount
    _pay_listing_fee(ledger, account)
    ledger.remember(account)
    account.account_seller = seller
    account.target_buyer = buyer if operation.account_on_sale else NO_NAME
    if not operation.account_on_sale:
        _withdraw_offer(ledger, account)
    elif account.current_bidder and (account.current_bidder != buyer or _outprices_bid(account, price)):
        account_sales.return_bid(ledger, account)
        account_sales.clear_auction(ledger, account)
    _set_offer(ledger, account, price, is_on_sale=operation.account_on_sale, has_delay=True)


@evaluates(account_market.SetSubaccountPrice)
def set_subaccount_price(ledger: Ledger, operation: account_market.SetSubaccountPrice) -> None:
    account = ledger.account(operation.account)
    seller = ledger.account(operation.subaccount_seller).name
    if ledger.hardfork(9) and not account.subaccount_seller:
        pay_fee(ledger, account, "subaccount_on_sale_fee", "place subaccount for sale")
    with ledger.editing(account):
        account.subaccount_seller = seller
        account.subaccount_offer_price = operation.subaccount_offer_price.amount
        account.subaccount_on_sale = operation.subaccount_on_sale


def _pay_listing_fee(ledger: Ledger, account: Account) -> None:
    """A seller on record means that the fee is paid: once, until the account is sold or recovered."""
    if not account.account_seller:
        pay_fee(ledger, account, "account_on_sale_fee", "place account for sale")


def _outprices_bid(account: Account, price: int) -> bool:
    """Whether a price is raised above the bid that stands. Below the old price, any bid is enough."""
    return account.account_offer_price < price and account.current_bid < price


def _withdraw_offer(ledger: Ledger, account: Account) -> None:
    if account.account_on_auction and account.current_bidder:
        account_sales.return_bid(ledger, account)
    account_sales.close_offer(ledger, account)
    account_sales.clear_auction(ledger, account)


def _set_offer(ledger: Ledger, account: Account, price: int, *, is_on_sale: bool, has_delay: bool) -> None:
    """The price is kept even when the account is taken off sale; a sale starts some time after its offer."""
    with ledger.editing(account):
        account.account_offer_price = price
        if has_delay and not is_on_sale:
            account.account_on_sale_start_time = 0
        elif has_delay and not account.account_on_sale:
            account.account_on_sale_start_time = uint32(ledger.now + ledger.network.account_on_sale_delay)
        account.account_on_sale = is_on_sale


@evaluates(account_market.BuyAccount)
def buy_account(ledger: Ledger, operation: account_market.BuyAccount) -> None:
    buyer = ledger.account(operation.buyer)
    require(
        operation.account_authorities_key != NULL_KEY,
        "op.account_authorities_key != public_key_type(): Account authorities key cannot be blank.",
    )
    fee = ledger.median.account_creation_fee
    require(
        operation.tokens_to_shares >= fee,
        "op.tokens_to_shares >= median_props.account_creation_fee: "
        "Inssufficient amount tokens_to_shares: required ${f}, ${p} provided.",
        f=str(fee),
        p=str(operation.tokens_to_shares),
    )
    account = ledger.find_account(operation.account)
    if account is None:
        _buy_subaccount(ledger, operation, buyer)
    else:
        _buy_existing(ledger, operation, buyer, account)


def _buy_existing(ledger: Ledger, operation: account_market.BuyAccount, buyer: Account, account: Account) -> None:
    """Since hardfork 11 the time until a sale starts is an auction; since hardfork 9 nothing can be bought in it."""
    require(account.account_on_sale, "false: Account not on sale.")
    if ledger.hardfork(9):
        request = ledger.store.lookup(RECOVERY_REQUEST_BY_ACCOUNT, account.name)
        require(request is None, "false: Account have recovery request.")
    start = account.account_on_sale_start_time
    if ledger.hardfork(11):
        target = account.target_buyer
        require(not target or target == buyer.name, "false: Account have target buyer: ${b}.", b=target)
        if start > ledger.now:
            _bid(ledger, operation, buyer, account)
            return
        require(not account.current_bidder, "false: Account already have bid and waiting release.")
    elif ledger.hardfork(9):
        require(
            start <= ledger.now,
            "account.account_on_sale_start_time <= _db.head_block_time(): Account selling will start on ${t}.",
            t=time_text(start),
        )
    _buy_at_once(ledger, operation, buyer, account)


def _buy_at_once(ledger: Ledger, operation: account_market.BuyAccount, buyer: Account, account: Account) -> None:
    seller = ledger.account(account.account_seller)
    _pay(ledger, operation, buyer, seller, account.account_offer_price, "account_offer_price")
    adjust_balance(ledger, buyer, -operation.tokens_to_shares.amount)
    create_vesting(ledger, account, operation.tokens_to_shares.amount)
    account_sales.give_to_buyer(ledger, account, buyer.name, operation.account_authorities_key)
    ledger.emit(AccountSale(account.name, operation.account_offer_price, buyer.name, seller.name))


def _pay(
    ledger: Ledger, operation: account_market.BuyAccount, buyer: Account, seller: Account, price: int, field: str
) -> None:
    """Move the price; the buyer must have what becomes shares besides."""
    require(
        price == operation.account_offer_price.amount,
        f"account.{field} == op.account_offer_price: Account offer price must be equal {field} in target account: "
        "required ${a}, ${p} provided.",
        a=str(tokens(price)),
        p=str(operation.account_offer_price),
    )
    needed = fits_int64(price + operation.tokens_to_shares.amount)
    require(
        buyer.balance >= needed,
        f"buyer.balance >= (account.{field} + op.tokens_to_shares): Inssufficient balance for {field} "
        "and tokens_to_shares: required ${a}, ${b} available,",
        a=str(tokens(needed)),
        b=str(tokens(buyer.balance)),
    )
    adjust_balance(ledger, buyer, -price)
    adjust_balance(ledger, seller, price)


def _bid(ledger: Ledger, operation: account_market.BuyAccount, buyer: Account, account: Account) -> None:
    """Tokens that would become shares are not checked again: a bid neither reserves nor spends them (spec 02, section
    14.4, quirk).
    """
    bid = operation.account_offer_price.amount
    least = fits_int64(account.current_bid + _bid_step(account))
    require(
        bid >= least,
        "false: Account offer price must be equal or greater minimal bid price: ${bp}.",
        bp=str(tokens(least)),
    )
    with ledger.editing(account):
        if account.current_bidder:
            account_sales.return_bid(ledger, account)
            if account.current_bidder != buyer.name:
                account.last_bid = account.current_bid
        account.current_bid = bid
        account.current_bidder = buyer.name
        account.current_bidder_key = operation.account_authorities_key
        account.account_on_auction = True
        account.account_on_sale_start_time = max(account.account_on_sale_start_time, _earliest_end(ledger))
        account_sales.reserve_bid(ledger, buyer, bid)
    ledger.emit(Bid(account.name, buyer.name, operation.account_offer_price))


def _bid_step(account: Account) -> int:
    """By how much a bid must be raised: a part of the price, or as much as the last one was raised by."""
    if account.current_bid == 0:
        return account.account_offer_price
    step = account.account_offer_price * ACCOUNT_AUCTION_MIN_STEP // HUNDRED_PERCENT
    if account.last_bid == 0:
        return step
    return max(step, account.current_bid - account.last_bid)


def _buy_subaccount(ledger: Ledger, operation: account_market.BuyAccount, buyer: Account) -> None:
    name = operation.account
    label, dot, parent_name = name.partition(".")
    require(dot, 'false: Account "${a}" not found.', a=name)
    parent = ledger.find_account(cut_name(parent_name))
    if parent is None:
        raise RuleViolation('acc != nullptr: Account "${a}" not found.', a=parent_name)
    require(
        is_valid_name(parent_name),
        "is_valid_account_name( account_part ): Account part ${n} is invalid",
        n=parent_name,
    )
    require(
        is_valid_name(label),
        "is_valid_account_name( subaccount_part ): Subaccount part name ${n} is invalid",
        n=label,
    )
    require(parent.subaccount_on_sale, "false: Subccount not on sale.")
    seller = ledger.account(parent.subaccount_seller)
    _pay(ledger, operation, buyer, seller, parent.subaccount_offer_price, "subaccount_offer_price")
    account = Account(name=name, last_vote_time=ledger.now, recovery_account=buyer.name)
    open_account(ledger, account, operation.account_authorities_key)
    adjust_balance(ledger, buyer, -operation.tokens_to_shares.amount)
    create_vesting(ledger, account, operation.tokens_to_shares.amount)
    ledger.emit(AccountSale(name, operation.account_offer_price, buyer.name, seller.name))


def _earliest_end(ledger: Ledger) -> int:
    """An auction does not end before this, once a bid has come (spec 02, section 14.4; spec 10, section 7.3).

    Since hardfork 15 it is the time of the head. Until then the reference reads its wall clock here, so that a node
    which replays comes to another state; ours takes the timestamp of the block which takes the bid. It matters only
    to bids in the last minutes.
    """
    clock = ledger.now if ledger.hardfork(15) else ledger.cursor.time
    return uint32(clock + ACCOUNT_AUCTION_EXTENSION_TIME)
