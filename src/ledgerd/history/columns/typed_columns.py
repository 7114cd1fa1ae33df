"""The columns that are made of the fields of operations: who acts, from whom, to whom, how much, and the memo.
PostgreSQL holds neither a NUL nor bytes that are not UTF-8, so texts and names are mended.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from functools import cache, lru_cache
from operator import attrgetter
from typing import Any, NamedTuple

from ledgerd.codec import record_kind
from ledgerd.codec.errors import CodecError
from ledgerd.codec.types.records import Field
from ledgerd.codec.types.strings import Text
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.roles import Meaning, Role, VoteOn, amount_field, field_marked
from ledgerd.protocol.operations.touched import actor_of
from ledgerd.protocol.types.assets import Asset, symbol_name
from ledgerd.protocol.types.names import AccountName, NameKind

REPLACEMENT = "\ufffd"

_UNHOLDABLE = re.compile("[\x00\ud800-\udfff]")
_NUL_IN_JSON = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")
_ESCAPED_IN_NAMES = re.compile("[%\x00\ud800-\udfff]")


class TypedColumns(NamedTuple):
    """The columns of one operation that are made from its fields."""

    who: str | None
    sender: str | None
    recipient: str | None
    amount: Decimal | None
    symbol: str | None
    memo: str | None
    body: str
    is_mended: bool


class _Shape(NamedTuple):
    """Which fields of a kind of operation go into which columns."""

    who: Callable[[Operation], AccountName | None]
    sender: Callable[[Operation], str] | None
    recipient: Callable[[Operation], str] | None
    amount: Callable[[Operation], Asset | None] | None
    memo: Callable[[Operation], str] | None


@cache
def _shape_of(kind: type[Operation]) -> _Shape:
    actor = actor_of(kind)
    who = attrgetter(actor) if actor else (lambda _: None) if kind.VIRTUAL else _first_who_agrees
    marked = (field_marked(kind, mark) for mark in (Role.SENDER, Role.RECIPIENT))
    columns = (*marked, amount_field(kind), field_marked(kind, Meaning.MEMO))
    return _Shape(who, *(attrgetter(field.attribute) if field else None for field in columns))


def _first_who_agrees(operation: Operation) -> AccountName | None:
    return next(iter(operation.authorities().names), None)


def typed_columns(operation: Operation) -> TypedColumns:
    """The columns of an operation. What cannot be printed as JSON is null in `body`."""
    shape, kind = _shape_of(type(operation)), record_kind(type(operation))
    try:
        body, is_mended = mended_json(kind.printer(operation))
    except CodecError:
        body, is_mended = "null", True
    memo, odd_memo = (None, False) if shape.memo is None else mended(shape.memo(operation))
    asset = None if shape.amount is None else shape.amount(operation)
    amount, symbol = (None, None) if asset is None else amount_of(asset)
    return TypedColumns(
        _name(shape.who(operation)),
        None if shape.sender is None else _name(shape.sender(operation)),
        None if shape.recipient is None else _name(shape.recipient(operation)),
        amount,
        symbol,
        memo,
        body,
        is_mended or odd_memo,
    )


def _name(name: str | None) -> str | None:
    return name_text(name) if name else None


def amount_of(asset: Asset) -> tuple[Decimal, str]:
    exponent, symbol = _symbol(asset.symbol)
    return Decimal(asset.amount).scaleb(exponent), symbol


def units_of(amount: Decimal, symbol: int) -> int:
    return int(amount.scaleb(-_symbol(symbol)[0]))


@lru_cache(256)
def _symbol(symbol: int) -> tuple[int, str]:
    return -(symbol & 0xFF), mended(symbol_name(symbol).decode("utf-8", "surrogateescape"))[0]


class CastVote(NamedTuple):
    """A vote of an account."""

    voter: str
    kind: str
    target: str
    weight: int


_Ballot = tuple[str, list[Callable[[Operation], str]], Callable[[Operation], Any]]


@cache
def _ballot_of(kind: type[Operation]) -> _Ballot | None:
    on = [(field, mark.kind) for field in record_kind(kind).fields for mark in field.marks if isinstance(mark, VoteOn)]
    weight = field_marked(kind, Meaning.WEIGHT)
    return (on[0][1], [_text_of(field) for field, _ in on], attrgetter(weight.attribute)) if on and weight else None


def _text_of(field: Field) -> Callable[[Operation], str]:
    value_of = attrgetter(field.attribute)
    if isinstance(field.kind, NameKind):
        return lambda operation: name_text(value_of(operation))
    if isinstance(field.kind, Text):
        return lambda operation: mended(value_of(operation))[0]
    return lambda operation: str(value_of(operation))


def vote_of(operation: Operation) -> CastVote | None:
    ballot = _ballot_of(type(operation))
    if ballot is None:
        return None
    kind, parts, weight_of = ballot
    weight, target = weight_of(operation), "/".join([text_of(operation) for text_of in parts])
    voter = name_text(operation.authorities().names[0])
    return CastVote(voter, kind, target, int(weight if isinstance(weight, int) else bool(weight)))


def mended(text: str) -> tuple[str, bool]:
    """A text with U+FFFD for each NUL and each byte that is not UTF-8, and whether there was one."""
    if text.isascii() and "\0" not in text:
        return text, False
    return _mended(_UNHOLDABLE, REPLACEMENT, text)


def mended_json(text: str) -> tuple[str, bool]:
    changed = False
    if "\\u0000" in text:
        text, changed = _mended(_NUL_IN_JSON, rf"\1{REPLACEMENT}", text)
    if text.isascii():
        return text, changed
    text, odd = _mended(_UNHOLDABLE, REPLACEMENT, text)
    return text, changed or odd


def _mended(odd: re.Pattern[str], instead: str, text: str) -> tuple[str, bool]:
    found, count = odd.subn(instead, text)
    return found, count > 0


@lru_cache(1 << 16)
def name_text(name: str) -> str:
    """A name as a key: one that is not UTF-8 differs from every other all the same, as in `%FF`."""
    return _ESCAPED_IN_NAMES.sub(_escaped, name)


def _escaped(found: re.Match[str]) -> str:
    return "".join(f"%{byte:02X}" for byte in found[0].encode("utf-8", "surrogateescape"))
