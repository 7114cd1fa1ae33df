"""Account names: their form on the wire, their two orders, and the rules for valid ones (spec 01, 2.4 and 6)."""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import NewType

from ledgerd.basics.remembering import Remembering
from ledgerd.codec import declare
from ledgerd.codec.json.text import quote
from ledgerd.codec.kinds import Kind, Reading
from ledgerd.codec.source import Source
from ledgerd.codec.types.strings import Text, add_varint, past_the_end, too_long
from ledgerd.codec.types.varint import pack_varint

AccountName = NewType("AccountName", str)

MAX_NAME_BYTES = 32
MIN_NAME_BYTES = 2
MIN_CREATED_NAME_BYTES = 3
REMEMBERED_NAMES = 1 << 16

NO_NAME = AccountName("")


def cut_name(text: str) -> AccountName:
    """The name that a text is stored as: 32 bytes at most, and nothing from a NUL on.

    A NUL would make a name unequal to its own re-packed form, so ours are cut there from the start
    (spec 01, section 2.4).
    """
    if len(text) <= MAX_NAME_BYTES and text.isascii() and "\0" not in text:
        return AccountName(text)
    raw = text.encode("utf-8", "surrogateescape")
    if len(raw) > MAX_NAME_BYTES or 0 in raw:
        raw = raw[:MAX_NAME_BYTES].split(b"\0", 1)[0]
    return AccountName(raw.decode("utf-8", "surrogateescape"))


@lru_cache(REMEMBERED_NAMES)
def name_of_bytes(raw: bytes) -> AccountName:
    return cut_name(raw.decode("utf-8", "surrogateescape"))


def _name_text(raw: bytes) -> str:
    """The JSON text of a name of bytes from the wire."""
    is_stored_form = len(raw) <= MAX_NAME_BYTES and raw.isascii() and 0 not in raw
    return quote(raw.decode() if is_stored_form else cut_name(raw.decode("utf-8", "surrogateescape")))


def _packed_name(name: str) -> bytes:
    raw = cut_name(name).encode("utf-8", "surrogateescape")
    return pack_varint(len(raw)) + raw


NAME_TEXTS = Remembering(_name_text, REMEMBERED_NAMES, MAX_NAME_BYTES)
PACKED_NAMES = Remembering(_packed_name, REMEMBERED_NAMES, MAX_NAME_BYTES)


def long_name(raw: bytes, reading: Reading) -> AccountName:
    """A name that the wire brought in a form it is not stored in."""
    reading.normalised = True
    return cut_name(raw.decode("utf-8", "surrogateescape"))


@lru_cache(REMEMBERED_NAMES)
def word_order(name: str) -> tuple[int, int, int, int]:
    """The order of name sets: four little-endian words, the first one first (spec 01, section 2.4)."""
    words = struct.unpack("<4Q", name.encode("utf-8", "surrogateescape").ljust(MAX_NAME_BYTES, b"\0"))
    return words[0], words[1], words[2], words[3]


def text_order(name: str) -> bytes:
    """The order of account maps in authorities, and of the indexes that say so: by bytes."""
    return name.encode("utf-8", "surrogateescape")


class NameKind(Text):
    """A text of 32 bytes at most; longer ones are truncated silently."""

    memory = MAX_NAME_BYTES
    title = "account name"

    def read(self, source: Source, target: str) -> None:
        length, raw = source.fresh("n"), source.fresh("b")
        add_varint(source, length)
        source.add(f"{raw} = buf[pos:pos + {length}]")
        source.add(f"if len({raw}) != {length}:")
        source.add(f"    raise {source.bind(past_the_end)}()")
        source.add(f"pos += {length}")
        source.add(f"if {length} > {MAX_NAME_BYTES} or 0 in {raw}:")
        source.add(f"    if {length} >= {MAX_TEXT}:")
        source.add(f"        raise {source.bind(too_long)}({length})")
        source.add(f"    {target} = {source.bind(long_name)}({raw}, reading)")
        source.add("else:")
        source.add(f"    {target} = {source.bind(name_of_bytes)}({raw})")

    def show(self, source: Source, target: str) -> None:
        length = source.fresh("n")
        add_varint(source, length)
        source.add(f"{target} = {source.bind(NAME_TEXTS)}[buf[pos:pos + {length}]]")
        source.add(f"pos += {length}")

    def write(self, source: Source, value: str) -> None:
        source.add(f"w({source.bind(PACKED_NAMES)}[{value}])")

    def parse(self, value: object) -> AccountName:
        """A text, cut."""
        return cut_name(super().parse(value))

    def parse_quickly(self, source: Source, value: str) -> str:
        is_plain = f"len({value}) <= {MAX_NAME_BYTES} and {value}.isascii() and '\\0' not in {value}"
        is_usual = f"{value} == '' or type({value}) is str and {is_plain}"
        return f"({value} if {is_usual} else {Kind.parse_quickly(self, source, value)})"

    def default(self) -> AccountName:
        return NO_NAME


MAX_TEXT = 10 * 1024 * 1024

NAME_KIND: Kind = NameKind()
declare(AccountName, NAME_KIND)


@lru_cache(REMEMBERED_NAMES)
def is_valid_name(name: str) -> bool:
    """Labels of a-z, 0-9 and inner dashes, each beginning with a letter, two bytes long at least."""
    raw = name.encode("utf-8", "surrogateescape")
    if not MIN_NAME_BYTES <= len(raw) <= MAX_NAME_BYTES:
        return False
    return all(_is_valid_label(label) for label in raw.split(b"."))


def _is_valid_label(label: bytes) -> bool:
    return (
        len(label) >= MIN_NAME_BYTES
        and label[0] in LETTERS
        and label[-1] in LETTERS_AND_DIGITS
        and all(byte in LETTERS_DIGITS_AND_DASH for byte in label[1:-1])
    )


LETTERS = frozenset(b"abcdefghijklmnopqrstuvwxyz")
LETTERS_AND_DIGITS = LETTERS | frozenset(b"0123456789")
LETTERS_DIGITS_AND_DASH = LETTERS_AND_DIGITS | frozenset(b"-")


def is_valid_created_name(name: str) -> bool:
    """The length that a new account's name must have besides."""
    return MIN_CREATED_NAME_BYTES <= len(name.encode("utf-8", "surrogateescape")) <= MAX_NAME_BYTES


def is_valid_domain(name: str, creator: str) -> bool:
    """A name with a dot may be created only by the account that follows the first dot."""
    _, dot, parent = name.partition(".")
    return not dot or parent == creator
