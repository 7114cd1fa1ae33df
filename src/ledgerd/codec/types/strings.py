"""Kinds of bytes: length-prefixed strings and byte vectors, and byte arrays of a fixed size (spec 01, 2.2, 3.1)."""

from __future__ import annotations

import re
from binascii import unhexlify
from collections.abc import Callable
from typing import Any

from ledgerd.codec.errors import DecodeError
from ledgerd.codec.json.scalars import as_string
from ledgerd.codec.json.text import quote
from ledgerd.codec.kinds import MAX_CONTAINER_MEMORY, Kind
from ledgerd.codec.source import Source
from ledgerd.codec.types.varint import ONE_BYTE, pack_varint, read_varint

_NO_HEX_DIGIT = re.compile(r"[^0-9a-fA-F]")


def past_the_end() -> DecodeError:
    return DecodeError("ends before its value does", code=8)


def too_long(length: int) -> DecodeError:
    return DecodeError(f"a length of {length} is above the limit")


def add_varint(source: Source, target: str) -> None:
    """Write the lines that read a varint: one byte nearly always."""
    source.add(f"{target} = buf[pos]")
    source.add("pos += 1")
    source.add(f"if {target} > 127:")
    source.add(f"    {target}, pos = {source.bind(read_varint)}(buf, pos - 1, reading)")


def add_bytes(source: Source, target: str) -> None:
    """Write the lines that read a length and that many bytes."""
    length = source.fresh("n")
    add_varint(source, length)
    source.add(f"if {length} >= {MAX_CONTAINER_MEMORY}:")
    source.add(f"    raise {source.bind(too_long)}({length})")
    source.add(f"{target} = buf[pos:pos + {length}]")
    source.add(f"if len({target}) != {length}:")
    source.add(f"    raise {source.bind(past_the_end)}()")
    source.add(f"pos += {length}")


def write_bytes(source: Source, value: str) -> None:
    length = source.fresh("n")
    source.add(f"{length} = len({value})")
    short, long = source.bind(ONE_BYTE), source.bind(pack_varint)
    source.add(f"w(({short}[{length}] if {length} < 128 else {long}({length})) + {value})")


class Text(Kind):
    """A byte string. Bytes that are not UTF-8 travel through `str` as surrogate escapes, and back unchanged."""

    memory = 32
    title = "string"

    def read(self, source: Source, target: str) -> None:
        raw = source.fresh("b")
        add_bytes(source, raw)
        source.add(f"{target} = {raw}.decode('utf-8', 'surrogateescape')")

    def write(self, source: Source, value: str) -> None:
        raw = source.fresh("b")
        source.add(f"{raw} = {value}.encode('utf-8', 'surrogateescape')")
        write_bytes(source, raw)

    def text(self, source: Source, value: str) -> str:
        """A JSON string."""
        return f"{source.bind(quote)}({value})"

    def show(self, source: Source, target: str) -> None:
        """Length, then bytes, which are UTF-8 nearly always."""
        length, raw = source.fresh("n"), source.fresh("b")
        add_varint(source, length)
        source.add(f"{raw} = buf[pos:pos + {length}]")
        source.add(f"pos += {length}")
        source.add("try:")
        source.add(f"    {target} = {source.bind(quote)}({raw}.decode())")
        source.add("except UnicodeDecodeError:")
        source.add(f"    {target} = {source.bind(quote)}({raw}.decode('utf-8', 'surrogateescape'))")

    def parse(self, value: object) -> str:
        """Numbers and words become their text."""
        return as_string(value)

    def parse_quickly(self, source: Source, value: str) -> str:
        return f"({value} if type({value}) is str else {super().parse_quickly(source, value)})"

    def default(self) -> str:
        return ""


def hex_bytes(value: object) -> bytes:
    """Bytes from hex digits of either case; an odd last digit is ignored (spec 01, section 3.1)."""
    digits = as_string(value)
    try:
        return unhexlify(digits)
    except ValueError:
        pass  # said below, and an odd digit is none
    if bad := _NO_HEX_DIGIT.search(digits):
        raise DecodeError(f"Invalid hex character '{bad[0]}'", code=0)
    return bytes.fromhex(digits[: len(digits) // 2 * 2])


class ByteVector(Kind):
    """Bytes with a length in front; hex in JSON."""

    memory = 24
    title = "bytes"

    def read(self, source: Source, target: str) -> None:
        add_bytes(source, target)

    def write(self, source: Source, value: str) -> None:
        raw = source.fresh("b")
        source.add(f"{raw} = {value}")
        write_bytes(source, raw)

    def text(self, source: Source, value: str) -> str:  # noqa: ARG002
        """Lower-case hex."""
        return f"f'\"{{{value}.hex()}}\"'"

    def parse(self, value: object) -> bytes:
        """Hex digits."""
        return hex_bytes(value)

    def default(self) -> bytes:
        return b""


class FixedBytes(Kind):
    """A byte array of a fixed size: hashes, keys, signatures. JSON is hex unless the kind has its own text."""

    def __init__(
        self,
        size: int,
        title: str,
        *,
        print_text: Callable[[Any], str] | None = None,
        parse_text: Callable[[str], bytes] | None = None,
        parse_new: Callable[[str], bytes] | None = None,
    ) -> None:
        """A text that was hardly seen before may be parsed in another way than one that often comes again."""
        self.size = size
        self.title = title
        self.letters = f"{size}s"
        self.memory = size
        self.print_text = print_text
        self.parse_text = parse_text
        self.parse_new = parse_new or parse_text

    def text(self, source: Source, value: str) -> str:
        """Hex, or the kind's own text."""
        if self.print_text is None:
            return f"f'\"{{{value}.hex()}}\"'"
        return f"f'\"{{{source.bind(self.print_text)}({value})}}\"'"

    def parse(self, value: object) -> bytes:
        """Hex; longer hex is cut, shorter hex is filled with zeros at its end."""
        if self.parse_text is not None:
            return self.parse_text(as_string(value))
        return hex_bytes(value)[: self.size].ljust(self.size, b"\0")

    def parse_quickly(self, source: Source, value: str) -> str:
        usual = super().parse_quickly(source, value)
        if self.parse_new is None or self.print_text is None:
            return usual
        default, text = source.bind(self.default()), source.bind(self.print_text(self.default()))
        new = f"{source.bind(self.parse_new)}({value}) if type({value}) is str else {usual}"
        return f"({default} if {value} == {text} else {new})"

    def default(self) -> bytes:
        return bytes(self.size)
