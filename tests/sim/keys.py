"""Keys of players, which change: a client looks into the state to see with which one it has to sign."""

from __future__ import annotations

from functools import cache

from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.protocol.types.authority import Authority, authority_of
from ledgerd.protocol.types.names import AccountName
from ledgerd.state.objects.accounts.accounts import AUTHORITY_BY_ACCOUNT
from ledgerd.state.views.view import View
from tests.chain import networks

ROLES = ("master", "active", "regular")
GENERATIONS = 4
"""So many keys an account has had or may have."""
AGENT = AccountName("helper")


@cache
def key_of(name: AccountName, generation: int) -> PrivateKey:
    """The first is the one that the account was made with."""
    if generation == 0:
        return networks.key_of(name)
    return PrivateKey.from_password(name, "active", f"published {generation}")


@cache
def agent_key(name: AccountName) -> PrivateKey:
    """That of the one agent of an account."""
    return PrivateKey.from_password(name, "active", "agent")


@cache
def authority_with(name: AccountName, generation: int) -> Authority:
    """What an account says when one key of it is enough."""
    return authority_of(key_of(name, generation).public)


def generation_of(state: View, name: AccountName, role: str) -> int:
    """Which of its keys an account signs with."""
    authority = getattr(state.at(AUTHORITY_BY_ACCOUNT, name), role)
    return next(number for number in range(GENERATIONS) if authority_with(name, number) == authority)
