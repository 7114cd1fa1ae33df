"""What all sales of accounts share: returning bids, ending sales (spec 02, section 4.14)."""

from __future__ import annotations

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.accounts.authorities import hand_over, wipe_agents
from ledgerd.chain.rules.accounts.key_history import held_keys, record_changes
from ledgerd.protocol.crypto.keys import NULL_KEY, PublicKey
from ledgerd.protocol.operations.virtual import Outbid
from ledgerd.protocol.types.assets import fits_int64, tokens
from ledgerd.protocol.types.names import NO_NAME, AccountName
from ledgerd.state.objects.accounts.accounts import Account


def reserve_bid(ledger: Ledger, bidder: Account, bid: int) -> None:
    """Set a bid aside. That the bidder has as much is not asked (spec 02, section 14.4, quirk)."""
    ledger.remember(bidder)
    bidder.reserved_balance = fits_int64(bidder.reserved_balance + bid)
    bidder.balance = fits_int64(bidder.balance - bid)


def return_bid(ledger: Ledger, account: Account) -> None:
    bidder, bid = ledger.account(account.current_bidder), account.current_bid
    reserve_bid(ledger, bidder, -bid)
    ledger.emit(Outbid(account=account.name, bidder=bidder.name, bid=tokens(bid)))


def clear_auction(ledger: Ledger, account: Account) -> None:
    with ledger.editing(account):
        account.account_on_auction = False
        account.current_bid = 0
        account.current_bidder = NO_NAME
        account.current_bidder_key = NULL_KEY
        account.last_bid = 0


def close_offer(ledger: Ledger, account: Account) -> None:
    """Take an account off sale; its seller stays, as the sign that the fee is paid."""
    with ledger.editing(account):
        account.account_on_sale = False
        account.account_offer_price = 0
        account.account_on_sale_start_time = 0


def give_to_buyer(ledger: Ledger, account: Account, buyer: AccountName, key: PublicKey) -> None:
    """Nothing of the account is for sale any more, its agents go, and the buyer's key is its only one."""
    before = held_keys(ledger, account.name)
    with ledger.editing(account):
        account.account_seller = NO_NAME
        account.account_on_sale = False
        account.account_offer_price = 0
        if ledger.hardfork(9):
            account.account_on_sale_start_time = 0
        account.subaccount_seller = NO_NAME
        account.subaccount_offer_price = 0
        account.subaccount_on_sale = False
        account.memo_key = key
        account.recovery_account = buyer
        account.last_account_update = ledger.now
    hand_over(ledger, account.name, key)
    wipe_agents(ledger, account.name)
    record_changes(ledger, account.name, before)
