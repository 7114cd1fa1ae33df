"""Accounts of a chain in a test, with their keys, which everybody may know."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ledgerd.node.dev.founding import AGENTS, CREATION_FEE, DELEGATION, ORACLE_ACCOUNT, dev_accounts
from ledgerd.protocol.constants import INITIATOR_ACCOUNT
from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.protocol.networks.parameters import TESTNET
from ledgerd.protocol.operations.accounts.accounts import AccountCreate
from ledgerd.protocol.operations.base import Operation
from ledgerd.protocol.operations.money.transfers import Transfer, TransferToVesting
from ledgerd.protocol.types.assets import Asset
from ledgerd.protocol.types.authority import authority_of
from ledgerd.protocol.types.names import NO_NAME, AccountName

PASSWORD = "ledgerd testing"  # noqa: S105 - these keys are worth nothing anywhere


class KeyedAccount(str):
    """An account: its name, wherever a name is wanted, with its private keys as WIF texts.

    They are no part of its `repr`, so no report of a test shows them.
    """

    __slots__ = ("active", "master", "memo", "regular")

    master: str
    active: str
    regular: str
    memo: str

    @classmethod
    def of(cls, name: str, master: str, active: str, regular: str, memo: str) -> KeyedAccount:
        account = cls(name)
        account.master, account.active, account.regular, account.memo = master, active, regular, memo
        return account

    @classmethod
    def with_password(cls, name: str) -> KeyedAccount:
        """An account with a key for each role; in every run the same."""
        keys = (PrivateKey.from_password(name, role, PASSWORD).wif for role in ("master", "active", "regular", "memo"))
        return cls.of(name, *keys)


class KnownAccounts(Mapping[str, KeyedAccount]):
    """The accounts whose keys are known, by name; those of the chain's first block, and what a test has made."""

    def __init__(self, known: Mapping[str, KeyedAccount]) -> None:
        self._known = dict(known)

    def __getitem__(self, name: str) -> KeyedAccount:
        return self._known[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)

    def copy(self) -> KnownAccounts:
        return KnownAccounts(self._known)

    def add(self, account: KeyedAccount) -> None:
        self._known[account] = account


def first_accounts() -> KnownAccounts:
    """The accounts of every new development chain."""
    founders = (*dev_accounts(TESTNET), ORACLE_ACCOUNT)
    return KnownAccounts({str(each.name): KeyedAccount.of(each.name, *[each.key] * 4) for each in founders})


def agent_keys() -> dict[str, str]:
    """The private keys of the agents that the chain begins with, by their names."""
    return {str(each.name): each.key.wif for each in AGENTS}


def creation(account: KeyedAccount, balance: str, stake: str) -> tuple[Operation, ...]:
    """The operations that make an account, and give it tokens and shares."""
    name = AccountName(account)
    keys = (account.master, account.active, account.regular, account.memo)
    master, active, regular, memo = (PrivateKey.from_wif(key).public for key in keys)
    rights = authority_of(master), authority_of(active), authority_of(regular)
    made = AccountCreate(CREATION_FEE, DELEGATION, INITIATOR_ACCOUNT, name, *rights, memo, "", NO_NAME, ())
    tokens, staked = Asset.from_json(balance), Asset.from_json(stake)
    gifts: list[Operation] = []
    if tokens.amount:
        gifts.append(Transfer(INITIATOR_ACCOUNT, name, tokens, ""))
    if staked.amount:
        gifts.append(TransferToVesting(INITIATOR_ACCOUNT, name, staked))
    return (made, *gifts)
