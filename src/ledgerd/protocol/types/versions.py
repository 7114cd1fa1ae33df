"""Versions of programs and of hardforks: one 32-bit number, printed as `3.2.0` (spec 01, section 2.8).

Both are plain numbers here, and compare as such. Where the reference compares a hardfork version with the
version of a program it ignores the release of the latter: compare with `hardfork_version_of(version)`.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Annotated, ClassVar

import msgspec
from msgspec import field

from ledgerd.codec.errors import ASSERTION
from ledgerd.codec.json.errors import JsonError
from ledgerd.codec.json.scalars import as_string
from ledgerd.codec.source import Source
from ledgerd.codec.types.numbers import Unsigned
from ledgerd.protocol.types.times import Time

HARDFORK_MASK = 0xFFFF0000
"""The bits of a version that name the hardfork; the others are the release."""

_MAX_UINT32 = 0xFFFFFFFF
_UINT32_DIGITS = 10
_STREAM = re.compile(r"\s*([+-]?[0-9]+)\s*(\S)\s*([+-]?[0-9]+)\s*(\S)\s*([+-]?[0-9]+)?(.*)", re.ASCII | re.DOTALL)
_SEPARATORS = (("_", "_"), (".", "."))


def version_number(major: int, hardfork: int, release: int = 0) -> int:
    return major << 24 | hardfork << 16 | release


def hardfork_version_of(version: int) -> int:
    return version & HARDFORK_MASK


@lru_cache(maxsize=256)
def version_text(version: int) -> str:
    return f"{version >> 24}.{version >> 16 & 0xFF}.{version & 0xFFFF}"


def _read_number(digits: str) -> int | None:
    """The number that a C++ stream reads into 32 unsigned bits: a minus wraps, and a number that is too large
    is none.
    """
    magnitude = digits.lstrip("+-").lstrip("0") or "0"
    if len(magnitude) > _UINT32_DIGITS or int(magnitude) > _MAX_UINT32:
        return None
    return (-int(magnitude) if digits[0] == "-" else int(magnitude)) & _MAX_UINT32


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise JsonError(ASSERTION, message)


def parse_version_text(text: str) -> int:
    """The number of `m.h.r` or `m_h_r`, read part by part as from a stream: the last may be lacking."""
    read = _STREAM.fullmatch(text)
    first, second = (_read_number(read[1]), _read_number(read[3])) if read else (None, None)
    if not read or first is None or second is None or (read[2], read[4]) not in _SEPARATORS:
        raise JsonError(
            ASSERTION,
            "(dot_a == '.' || dot_a == '_') && dot_a == dot_b: Variant does not contain proper dotted decimal format",
        )
    release, rest = _read_number(read[5] or "0"), read[6]
    _require(first <= 0xFF, "major <= 0xFF: Major version is out of range")
    _require(second <= 0xFF, "hardfork <= 0xFF: Hardfork version is out of range")
    if release is None or release > 0xFFFF:
        raise JsonError(ASSERTION, "revision <= 0xFFFF: Revision version is out of range")
    # Without a last number the stream stops at a lone sign only after having read it.
    at_end = not rest or (read[5] is None and rest in {"+", "-"})
    _require(at_end, "s.eof(): Extra information at end of version string")
    return version_number(first, second, release)


class VersionKind(Unsigned):
    """A number on the wire, a dotted text in JSON."""

    def __init__(self, title: str = "version") -> None:
        super().__init__(32, title)

    def text(self, source: Source, value: str) -> str:
        """`"3.2.0"`."""
        return f"f'\"{{{source.bind(version_text)}({value})}}\"'"

    def parse(self, value: object) -> int:
        """The dotted text."""
        return parse_version_text(as_string(value))


class HardforkVersionKind(VersionKind):
    """A version without release. JSON loses its release, the wire does not: bytes are taken as they are."""

    def __init__(self) -> None:
        super().__init__("hardfork version")

    def parse(self, value: object) -> int:
        """The dotted text, its last part dropped."""
        return hardfork_version_of(super().parse(value))


Version = Annotated[int, VersionKind()]
HardforkVersion = Annotated[int, HardforkVersionKind()]


class HardforkVersionVote(msgspec.Struct, frozen=True):
    """A validator's vote for a hardfork, and for the earliest time of it."""

    version: HardforkVersion = field(name="hf_version")
    time: Time = field(name="hf_time")

    TITLE: ClassVar[str] = "hardfork vote"
