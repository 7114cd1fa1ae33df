"""Assets and prices: amounts with a symbol, and their checked arithmetic (spec 01, sections 1, 2.5, 3.3).

Amounts are 64-bit and checked: a sum that does not fit is an error, never a wrap.
"""

from __future__ import annotations

from typing import ClassVar

import msgspec

from ledgerd.codec.json_scalars import as_string
from ledgerd.codec.json_text import quote
from ledgerd.codec.numbers import Int64, UInt64
from ledgerd.protocol.asset_text import asset_text, parse_asset_text
from ledgerd.protocol.errors import Overflow, RuleViolation, Underflow, require

TOKEN_SYMBOL = 0x5A495603
"""`VIZ`, three decimals."""

SHARES_SYMBOL = 0x53455241485306
"""`SHARES`, six decimals."""

MAX_AMOUNT = 2**63 - 1
MIN_AMOUNT = -(2**63)
MAX_UINT64, MAX_UINT128 = 2**64 - 1, 2**128 - 1


_DIGITS = tuple(f"{number:03}" for number in range(1000))
"""Three digits from a table: printing an amount takes a third of the time."""


def fits_int64(amount: int) -> int:
    """The amount itself; `Overflow` or `Underflow` when it does not fit a signed 64-bit integer."""
    if amount > MAX_AMOUNT:
        raise Overflow("")
    if amount < MIN_AMOUNT:
        raise Underflow("")
    return amount


def asset_json_text(amount: int, symbol: int) -> str:
    if amount >= 0:
        if symbol == TOKEN_SYMBOL:
            return f'"{amount // 1000}.{_DIGITS[amount % 1000]} VIZ"'
        if symbol == SHARES_SYMBOL:
            whole, part = divmod(amount, 1_000_000)
            return f'"{whole}.{_DIGITS[part // 1000]}{_DIGITS[part % 1000]} SHARES"'
    # A symbol from the wire may hold any byte, quotes included.
    return quote(asset_text(amount, symbol))


class Asset(msgspec.Struct, frozen=True):
    """An amount of the smallest units of a symbol."""

    amount: Int64
    symbol: UInt64

    TITLE: ClassVar[str] = "asset"
    TEXT_OF_FIELDS = staticmethod(asset_json_text)

    @property
    def is_token(self) -> bool:
        return self.symbol == TOKEN_SYMBOL

    @property
    def is_shares(self) -> bool:
        return self.symbol == SHARES_SYMBOL

    def __add__(self, other: Asset) -> Asset:
        self._same_symbol(other)
        return Asset(fits_int64(self.amount + other.amount), self.symbol)

    def __sub__(self, other: Asset) -> Asset:
        self._same_symbol(other)
        return Asset(fits_int64(self.amount - other.amount), self.symbol)

    def __neg__(self) -> Asset:
        return Asset(fits_int64(-self.amount), self.symbol)

    def __lt__(self, other: Asset) -> bool:
        self._same_symbol(other)
        return self.amount < other.amount

    def __le__(self, other: Asset) -> bool:
        self._same_symbol(other)
        return self.amount <= other.amount

    def __gt__(self, other: Asset) -> bool:
        return other < self

    def __ge__(self, other: Asset) -> bool:
        return other <= self

    def _same_symbol(self, other: Asset) -> None:
        require(self.symbol == other.symbol, "a.symbol == b.symbol: ")

    def json_text(self) -> str:
        return asset_json_text(self.amount, self.symbol)

    @classmethod
    def from_json(cls, value: object) -> Asset:
        return cls(*parse_asset_text(as_string(value)))

    @classmethod
    def json_default(cls) -> Asset:
        return tokens(0)

    def __str__(self) -> str:
        return asset_text(self.amount, self.symbol)


def tokens(amount: int) -> Asset:
    """So many thousandths of a VIZ."""
    return Asset(amount, TOKEN_SYMBOL)


def shares(amount: int) -> Asset:
    """So many millionths of a SHARES."""
    return Asset(amount, SHARES_SYMBOL)


def symbol_name(symbol: int) -> bytes:
    return symbol.to_bytes(8, "little")[1:].split(b"\0", 1)[0]


class Price(msgspec.Struct, frozen=True):
    """What one amount is worth in another symbol."""

    base: Asset
    quote: Asset

    TITLE: ClassVar[str] = "price"

    def convert(self, asset: Asset) -> Asset:
        """The worth of an asset at this price; the direction follows from the symbol's letters (spec 01, section 1)."""
        symbol, base, quote = asset.symbol, self.base, self.quote
        if symbol == base.symbol or symbol_name(symbol) == symbol_name(base.symbol):
            source, target = base, quote
        elif symbol == quote.symbol or symbol_name(symbol) == symbol_name(quote.symbol):
            source, target = quote, base
        else:
            raise RuleViolation("false: invalid asset * price")
        require(source.amount > 0, "b.base.amount.value > 0: " if source is self.base else "b.quote.amount.value > 0: ")
        return Asset(worth_of(asset.amount, source.amount, target.amount), target.symbol)


def worth_of(amount: int, source: int, target: int) -> int:
    """What an amount is worth where `source` above zero is worth `target`."""
    # The reference multiplies unsigned 128-bit numbers: a negative amount becomes a huge one.
    worth = (amount & MAX_UINT128) * (target & MAX_UINT128) & MAX_UINT128
    worth //= source
    require(worth <= MAX_UINT64, "result.hi == 0: ")
    return worth if worth <= MAX_AMOUNT else worth - 2**64
