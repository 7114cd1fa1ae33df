"""Times of the chain: whole seconds since 1970 in 32 bits (spec 01, sections 1 and 3.4)."""

from __future__ import annotations

from typing import Annotated

from ledgerd.codec.json.scalars import as_string
from ledgerd.codec.kinds import Kind
from ledgerd.codec.source import Source
from ledgerd.codec.types.numbers import Unsigned
from ledgerd.protocol.types.time_text import parse_time_text, time_text


class TimeKind(Unsigned):
    """Seconds on the wire, a calendar text in JSON."""

    def __init__(self) -> None:
        super().__init__(32, "time")

    def text(self, source: Source, value: str) -> str:
        """`"2018-09-29T10:23:27"`."""
        never = source.bind(f'"{time_text(0)}"')
        return f"({never} if {value} == 0 else f'\"{{{source.bind(time_text)}({value})}}\"')"

    def parse(self, value: object) -> int:
        """The calendar text."""
        return parse_time_text(as_string(value))

    def parse_quickly(self, source: Source, value: str) -> str:
        never = source.bind(time_text(0))
        return f"(0 if {value} == {never} else {Kind.parse_quickly(self, source, value)})"


Time = Annotated[int, TimeKind()]

LATEST = 0xFFFFFFFF
"""The largest time: never."""
