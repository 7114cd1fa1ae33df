"""Accounts that are made for whoever holds a key, and paid for by somebody else (spec 02, sections 7.1, 12 and 14.4).
Those that a creator describes in full are in `evaluators.accounts`.
"""

from __future__ import annotations

from typing import NamedTuple

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.rules.money.balances import adjust_balance, create_vesting
from ledgerd.codec.errors import OUT_OF_RANGE, PARSE_ERROR, DecodeError
from ledgerd.protocol.constants import ANONYMOUS_ACCOUNT
from ledgerd.protocol.crypto.keys import PublicKey, public_key_from_text
from ledgerd.protocol.errors import RuleViolation, require
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.authority import authority_of
from ledgerd.protocol.types.names import AccountName, cut_name, is_valid_domain, is_valid_name
from ledgerd.state.objects.accounts import accounts


def store_metadata(ledger: Ledger, name: AccountName, text: str) -> None:
    metadata = ledger.store.lookup(accounts.METADATA_BY_ACCOUNT, name)
    if metadata is None:
        ledger.store.create(accounts.ACCOUNT_METADATA, accounts.AccountMetadata(account=name, json_metadata=text))
        return
    ledger.remember(metadata)
    metadata.json_metadata = text


def open_account(ledger: Ledger, account: accounts.Account, key: PublicKey) -> None:
    """Take in an account whose one key is its memo key and all its authorities, with empty metadata."""
    account.memo_key = key
    account.created = ledger.now
    ledger.store.create(accounts.ACCOUNTS, account)
    authority = authority_of(key)
    ledger.store.create(
        accounts.ACCOUNT_AUTHORITIES,
        accounts.AccountAuthority(account=account.name, master=authority, active=authority, regular=authority),
    )
    ledger.store.create(accounts.ACCOUNT_METADATA, accounts.AccountMetadata(account=account.name))


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
    """Without a memo they stay where they are, and are burned at the end of the block."""
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
    account = accounts.Account(name=wish.name, last_vote_time=ledger.now, valid=wish.is_valid)
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
    number = int(ledger.store.at(accounts.METADATA_BY_ACCOUNT, ANONYMOUS_ACCOUNT).json_metadata) + 1
    store_metadata(ledger, ANONYMOUS_ACCOUNT, str(number))
    return cut_name(f"n{number}.{ANONYMOUS_ACCOUNT}")


def _key_of(text: str) -> PublicKey:
    try:
        return public_key_from_text(text)
    except DecodeError as error:
        raise UnreadableKey(error) from error
