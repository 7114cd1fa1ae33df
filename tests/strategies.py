"""Hypothesis strategies compiled from annotations, as the codecs are: any value of any declared type.

`values_of` makes every value that bytes can stand for. `printable_values_of` leaves out those of which JSON says
less than bytes do: negative amounts, symbols that cannot be printed, releases of hardfork versions.
"""

from __future__ import annotations

from functools import cache, singledispatch
from typing import Any

from hypothesis import strategies as st

from ledgerd.codec import kind_of
from ledgerd.codec.kinds import Kind
from ledgerd.codec.types.containers import FixedArray, Optional, SortedMap, SortedSet, Vector
from ledgerd.codec.types.numbers import Boolean, Share, Signed, Unsigned, WideUnsigned
from ledgerd.codec.types.records import RecordKind
from ledgerd.codec.types.strings import ByteVector, FixedBytes, Text
from ledgerd.codec.types.variants import Variant
from ledgerd.protocol.types.assets import (
    MAX_AMOUNT,
    MAX_DECIMALS,
    MAX_SYMBOL_BYTES,
    SHARES_SYMBOL,
    TOKEN_SYMBOL,
    AmountOf,
    Asset,
)
from ledgerd.protocol.types.names import MAX_NAME_BYTES, NameKind, cut_name
from ledgerd.protocol.types.versions import HARDFORK_MASK, HardforkVersionKind

Values = st.SearchStrategy[Any]

LONGEST_TEXT = 40
LONGEST_CONTAINER = 3
"""Enough for order, duplicates and neighbours; more of the same shows nothing new."""


def values_of(annotation: Any) -> Values:
    """Any value of a type, in canonical form."""
    return _strategy(kind_of(annotation), False)


def printable_values_of(annotation: Any) -> Values:
    """Any value of a type that its JSON stands for completely."""
    return _strategy(kind_of(annotation), True)


def any_text(longest: int = LONGEST_TEXT) -> st.SearchStrategy[str]:
    """Any bytes, as texts carry them."""
    return st.binary(max_size=longest).map(lambda raw: raw.decode("utf-8", "surrogateescape"))


@cache
def _strategy(kind: Kind, printable: bool) -> Values:
    # Records may hold one another: proposals hold operations, which may be proposals.
    return st.deferred(lambda: _of(kind, printable)) if isinstance(kind, RecordKind) else _of(kind, printable)


@singledispatch
def _of(kind: Kind, printable: bool) -> Values:
    raise TypeError(f"no strategy for a {kind.title} (printable: {printable})")


@_of.register
def _unsigned(kind: Unsigned, _: bool) -> Values:
    return st.integers(0, kind.mask)


@_of.register
def _hardfork_version(kind: HardforkVersionKind, printable: bool) -> Values:
    mask = HARDFORK_MASK if printable else kind.mask
    return st.integers(0, kind.mask).map(lambda version: version & mask)


@_of.register
def _wide(_kind: WideUnsigned, _: bool) -> Values:
    return st.integers(0, (1 << 128) - 1)


@_of.register
def _signed(kind: Signed, _: bool) -> Values:
    half = 1 << (kind.bits - 1)
    return st.integers(-half, half - 1)


@_of.register
def _amount(_kind: AmountOf, printable: bool) -> Values:
    return st.integers(0, MAX_AMOUNT) if printable else _signed(Share(), printable)


@_of.register
def _boolean(_kind: Boolean, _: bool) -> Values:
    return st.booleans()


@_of.register
def _text(_kind: Text, _: bool) -> Values:
    return any_text()


@_of.register
def _name(_kind: NameKind, _: bool) -> Values:
    letters = st.text("abcdefghijklmnopqrstuvwxyz0123456789-.", max_size=MAX_NAME_BYTES)
    return st.one_of(letters, any_text()).map(cut_name)


@_of.register
def _bytes(_kind: ByteVector, _: bool) -> Values:
    return st.binary(max_size=LONGEST_TEXT)


@_of.register
def _fixed_bytes(kind: FixedBytes, _: bool) -> Values:
    return st.binary(min_size=kind.size, max_size=kind.size)


@_of.register
def _vector(kind: Vector, printable: bool) -> Values:
    return st.lists(_strategy(kind.element, printable), max_size=LONGEST_CONTAINER).map(tuple)


@_of.register
def _set(kind: SortedSet, printable: bool) -> Values:
    return _vector(kind, printable).map(kind.sort)


@_of.register
def _map(kind: SortedMap, printable: bool) -> Values:
    keys, values = _strategy(kind.key, printable), _strategy(kind.value, printable)
    return st.dictionaries(keys, values, max_size=LONGEST_CONTAINER).map(kind.sort)


@_of.register
def _array(kind: FixedArray, printable: bool) -> Values:
    return st.tuples(*[_strategy(kind.element, printable)] * kind.size)


@_of.register
def _optional(kind: Optional, printable: bool) -> Values:
    return st.none() | _strategy(kind.inner, printable)


@_of.register
def _variant(kind: Variant, printable: bool) -> Values:
    return st.one_of([_strategy(alternative, printable) for alternative in kind.kinds.values()])


@_of.register
def _record(kind: RecordKind, printable: bool) -> Values:
    if kind.record is Asset and printable:
        return _printable_assets()
    return st.builds(kind.record, *[_strategy(field.kind, printable) for field in kind.fields])


def _printable_assets() -> Values:
    names = st.text("ABCXYZabc019", max_size=MAX_SYMBOL_BYTES, min_size=1)
    odd = st.builds(_symbol, names, st.integers(0, MAX_DECIMALS - 1))
    known = st.sampled_from((TOKEN_SYMBOL, SHARES_SYMBOL))
    return st.builds(Asset, st.integers(0, MAX_AMOUNT), st.one_of(known, odd))


def _symbol(name: str, decimals: int) -> int:
    return int.from_bytes(name.encode(), "little") << 8 | decimals
