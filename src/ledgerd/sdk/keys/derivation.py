"""The keys that wallets of this network make of an account's password, and new ones of chance."""

from __future__ import annotations

import secrets
from collections.abc import Iterable

from ledgerd.protocol.crypto.keys import PrivateKey

ROLES = ("master", "active", "regular", "memo")
"""The roles of the keys that are made of an account's password."""


def password_keys(account: str, password: str, roles: Iterable[str] = ROLES) -> dict[str, PrivateKey]:
    """The keys of a password, by role. A password can't be checked: a mistyped one makes keys that no account has."""
    wanted = tuple(roles)
    if not wanted or not set(wanted) <= set(ROLES):
        raise ValueError(f"a role is one of {', '.join(ROLES)}")
    return {role: PrivateKey.from_password(account, role, password) for role in wanted}


def new_key() -> PrivateKey:
    """A key that nobody else has."""
    return PrivateKey(secrets.token_bytes(32))
