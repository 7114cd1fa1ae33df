"""Amounts of one symbol, as state objects hold them: a bare number in Python, an asset's text in JSON.

In binary they are the number alone; the symbol is the field's own.
"""

from __future__ import annotations

from typing import Annotated

from ledgerd.codec.errors import DecodeError
from ledgerd.codec.json_scalars import as_string
from ledgerd.codec.numbers import Share
from ledgerd.codec.source import Source
from ledgerd.protocol.asset_text import parse_asset_text
from ledgerd.protocol.assets import SHARES_SYMBOL, TOKEN_SYMBOL, asset_json_text


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


Tokens = Annotated[int, AmountOf(TOKEN_SYMBOL, "VIZ amount")]
"""Thousandths of a VIZ."""

Shares = Annotated[int, AmountOf(SHARES_SYMBOL, "SHARES amount")]
"""Millionths of a SHARES."""
