"""Accounts that a transfer to `anonymous` makes for the key in its memo (spec 02, section 7.1)."""

from __future__ import annotations

from typing import NamedTuple

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.accounts.metadata import store_metadata
from ledgerd.chain.rules.accounts.new_accounts import open_account
from ledgerd.chain.rules.money.balances import adjust_balance
from ledgerd.chain.rules.money.vesting import create_vesting
from ledgerd.codec.errors import OUT_OF_RANGE, PARSE_ERROR, DecodeError
from ledgerd.protocol.assets import tokens
from ledgerd.protocol.constants import ANONYMOUS_ACCOUNT
from ledgerd.protocol.errors import RuleViolation, require
from ledgerd.protocol.keys import PublicKey, public_key_from_text
from ledgerd.protocol.names import AccountName, cut_name, is_valid_domain, is_valid_name
from ledgerd.state.objects.accounts import METADATA_BY_ACCOUNT, Account

WHITESPACE = " \t\n\v\f\r"


class UnreadableKey(RuleViolation):
    """A text that is no public key."""

    def __init__(self, error: DecodeError) -> None:
        super().__init__(error.text)
        self.code, self.name, self.what = _KINDS.get(error.code, (self.code, self.name, self.what))


_KINDS = {
    PARSE_ERROR: (PARSE_ERROR, "parse_error_exception", "Parse Error"),
    OUT_OF_RANGE: (OUT_OF_RANGE, "out_of_range_exception", "Out of Range"),
}


class Wish(NamedTuple):
    """The account that a memo asks for."""

    name: AccountName
    key: PublicKey
    is_valid: bool


def receive_anonymously(ledger: Ledger, amount: int, memo: str) -> None:
    """Turn tokens that `anonymous` has just received into a new account's shares.

    Without a memo they stay where they are, and are burned at the end of the block.
    """
    fee = ledger.median.account_creation_fee
    require(
        amount >= fee.amount,
        "o.amount >= median_props.account_creation_fee: Inssufficient amount ${f} required, ${p} provided.",
        f=str(fee),
        p=str(tokens(amount)),
    )
    if not memo:
        return
    wish = _wish(ledger, memo)
    account = Account(name=wish.name, last_vote_time=ledger.now, valid=wish.is_valid)
    open_account(ledger, account, wish.key)
    adjust_balance(ledger, ledger.account(ANONYMOUS_ACCOUNT), -amount)
    create_vesting(ledger, account, amount)


def _wish(ledger: Ledger, memo: str) -> Wish:
    """Parse the memo: since hardfork 6 it may name the account before a colon; the key alone gets the next number."""
    login, colon, key = memo.strip(WHITESPACE).partition(":")
    if colon and ledger.hardfork(6):
        return _named(ledger, login, key)
    return Wish(name=_next_name(ledger), key=_key_of(memo), is_valid=True)


def _named(ledger: Ledger, login: str, key: str) -> Wish:
    name = cut_name(login)
    require(ledger.find_account(name) is None, 'acc == nullptr: Account login "${a}" must be free.', a=login)
    in_domain, is_valid = is_valid_domain(login, ANONYMOUS_ACCOUNT), is_valid_name(login)
    if ledger.hardfork(7):
        require(
            in_domain,
            "is_valid_domain_name( login_part, CHAIN_ANONYMOUS_ACCOUNT ): "
            "Domain name ${n} is invalid, creator name ${c}",
            n=login,
            c=ANONYMOUS_ACCOUNT,
        )
        require(is_valid, "is_valid_account_name( login_part ): Account name ${n} is invalid", n=login)
    # Hardfork 6 alone lets bad names in, marked; hardfork 7 removes them.
    return Wish(name, _key_of(key), in_domain and is_valid)


def _next_name(ledger: Ledger) -> AccountName:
    """The metadata of `anonymous` is the number of the last account; nobody but the chain can write it."""
    number = int(ledger.store.at(METADATA_BY_ACCOUNT, ANONYMOUS_ACCOUNT).json_metadata) + 1
    store_metadata(ledger, ANONYMOUS_ACCOUNT, str(number))
    return cut_name(f"n{number}.{ANONYMOUS_ACCOUNT}")


def _key_of(text: str) -> PublicKey:
    try:
        return public_key_from_text(text)
    except DecodeError as error:
        raise UnreadableKey(error) from error
