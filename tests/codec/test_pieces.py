"""Texts of some fields straight from the bytes of a record are those that the record prints."""

from __future__ import annotations

import json
from typing import Annotated, Any

import msgspec
import pytest
from hypothesis import example, given

from ledgerd.codec import DecodeError, array_of, codec_of, record_kind, sorted_by
from ledgerd.codec.kinds import Reading
from ledgerd.codec.partial import pieces_of
from ledgerd.codec.types.numbers import Int64, ShareAmount, UInt8, UInt64
from ledgerd.state.objects.accounts.accounts import Account, AccountAuthority
from tests.strategies import printable_values_of


class Shop(msgspec.Struct, frozen=True):
    """Fields of fixed size and others by turns; from `price` to `is_closed` most shops have the defaults."""

    number: UInt64
    size: UInt8
    owner: str
    price: Int64
    seller: str
    is_closed: bool
    shares: Annotated[dict[UInt8, ShareAmount], sorted_by(lambda key: key)]
    rank: UInt8
    prices: Annotated[tuple[ShareAmount, ...], array_of(3)]


RUNS = (("owner", "size", "prices", "rank"), ("seller", "price", "is_closed", "shares"), ("number",))
GROUPS = (("price", "is_closed"), ("rank", "prices"))
pieces = pieces_of(record_kind(Shop), ("number",), [{name: name for name in run} for run in RUNS], GROUPS)


def run_of(record: msgspec.Struct, names: tuple[str, ...]) -> str:
    """The fields as the record itself prints them, one after the other."""
    printed = codec_of(type(record)).to_json(record)
    members: dict[str, Any] = {}
    place, decoder = 1, json.JSONDecoder()
    while printed[place] != "}":
        name, place = decoder.raw_decode(printed, place)
        _, end = decoder.raw_decode(printed, place + 1)
        members[name] = printed[place + 1 : end]
        place = end + (printed[end] == ",")
    return ",".join(f'"{name}":{members[name]}' for name in names)


@given(printable_values_of(Shop))
@example(Shop(1, 2, "me", 0, "", False, {}, 0, (0, 0, 0)))
@example(Shop(1, 2, "me", 0, "", True, {1: 1 << 40, 2: -1}, 3, (1, -1, 1 << 40)))
def test_each_run_is_what_the_record_prints(shop: Shop) -> None:
    packed = codec_of(Shop).encode(shop)
    assert pieces(packed, 0, Reading()) == (shop.number, *[run_of(shop, run) for run in RUNS])


@given(printable_values_of(AccountAuthority))
def test_authorities_of_no_one_and_many_members_are_what_their_row_prints(row: AccountAuthority) -> None:
    names = ("master", "regular", "last_master_update")
    shown = pieces_of(record_kind(AccountAuthority), (), [{name: name for name in names}])
    assert shown(codec_of(AccountAuthority).encode(row), 0, Reading()) == (run_of(row, names),)


@given(printable_values_of(Account))
@example(Account())
def test_an_account_is_what_its_row_prints(row: Account) -> None:
    names = tuple(Account.__struct_fields__)
    groups = (("withdrawn", "proxied_vsf_votes"), ("account_seller", "pm_leverage_collateral"))
    shown = pieces_of(record_kind(Account), ("id",), [{name: name for name in names}], groups)
    assert shown(codec_of(Account).encode(row), 0, Reading()) == (row.id, run_of(row, names))


def test_bytes_that_end_too_early_are_refused() -> None:
    packed = codec_of(Shop).encode(Shop(1, 2, "me", 0, "", True, {1: 2}, 3, (1, 2, 3)))
    for length in range(len(packed)):
        with pytest.raises(DecodeError):
            pieces(packed[:length], 0, Reading())
