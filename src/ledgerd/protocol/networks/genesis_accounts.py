"""The initial distribution: the balances before the first block (spec 03, section 4.1; spec 06, 16.4)."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import msgspec

from ledgerd.basics.durable import read_file
from ledgerd.codec import DecodeError
from ledgerd.codec.json.legacy import parse
from ledgerd.codec.json.scalars import as_array, as_object, as_string, as_uint64
from ledgerd.protocol.constants import BUILT_IN_ACCOUNTS, INIT_SUPPLY
from ledgerd.protocol.crypto.keys import PublicKey, public_key_from_text
from ledgerd.protocol.errors import OperatorError
from ledgerd.protocol.types.names import AccountName, cut_name

NETWORKS = Path(__file__).parent


LARGEST_FILE = 16 << 20
"""Bytes of a file of accounts: a hundred thousand of them."""


class GenesisAccount(msgspec.Struct, frozen=True):
    """An account of the genesis: its key for all authorities, and the tokens that are vested for it."""

    name: AccountName
    key: PublicKey
    amount: int


@cache
def embedded_genesis(network: str) -> tuple[GenesisAccount, ...]:
    return read_genesis(NETWORKS / f"{network}-genesis.json")


def read_genesis(path: Path) -> tuple[GenesisAccount, ...]:
    """The accounts of a file in the reference's form, in which a comma too many does no harm."""
    try:
        content = read_file(path, LARGEST_FILE)
    except OSError as error:
        raise OperatorError(f"{path}: cannot be read: {error.strerror}") from error
    try:
        listed = as_object(parse(content)).get("accounts")
    except DecodeError as error:
        raise OperatorError(f"{path}: not JSON as the network reads it: {error}") from error
    return genesis_of(listed, str(path))


def genesis_of(listed: object, place: str) -> tuple[GenesisAccount, ...]:
    """The accounts of a parsed list; errors name the place where it stands."""
    try:
        entries = as_array(listed)
    except DecodeError as error:
        raise OperatorError(f"{place}: the accounts must be a list of objects") from error
    accounts = tuple(_account(entry, f"{place}: account {n}") for n, entry in enumerate(entries, start=1))
    taken = set(BUILT_IN_ACCOUNTS)
    for account in accounts:
        if account.name in taken:
            raise OperatorError(f"{place}: the account {account.name!r} stands there twice, or is built in")
        taken.add(account.name)
    total = sum(account.amount for account in accounts)
    if total > INIT_SUPPLY:
        raise OperatorError(f"{place}: {total} is distributed, and no more than {INIT_SUPPLY} can be")
    return accounts


def _account(entry: object, place: str) -> GenesisAccount:
    try:
        fields = as_object(entry)
        name = as_string(fields["login"])
        key = public_key_from_text(as_string(fields["public_key"]))
        amount = as_uint64(fields["shares_amount"])
    except KeyError as error:
        raise OperatorError(f"{place}: lacks {error}") from error
    except DecodeError as error:
        raise OperatorError(f"{place}: {error}") from error
    if not name or cut_name(name) != name:
        raise OperatorError(f"{place}: {name!r} is no name of 1 to 32 bytes")
    return GenesisAccount(AccountName(name), key, amount)
