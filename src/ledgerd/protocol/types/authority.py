"""Authorities: who must sign, as weights of accounts and keys that have to reach a threshold (spec 01, section 2.6)."""

from __future__ import annotations

from typing import Annotated, ClassVar

import msgspec

from ledgerd.codec import sorted_by
from ledgerd.codec.types.numbers import UInt16, UInt32
from ledgerd.protocol.crypto.keys import PublicKey
from ledgerd.protocol.errors import RuleViolation, require
from ledgerd.protocol.types.names import AccountName, is_valid_name, text_order


def key_order(key: bytes) -> bytes:
    return key


class Authority(msgspec.Struct, frozen=True):
    """A threshold, and the accounts and keys whose weights count towards it."""

    weight_threshold: UInt32
    account_auths: Annotated[dict[AccountName, UInt16], sorted_by(text_order)]
    key_auths: Annotated[dict[PublicKey, UInt16], sorted_by(key_order)]

    TITLE: ClassVar[str] = "authority"

    def check(self) -> None:
        """Only the names of its accounts are checked, not weights, keys or threshold (spec 01, section 6)."""
        for account in self.account_auths:
            require(is_valid_name(account), "is_valid_account_name(item.first): ")

    @property
    def is_impossible(self) -> bool:
        return sum(self.account_auths.values()) + sum(self.key_auths.values()) < self.weight_threshold


def authority_of(key: PublicKey) -> Authority:
    return Authority(1, {}, {key: 1})


def require_valid_name(*names: str) -> None:
    """The check that comes first for every account name in an operation, one name after the other."""
    for name in names:
        if not is_valid_name(name):
            raise RuleViolation("is_valid_account_name(name): Account name ${n} is invalid", n=name)
