"""Assets and prices: amounts with a symbol, and their checked arithmetic (spec 01, sections 1, 2.5, 3.3). Amounts are
64-bit and checked: a sum that does not fit is an error, never a wrap. As text, `1.500 VIZ`, they are printed and
parsed as the reference does, oddities included. State objects hold those of one symbol as bare numbers.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, ClassVar

import msgspec

from ledgerd.codec.errors import ASSERTION, DecodeError
from ledgerd.codec.json.errors import JsonError
from ledgerd.codec.json.scalars import as_int64, as_string, parse_int64
from ledgerd.codec.json.text import quote, text_bytes, text_of
from ledgerd.codec.kinds import Kind
from ledgerd.codec.source import Source
from ledgerd.codec.types.numbers import Int64, Share, UInt64
from ledgerd.protocol.errors import Overflow, RuleViolation, Underflow, require

MAX_DECIMALS = 15
"""An asset has fewer decimals than this."""

MAX_SYMBOL_BYTES = 6

SHORT = 32
"""Texts of assets up to this length are remembered."""

_SPACES = " \t\n\v\f\r"
_POWERS: tuple[int, ...] = tuple(10**decimals for decimals in range(MAX_DECIMALS))


def _decimals(symbol: int) -> int:
    decimals = symbol & 0xFF
    if decimals >= MAX_DECIMALS:
        raise JsonError(ASSERTION, "result < 15: ")
    return decimals


def _name(symbol: int) -> str:
    if symbol >> 56:
        raise JsonError(ASSERTION, "a[7] == 0: ")
    return text_of(symbol_name(symbol))


@lru_cache(maxsize=256)
def _form(symbol: int) -> tuple[int, str]:
    return _decimals(symbol), f" {_name(symbol)}"


def asset_text(amount: int, symbol: int) -> str:
    decimals, ending = _form(symbol)
    if not decimals:
        return f"{amount}{ending}"
    if amount < 0:
        return _negative_text(amount, decimals, ending)
    digits = str(amount)
    if len(digits) <= decimals:
        digits = digits.zfill(decimals + 1)
    return f"{digits[:-decimals]}.{digits[-decimals:]}{ending}"


def _negative_text(amount: int, decimals: int, ending: str) -> str:
    """Cut the first digit from a power of ten plus a negative rest, as the reference does: -1500 is -1.00."""
    whole, rest = divmod(-amount, _POWERS[decimals])
    return f"{-whole}.{str(_POWERS[decimals] - rest)[1:]}{ending}"


def parse_asset_text(text: str) -> tuple[int, int]:
    """The amount and the symbol of a text. A sign is that of the whole part alone: -0.500 is +500 units."""
    try:
        return _parse_short(text) if len(text) <= SHORT else _parse(text.strip(_SPACES))
    except JsonError as error:
        raise error.under("", {"from": text}) from None


@lru_cache(maxsize=4096)
def _parse_short(text: str) -> tuple[int, int]:
    """Parse a short text. Results are remembered: zero amounts are the most frequent ones by far."""
    return _parse(text.strip(_SPACES))


def _parse(text: str) -> tuple[int, int]:
    space, dot = text.find(" "), text.find(".")
    _require(space >= 0, "space_pos != std::string::npos: ")
    if dot >= 0:
        _require(space > dot, "space_pos > dot_pos: ")
        fraction = text[dot + 1 : space]
        decimals = len(text_bytes(fraction)) & 0xFF
        _require(decimals < MAX_DECIMALS, "d < 15: ")
        power = _POWERS[decimals]
        # as_int64 wraps: the reference calculates with bare 64-bit numbers here.
        amount = as_int64(parse_int64(text[:dot]) * power + parse_int64(f"1{fraction}") - power)
    else:
        decimals, amount = 0, parse_int64(text[:space])
    name = text_bytes(text[space + 1 :])
    _require(len(name) <= MAX_SYMBOL_BYTES, "symbol_size <= 6: ")
    return amount, int.from_bytes(name, "little") << 8 | decimals


def _require(condition: bool, text: str) -> None:
    if not condition:
        raise JsonError(ASSERTION, text)


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
    return Asset(amount, TOKEN_SYMBOL)


def shares(amount: int) -> Asset:
    return Asset(amount, SHARES_SYMBOL)


def symbol_name(symbol: int) -> bytes:
    return symbol.to_bytes(8, "little")[1:].split(b"\0", 1)[0]


class Price(msgspec.Struct, frozen=True):
    """The exchange rate of two symbols, as an amount of each: both are worth the same."""

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
    # The reference multiplies unsigned 128-bit numbers: a negative amount becomes a huge one.
    worth = (amount & MAX_UINT128) * (target & MAX_UINT128) & MAX_UINT128
    worth //= source
    require(worth <= MAX_UINT64, "result.hi == 0: ")
    return worth if worth <= MAX_AMOUNT else worth - 2**64


class AmountOf(Share):
    """A 64-bit amount whose symbol is that of the field."""

    def __init__(self, symbol: int, title: str) -> None:
        super().__init__()
        self.symbol = symbol
        self.title = title

    def text(self, source: Source, value: str) -> str:
        nothing = source.bind(asset_json_text(0, self.symbol))  # what most accounts have of most
        return f"({nothing} if {value} == 0 else {source.bind(asset_json_text)}({value}, {self.symbol}))"

    def parse(self, value: object) -> int:
        amount, symbol = parse_asset_text(as_string(value))
        if symbol != self.symbol:
            raise DecodeError(f"an amount of another symbol than {self.title}")
        return amount

    def parse_quickly(self, source: Source, value: str) -> str:
        nothing = source.bind(asset_text(0, self.symbol))
        return f"(0 if {value} == {nothing} else {Kind.parse_quickly(self, source, value)})"


Tokens = Annotated[int, AmountOf(TOKEN_SYMBOL, "VIZ amount")]
"""Thousandths of a VIZ."""

Shares = Annotated[int, AmountOf(SHARES_SYMBOL, "SHARES amount")]
"""Millionths of a SHARES."""
