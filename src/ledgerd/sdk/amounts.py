"""Exact amounts of the network's two symbols, as types that can't be mixed: tokens (`Viz`) and shares (`Shares`).

Programs calculate with these; on the wire an amount is the protocol's `Asset`.
"""

from __future__ import annotations

import re
from decimal import ROUND_FLOOR, Decimal, localcontext
from typing import ClassVar, Self

from ledgerd.basics.printable import shown_text
from ledgerd.protocol.types.assets import MAX_AMOUNT, MIN_AMOUNT, SHARES_SYMBOL, TOKEN_SYMBOL, Asset, symbol_name
from ledgerd.sdk.errors import ClientError

LONGEST_AMOUNT = 64
"""Characters of a text, or digits of a number, that are read as an amount."""

_NUMBER = re.compile(r"(-?)([0-9]+)(?:\.([0-9]+))?(?: +([A-Z]+))?")


class AmountError(ClientError, ValueError):
    """What was given is no amount of the symbol: too many decimals, another symbol, or more than 64 bits hold."""


class ExactAmount:
    """An amount in the smallest units of its symbol. It can be calculated with and compared within its type alone."""

    SYMBOL: ClassVar[int]
    DECIMALS: ClassVar[int]
    NAME: ClassVar[str]

    __slots__ = ("_units",)

    def __init__(self, value: str | Decimal) -> None:
        """Make an amount of a text, `1.5` or `1.500 VIZ`, or of a `Decimal`; `from_units` is for whole numbers."""
        if isinstance(value, str):
            self._units = self._fitting(self._units_of_text(value))
        elif isinstance(value, Decimal):
            self._units = self._fitting(self._units_of_decimal(value))
        else:
            raise TypeError(
                f"{type(value).__name__} is no exact amount of {self.NAME}: give a text or a Decimal, or whole "
                f"millionths and the like to {type(self).__name__}.from_units"
            )

    @classmethod
    def from_units(cls, units: int) -> Self:
        """Make an amount of its smallest units: thousandths of a VIZ, millionths of a SHARES."""
        if not isinstance(units, int) or isinstance(units, bool):
            raise TypeError(f"units of {cls.NAME} are a whole number, not {type(units).__name__}")
        made = cls.__new__(cls)
        made._units = cls._fitting(units)  # noqa: SLF001 - of this class
        return made

    @classmethod
    def from_asset(cls, asset: Asset) -> Self:
        """Make an amount of an `Asset` of the protocol, which must have this symbol."""
        if asset.symbol != cls.SYMBOL:
            name = symbol_name(asset.symbol).decode("ascii", "replace")
            raise AmountError(f"{shown_text(name)} with {asset.symbol & 0xFF} decimals is not {cls.NAME}")
        return cls.from_units(asset.amount)

    @property
    def units(self) -> int:
        return self._units

    @property
    def asset(self) -> Asset:
        return Asset(self._units, self.SYMBOL)

    @property
    def decimal(self) -> Decimal:
        return Decimal(self._units).scaleb(-self.DECIMALS)

    @classmethod
    def _units_of_text(cls, text: str) -> int:
        found = _NUMBER.fullmatch(text.strip(" ")) if len(text) <= LONGEST_AMOUNT else None
        if found is None:
            shown = shown_text(text[:LONGEST_AMOUNT])
            raise AmountError(f"{shown} is no amount: write it as {cls.from_units(1500)}")
        sign, whole, fraction, name = found.groups(default="")
        if name not in ("", cls.NAME):
            raise AmountError(f"{text.strip()} is not in {cls.NAME}")
        if len(fraction) > cls.DECIMALS:
            raise AmountError(f"{text.strip()} has {len(fraction)} decimals, {cls.NAME} has {cls.DECIMALS}")
        return int(f"{sign}{whole}{fraction.ljust(cls.DECIMALS, '0')}")

    @classmethod
    def _units_of_decimal(cls, value: Decimal) -> int:
        if not value.is_finite() or value.adjusted() > LONGEST_AMOUNT or len(value.as_tuple().digits) > LONGEST_AMOUNT:
            raise AmountError(f"{shown_text(str(value)[:LONGEST_AMOUNT])} is no amount of {cls.NAME}")
        with localcontext(prec=3 * LONGEST_AMOUNT):
            units = value.scaleb(cls.DECIMALS)
            whole = units.to_integral_value(ROUND_FLOOR)
        if units != whole:
            raise AmountError(f"{value} has more decimals than the {cls.DECIMALS} of {cls.NAME}")
        return int(whole)

    @classmethod
    def _fitting(cls, units: int) -> int:
        if not MIN_AMOUNT <= units <= MAX_AMOUNT:
            raise AmountError(f"the amount of {cls.NAME} does not fit 64 bits")
        return units

    def __add__(self, other: Self) -> Self:
        return self.from_units(self._units + other._units) if type(other) is type(self) else NotImplemented

    def __sub__(self, other: Self) -> Self:
        return self.from_units(self._units - other._units) if type(other) is type(self) else NotImplemented

    def __mul__(self, times: int) -> Self:
        return self.from_units(self._units * times) if _is_whole(times) else NotImplemented

    __rmul__ = __mul__

    def __floordiv__(self, parts: int) -> Self:
        """The amount in so many equal parts, rounded down; `%` is what is left over."""
        return self.from_units(self._units // parts) if _is_whole(parts) else NotImplemented

    def __mod__(self, parts: int) -> Self:
        return self.from_units(self._units % parts) if _is_whole(parts) else NotImplemented

    def __neg__(self) -> Self:
        return self.from_units(-self._units)

    def __abs__(self) -> Self:
        return self.from_units(abs(self._units))

    def __bool__(self) -> bool:
        return self._units != 0

    def __eq__(self, other: object) -> bool:
        return self._units == other._units if isinstance(other, type(self)) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.SYMBOL, self._units))

    def __lt__(self, other: Self) -> bool:
        return self._units < other._units if type(other) is type(self) else NotImplemented

    def __le__(self, other: Self) -> bool:
        return self._units <= other._units if type(other) is type(self) else NotImplemented

    def __gt__(self, other: Self) -> bool:
        return self._units > other._units if type(other) is type(self) else NotImplemented

    def __ge__(self, other: Self) -> bool:
        return self._units >= other._units if type(other) is type(self) else NotImplemented

    def __str__(self) -> str:
        whole, part = divmod(abs(self._units), 10**self.DECIMALS)
        return f"{'-' if self._units < 0 else ''}{whole}.{part:0{self.DECIMALS}} {self.NAME}"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"


class Viz(ExactAmount):
    """Tokens, in thousandths."""

    SYMBOL, DECIMALS, NAME = TOKEN_SYMBOL, 3, "VIZ"

    __slots__ = ()


class Shares(ExactAmount):
    """Vested shares, in millionths."""

    SYMBOL, DECIMALS, NAME = SHARES_SYMBOL, 6, "SHARES"

    __slots__ = ()


def amount_of(asset: Asset) -> Viz | Shares:
    """The exact amount of one of the protocol."""
    return Shares.from_asset(asset) if asset.is_shares else Viz.from_asset(asset)


def _is_whole(number: object) -> bool:
    return isinstance(number, int) and not isinstance(number, bool)
