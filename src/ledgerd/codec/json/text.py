"""Plain values as JSON text, byte for byte as the network's clients know it (spec 01, section 3.1)."""

from __future__ import annotations

from json.encoder import encode_basestring
from typing import TypeAlias

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

LARGEST_PLAIN_INTEGER = 0xFFFFFFFF

quote = encode_basestring
"""A string in quotes. Surrogate escapes pass through it, so bytes that are not UTF-8 keep their form."""


def text_bytes(text: str) -> bytes:
    """The bytes that a text had on the wire, also where they are not UTF-8."""
    return text.encode("utf-8", "surrogateescape")


def text_of(raw: bytes | bytearray) -> str:
    """The text that stands for these bytes everywhere: what is not UTF-8 becomes surrogate escapes."""
    return raw.decode("utf-8", "surrogateescape")


def integer_text(value: int) -> str:
    """Digits, in quotes when the number is above 2^32 - 1; negative numbers are never quoted."""
    return str(value) if value <= LARGEST_PLAIN_INTEGER else f'"{value}"'


def double_text(value: float) -> str:
    """Fixed notation with 17 digits after the point, always in quotes."""
    return f'"{value:.17f}"'


def bare_text(value: bool | float | str | None) -> str:
    """A scalar turned into a string, as messages show it and as a field of text reads it."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int) else f"{value:.17f}"


def dumps(value: Json) -> str:
    """A tree of plain values, without spaces, keys in the order in which they stand."""
    if isinstance(value, str):
        return quote(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return integer_text(value)
    if isinstance(value, float):
        return double_text(value)
    if isinstance(value, list):
        return f"[{','.join(map(dumps, value))}]"
    return "{" + ",".join(f"{quote(key)}:{dumps(item)}" for key, item in value.items()) + "}"
