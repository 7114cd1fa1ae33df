"""Keys and accounts that once could sign for an account (spec 07, section 10.18; spec 10, section 6)."""

from __future__ import annotations

from enum import IntEnum

from ledgerd.codec.numbers import UInt8, UInt16, UInt32
from ledgerd.protocol.keys import KEY_SIZE, NULL_KEY, PublicKey
from ledgerd.protocol.names import NO_NAME, AccountName
from ledgerd.protocol.times import Time
from ledgerd.state.keys import NAME_TEXT, OWN_ID, UINT8, fixed_bytes
from ledgerd.state.tables import Entity, Table, unique


class Role(IntEnum):
    """What a key is for."""

    MASTER = 0
    ACTIVE = 1
    REGULAR = 2
    MEMO = 3


class KeyHistory(Entity):
    """A member of an authority until this block: a key or an account, or neither where there was none."""

    account: AccountName = NO_NAME
    role: UInt8 = Role.MASTER
    key: PublicKey = NULL_KEY
    auth_account: AccountName = NO_NAME
    weight: UInt16 = 0
    weight_threshold: UInt32 = 0
    valid_until_block: UInt32 = 0
    valid_until_time: Time = 0


KEY_HISTORY = Table(KeyHistory, number=49)
KEY_HISTORY_BY_ROLE = unique(
    KEY_HISTORY,
    "by_account_role",
    lambda entry: (entry.account, entry.role, entry.id),
    (NAME_TEXT, UINT8, OWN_ID),
)
KEY_HISTORY_BY_KEY = unique(KEY_HISTORY, "by_key", lambda entry: (entry.key, entry.id), (fixed_bytes(KEY_SIZE), OWN_ID))
