"""Kinds of numbers: fixed-width integers, booleans, and their annotations (spec 01, sections 2.2, 3.1, 3.2)."""

from __future__ import annotations

from typing import Annotated

from ledgerd.codec.json.scalars import as_bool, as_int64, as_uint64
from ledgerd.codec.json.text import LARGEST_PLAIN_INTEGER, integer_text
from ledgerd.codec.kinds import Kind
from ledgerd.codec.source import Source

UNSIGNED_LETTERS = {8: "B", 16: "H", 32: "I", 64: "Q"}
SIGNED_LETTERS = {8: "b", 16: "h", 32: "i", 64: "q"}
BOOLEANS = {0: False, 1: True}


def wide_text(source: Source, value: str) -> str:
    """The text of a 64-bit number: nearly all are small, and a call costs more than such a text."""
    return f"(str({value}) if {value} <= {LARGEST_PLAIN_INTEGER} else {source.bind(integer_text)}({value}))"


def quick_number(kind: Kind, source: Source, value: str, least: int, most: int) -> str:
    """The expression for a number of JSON in these bounds, which is itself: nearly all are."""
    otherwise = Kind.parse_quickly(kind, source, value)
    return f"({value} if type({value}) is int and {least} <= {value} <= {most} else {otherwise})"


class Unsigned(Kind):
    """An unsigned little-endian integer."""

    def __init__(self, bits: int, title: str = "") -> None:
        self.bits = bits
        self.mask = (1 << bits) - 1
        self.letters = UNSIGNED_LETTERS[bits]
        self.memory = bits // 8
        self.title = title or f"uint{bits}"

    def text(self, source: Source, value: str) -> str:
        """Plain digits, quoted where they can be too many."""
        return wide_text(source, value) if self.bits == 64 else f"str({value})"

    def parse(self, value: object) -> int:
        """Truncated silently to the width, as the reference does."""
        if type(value) is int and 0 <= value <= self.mask:
            return value
        return as_uint64(value) & self.mask

    def parse_quickly(self, source: Source, value: str) -> str:
        return quick_number(self, source, value, 0, self.mask)

    def default(self) -> int:
        return 0


class Signed(Kind):
    """A signed little-endian integer."""

    def __init__(self, bits: int, title: str = "") -> None:
        self.bits = bits
        self.half = 1 << (bits - 1)
        self.letters = SIGNED_LETTERS[bits]
        self.memory = bits // 8
        self.title = title or f"int{bits}"

    def text(self, source: Source, value: str) -> str:
        """Plain digits, quoted where they can be too many."""
        return wide_text(source, value) if self.bits == 64 else f"str({value})"

    def parse(self, value: object) -> int:
        """Truncated silently to the width, as the reference does."""
        half = self.half
        if type(value) is int and -half <= value < half:
            return value
        return (as_int64(value) + half) % (2 * half) - half

    def parse_quickly(self, source: Source, value: str) -> str:
        return quick_number(self, source, value, -self.half, self.half - 1)

    def default(self) -> int:
        return 0


class Share(Signed):
    """The reference's checked 64-bit amount: it reads JSON as an unsigned number (spec 01, section 3.2)."""

    def __init__(self) -> None:
        super().__init__(64, "share")

    def parse(self, value: object) -> int:
        """The bit pattern of an unsigned reading, seen as a signed number."""
        half = self.half
        if type(value) is int and -half <= value < half:
            return value
        return (as_uint64(value) + half) % (2 * half) - half

    def parse_quickly(self, source: Source, value: str) -> str:
        return quick_number(self, source, value, -self.half, self.half - 1)


class Boolean(Kind):
    """One byte, 0 or 1 and nothing else."""

    letters = "B"
    memory = 1
    title = "bool"

    def build(self, parts: list[str], source: Source) -> str:
        """A byte other than 0 and 1 is an error, not a true value."""
        return f"{source.bind(BOOLEANS)}[{parts[0]}]"

    def text(self, source: Source, value: str) -> str:  # noqa: ARG002
        """The JSON words."""
        return f"('true' if {value} else 'false')"

    def parse(self, value: object) -> bool:
        """Words, numbers, and the two texts."""
        return as_bool(value)

    def parse_quickly(self, source: Source, value: str) -> str:
        return f"({value} if {value} is True or {value} is False else {super().parse_quickly(source, value)})"

    def default(self) -> bool:
        return False


class WideUnsigned(Kind):
    """An unsigned 128-bit number, high half first (only in state and snapshots; spec 01, section 2.2)."""

    letters = "QQ"
    memory = 16
    title = "uint128"

    def build(self, parts: list[str], source: Source) -> str:  # noqa: ARG002
        return f"({parts[0]} << 64 | {parts[1]})"

    def parts(self, value: str) -> list[str]:
        return [f"{value} >> 64", f"{value} & 0xFFFFFFFFFFFFFFFF"]

    def text(self, source: Source, value: str) -> str:  # noqa: ARG002
        """Digits, always in quotes."""
        return f"f'\"{{{value}}}\"'"

    def parse(self, value: object) -> int:
        """Decimal digits of any length up to the width."""
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 40:
            return int(value) & ((1 << 128) - 1)
        return as_uint64(value)

    def default(self) -> int:
        return 0


UInt8 = Annotated[int, Unsigned(8)]
UInt16 = Annotated[int, Unsigned(16)]
UInt32 = Annotated[int, Unsigned(32)]
UInt64 = Annotated[int, Unsigned(64)]
UInt128 = Annotated[int, WideUnsigned()]
Int8 = Annotated[int, Signed(8)]
Int16 = Annotated[int, Signed(16)]
Int32 = Annotated[int, Signed(32)]
Int64 = Annotated[int, Signed(64)]
ShareAmount = Annotated[int, Share()]
