"""A state of many accounts, written past the rules: what costs grow with is looked at with it."""

from __future__ import annotations

from ledgerd.chain.chain import Chain
from ledgerd.protocol.types.authority import authority_of
from ledgerd.protocol.types.names import AccountName
from ledgerd.state import Store
from ledgerd.state.objects.accounts.accounts import (
    ACCOUNT_AUTHORITIES,
    ACCOUNT_METADATA,
    ACCOUNTS,
    Account,
    AccountAuthority,
    AccountMetadata,
)
from tests.chain.networks import VIZ_KEY, Network

ACCOUNTS_A_COMMIT = 20_000


def populate(network: Network, count: int) -> None:
    """Accounts by the thousand, as if they had been created long ago."""
    populate_store(network.chain.parts.store, count)


def populate_chain(chain: Chain, count: int) -> None:
    """The same, with their tokens in the supply, as an import demands."""
    store, facts = chain.parts.store, chain.globals
    populate_store(store, count)
    with store.editing(facts):
        facts.current_supply += count
    store.commit()


def populate_store(store: Store, count: int) -> None:
    """The same, in any state."""
    authority = authority_of(VIZ_KEY.public)
    for number in range(count):
        name = AccountName(f"member-{number}")
        store.create(ACCOUNTS, Account(name=name, memo_key=VIZ_KEY.public, balance=1, created=1))
        store.create(
            ACCOUNT_AUTHORITIES,
            AccountAuthority(account=name, master=authority, active=authority, regular=authority),
        )
        store.create(ACCOUNT_METADATA, AccountMetadata(account=name))
        if number % ACCOUNTS_A_COMMIT == ACCOUNTS_A_COMMIT - 1:
            store.commit()
    store.commit()
