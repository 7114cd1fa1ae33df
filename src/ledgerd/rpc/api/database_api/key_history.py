"""Keys and accounts that once could sign for an account (spec 10, sections 10.2 and 10.3)."""

from __future__ import annotations

from collections.abc import Iterable
from heapq import merge
from itertools import islice
from operator import attrgetter
from typing import Annotated

import msgspec

from ledgerd.codec.types.numbers import UInt16, UInt32, UInt64
from ledgerd.protocol.crypto.keys import PublicKey
from ledgerd.protocol.errors import require
from ledgerd.protocol.types.names import AccountName
from ledgerd.protocol.types.times import Time
from ledgerd.rpc.api.database_api.declared import DATABASE_API
from ledgerd.rpc.api.shared.kinds import EnumKind, record_of
from ledgerd.rpc.call.counts import exactly
from ledgerd.rpc.call.view import ApiView
from ledgerd.state.objects.accounts.accounts import KEY_HISTORY_BY_KEY, KEY_HISTORY_BY_ROLE, KeyHistory, Role
from ledgerd.state.tables.tables import ObjectId

MOST_ENTRIES = 1000
"""Entries of one answer."""

FIRST_NEGATIVE = 1 << 63
"""The reference compares ids as signed numbers: from here on, `from` is below all ids."""


class FormerKey(msgspec.Struct, frozen=True):
    """A member of an authority until a block. Without a key and an account, it says that there was no member.

    The form follows the reference's documentation and is unproven: its declaration could not be had.
    """

    id: ObjectId
    account: AccountName
    role: Annotated[Role, EnumKind(Role, "graphene::plugins::database_api::key_role")]
    key: PublicKey
    auth_account: AccountName
    weight: UInt16
    weight_threshold: UInt32
    valid_until_block: UInt32
    valid_until_time: Time


@DATABASE_API.method(args=exactly(3), examples=[["alice", 0, 10]])
def get_key_history(view: ApiView, account: AccountName, start: UInt64, limit: UInt32) -> tuple[FormerKey, ...]:
    """Former keys of an account from an id on; the next page starts at the last id + 1.

    How rows are printed is unproven.
    """
    _require_limit(limit)
    first = 0 if start >= FIRST_NEGATIVE else start
    by_role = (
        view.state.scan(KEY_HISTORY_BY_ROLE, lower=(account, role, first), upper=(account, role)) for role in Role
    )
    return _records(islice(merge(*by_role, key=attrgetter("id")), limit))


@DATABASE_API.method(args=exactly(2), examples=[["VIZ6MyX5QiXAXRZk7SYCiqpi6Mtm8UbHWDFSV8HPpt7FJyahCnc2T", 10]])
def get_key_history_by_key(view: ApiView, key: PublicKey, limit: UInt32) -> tuple[FormerKey, ...]:
    """Where a key was once a member of an authority, the oldest first. How rows are printed is unproven."""
    _require_limit(limit)
    return _records(islice(view.state.under(KEY_HISTORY_BY_KEY, key), limit))


def _require_limit(limit: int) -> None:
    require(limit <= MOST_ENTRIES, f"limit <= {MOST_ENTRIES}: limit must be <= {MOST_ENTRIES}")


def _records(rows: Iterable[KeyHistory]) -> tuple[FormerKey, ...]:
    return tuple(record_of(FormerKey, row, role=Role(row.role)) for row in rows)
