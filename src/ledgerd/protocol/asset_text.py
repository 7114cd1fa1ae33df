"""Assets as text, `1.500 VIZ`: printed and parsed as the reference does, oddities included (spec 01, 3.3).

A symbol is here the number of its eight bytes: decimals, six bytes of text, and a zero (spec 01, 2.5).
"""

from __future__ import annotations

from functools import lru_cache

from ledgerd.codec.errors import ASSERTION
from ledgerd.codec.json_errors import JsonError
from ledgerd.codec.json_scalars import as_int64, parse_int64

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
    raw = symbol.to_bytes(8, "little")
    if raw[7]:
        raise JsonError(ASSERTION, "a[7] == 0: ")
    return raw[1:].partition(b"\0")[0].decode("utf-8", "surrogateescape")


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
    """Nothing of each kind is what most assets are."""
    return _parse(text.strip(_SPACES))


def _parse(text: str) -> tuple[int, int]:
    space, dot = text.find(" "), text.find(".")
    _require(space >= 0, "space_pos != std::string::npos: ")
    if dot >= 0:
        _require(space > dot, "space_pos > dot_pos: ")
        fraction = text[dot + 1 : space]
        decimals = len(_raw(fraction)) & 0xFF
        _require(decimals < MAX_DECIMALS, "d < 15: ")
        power = _POWERS[decimals]
        # as_int64 wraps: the reference calculates with bare 64-bit numbers here.
        amount = as_int64(parse_int64(text[:dot]) * power + parse_int64(f"1{fraction}") - power)
    else:
        decimals, amount = 0, parse_int64(text[:space])
    name = _raw(text[space + 1 :])
    _require(len(name) <= MAX_SYMBOL_BYTES, "symbol_size <= 6: ")
    return amount, int.from_bytes(name, "little") << 8 | decimals


def _raw(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _require(condition: bool, text: str) -> None:
    if not condition:
        raise JsonError(ASSERTION, text)
