"""Arrays that the reference shows as the bytes of its memory: hex in JSON, tuples here (spec 03, section 27.2)."""

from __future__ import annotations

import struct
from typing import Annotated

from ledgerd.codec.errors import DecodeError
from ledgerd.codec.kinds import Kind
from ledgerd.codec.source import Source
from ledgerd.codec.types.containers import FixedArray, Vector
from ledgerd.codec.types.numbers import Boolean, Share
from ledgerd.codec.types.strings import hex_bytes
from ledgerd.protocol.types.names import MAX_NAME_BYTES, NAME_KIND, AccountName, name_of_bytes

PROXY_DEPTH = 4
"""The most hops over which votes are passed on to a proxy."""

TIME_CLASSES = 8
"""The number of classes into which an oracle's times until its decisions are divided."""


def _hex_of_shares(amounts: tuple[int, ...]) -> str:
    return f'"{struct.pack(f"<{len(amounts)}q", *amounts).hex()}"'


def _hex_of_names(names: tuple[str, ...]) -> str:
    raw = [name.encode("utf-8", "surrogateescape").ljust(MAX_NAME_BYTES, b"\0") for name in names]
    return f'"{b"".join(raw).hex()}"'


def _hex_of_flags(flags: tuple[bool, ...]) -> str:
    return f'"{bytes(flags).hex()}"'


class SharesInMemory(FixedArray):
    """Amounts, a set number of them."""

    def __init__(self, count: int) -> None:
        super().__init__(Share(), count)
        self._packed = struct.Struct(f"<{count}q")

    def text(self, source: Source, value: str) -> str:
        return f"{source.bind(_hex_of_shares)}({value})"

    def parse(self, value: object) -> tuple[int, ...]:
        """Parse hex as it is printed; missing numbers are zero."""
        size = self._packed.size
        return self._packed.unpack(hex_bytes(value)[:size].ljust(size, b"\0"))

    def parse_quickly(self, source: Source, value: str) -> str:
        nothing = "0" * 2 * self._packed.size
        return f"({(0,) * self.size} if {value} == '{nothing}' else {Kind.parse_quickly(self, source, value)})"


class NamesInMemory(Vector):
    """Names of 32 bytes each, filled up with zeros."""

    def __init__(self) -> None:
        super().__init__(NAME_KIND)

    def text(self, source: Source, value: str) -> str:
        return f"{source.bind(_hex_of_names)}({value})"

    def parse(self, value: object) -> tuple[AccountName, ...]:
        raw = hex_bytes(value)
        if len(raw) % MAX_NAME_BYTES:
            raise DecodeError(f"{len(raw)} bytes are no row of names of {MAX_NAME_BYTES} bytes each")
        return tuple(
            name_of_bytes(raw[start : start + MAX_NAME_BYTES].rstrip(b"\0"))
            for start in range(0, len(raw), MAX_NAME_BYTES)
        )


class FlagsInMemory(Vector):
    """A byte for each flag, of which the reference sets only some (spec 03, section 27.2)."""

    def __init__(self) -> None:
        super().__init__(Boolean())

    def text(self, source: Source, value: str) -> str:
        return f"{source.bind(_hex_of_flags)}({value})"

    def parse(self, value: object) -> tuple[bool, ...]:
        """A flag for each byte; any but 0 is set, as it is for the reference."""
        return tuple(map(bool, hex_bytes(value)))


ProxiedShares = Annotated[tuple[int, ...], SharesInMemory(PROXY_DEPTH)]
"""Shares of those who pass their votes on, by the number of hops."""

TimeClasses = Annotated[tuple[int, ...], SharesInMemory(TIME_CLASSES)]
"""The number of decisions of an oracle in each class of time (spec 07, section 10.1)."""

NameRow = Annotated[tuple[AccountName, ...], NamesInMemory()]
"""A name for each place of a schedule; the empty one where there is none."""

FlagRow = Annotated[tuple[bool, ...], FlagsInMemory()]
"""A flag for each place of a schedule."""
