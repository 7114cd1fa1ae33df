"""Orders of index keys: each part of a key becomes bytes, and the order of these bytes is the order of the ledger.

The bytes of one value are never a prefix of those of another value of the same part, so parts can be concatenated, and
the first parts of a key are a prefix of its bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from ledgerd.basics.remembering import Remembering
from ledgerd.codec.json.text import text_bytes
from ledgerd.codec.source import Source

MAX_KEY_BYTES = 511
"""The longest key that LMDB accepts."""

NAME_BYTES = 32
CUT_BYTES = 200
REMEMBERED_NAMES = 1 << 16
_WORDS, _WORDS_AS_NUMBERS = struct.Struct("<4Q"), struct.Struct(">4Q")

_COMPLEMENT = bytes(range(255, -1, -1))


class Order(NamedTuple):
    """How one part of a key is ordered."""

    title: str
    encode: Callable[[Any], bytes]
    is_own_id: bool = False
    is_exact: bool = False
    """Whether values that differ have bytes that differ: not so for texts that are cut at a length or a NUL."""
    is_natural: bool = False
    """Whether the order of the bytes is that of the values themselves in Python: numbers are, names are not."""
    packing: Packing | None = None
    """How `struct` makes the same bytes, where it can."""
    is_whole: Callable[[Any], bool] | None = None
    """Of an order that is not exact: whether all of a value is in its bytes, as of a short text without a NUL."""


class Packing(NamedTuple):
    """A letter of `struct`, and what it packs: the value and a number, or that number less the value."""

    letter: str
    offset: int = 0
    is_descending: bool = False

    def of(self, value: str) -> str:
        if self.is_descending:
            return f"{self.offset} - {value}"
        return f"{value} + {self.offset}" if self.offset else value


LETTERS = {1: "B", 2: "H", 4: "I", 8: "Q"}


def _unsigned(width: int) -> Order:
    def encode(value: int) -> bytes:
        return value.to_bytes(width, "big")

    packing = Packing(LETTERS[width]) if width in LETTERS else None
    return Order(f"uint{width * 8}", encode, is_exact=True, is_natural=True, packing=packing)


def _signed(width: int) -> Order:
    half = 1 << (width * 8 - 1)

    def encode(value: int) -> bytes:
        return (value + half).to_bytes(width, "big")

    return Order(f"int{width * 8}", encode, is_exact=True, is_natural=True, packing=Packing(LETTERS[width], half))


def fixed_bytes(width: int) -> Order:
    """Compared as memory: keys, digests and transaction ids."""

    def encode(value: bytes) -> bytes:
        if len(value) != width:
            raise ValueError(f"{len(value)} bytes where {width} are ordered")
        return value

    return Order(f"bytes{width}", encode, is_exact=True)


def descending(order: Order) -> Order:
    encode = order.encode

    def encode_complement(value: Any) -> bytes:  # noqa: ANN401 - of the type that the order is for
        return encode(value).translate(_COMPLEMENT)

    packing, turned = order.packing, None
    if packing is not None and packing.letter != "?" and not packing.is_descending:
        largest = (1 << 8 * struct.calcsize(packing.letter)) - 1
        turned = Packing(packing.letter, largest - packing.offset, is_descending=True)
    title, exact = f"{order.title} desc", order.is_exact
    return Order(title, encode_complement, is_exact=exact, packing=turned, is_whole=order.is_whole)


def _is_whole_up_to(length: int) -> Callable[[str], bool]:
    return lambda text: len(text) <= length and text.isascii() and "\0" not in text


def _up_to_nul(raw: bytes) -> bytes:
    return raw[: raw.index(0) + 1] if 0 in raw else raw + b"\0"


def _name_text(name: str) -> bytes:
    return _up_to_nul(text_bytes(name)[:NAME_BYTES])


def _name_words(name: str) -> bytes:
    raw = text_bytes(name)[:NAME_BYTES].partition(b"\0")[0].ljust(NAME_BYTES, b"\0")
    return _WORDS_AS_NUMBERS.pack(*_WORDS.unpack(raw))


def _c_text(text: str) -> bytes:
    return _up_to_nul(text_bytes(text))


def _cut_text(text: str) -> bytes:
    return _c_text(text)[:CUT_BYTES]


def _boolean(value: object) -> bytes:
    return b"\1" if value else b"\0"


UINT8 = _unsigned(1)
UINT16 = _unsigned(2)
UINT32 = _unsigned(4)
UINT64 = _unsigned(8)
UINT128 = _unsigned(16)
INT8 = _signed(1)
INT64 = _signed(8)
PACK_UINT64, SIGN = struct.Struct(">Q").pack, 1 << 63
"""`PACK_UINT64(number + SIGN)` is what `INT64` makes of a number that fits, such as the id of an object, in half the
time.
"""
TIME = UINT32
BOOL = Order("bool", _boolean, is_natural=True, packing=Packing("?"))

OBJECT_ID = INT64
"""The id of another object."""

OWN_ID = Order("own id", INT64.encode, is_own_id=True, is_natural=True, packing=INT64.packing)
"""The id of the object itself: in an index whose key ends with it no two keys are equal."""

NAME_TEXT = Order(
    "name text",
    Remembering(_name_text, REMEMBERED_NAMES, NAME_BYTES).__getitem__,
    is_whole=_is_whole_up_to(NAME_BYTES),
)
"""Order L of spec 02, section 2.2: byte by byte."""

NAME_WORD = Order(
    "name word",
    Remembering(_name_words, REMEMBERED_NAMES, NAME_BYTES).__getitem__,
    is_whole=_is_whole_up_to(NAME_BYTES),
)
"""Order W of spec 02, section 2.2: four little-endian words, which is not alphabetical."""

C_TEXT = Order("c text", _c_text, is_whole=_is_whole_up_to(MAX_KEY_BYTES))
"""The order of `strcmp`: what follows a NUL is ignored (spec 02, section 2.2)."""

CUT_TEXT = Order("cut c text", _cut_text, is_whole=_is_whole_up_to(CUT_BYTES - 1))
"""The same for texts of any length: those that begin with the same 200 bytes are equal."""


def key_encoder(orders: Sequence[Order]) -> Callable[[tuple[Any, ...]], bytes]:
    """A function from a key, or the first parts of one, to its bytes.

    A whole key of numbers alone is packed at once. What `struct` cannot pack is left to the encoders of the parts, with
    their errors.
    """
    by_parts = _encoder_by_parts(orders)
    packings = [order.packing for order in orders if order.packing is not None]
    if len(packings) < len(orders):
        return by_parts
    source = Source()
    parts = [source.fresh("part") for _ in orders]
    packer = struct.Struct(">" + "".join(packing.letter for packing in packings))
    source.add(f"if len(key) == {len(orders)}:")
    source.add(f"    {', '.join(parts)}, = key")
    source.add("    try:")
    packed = [packing.of(part) for packing, part in zip(packings, parts, strict=True)]
    source.add(f"        return {source.bind(packer.pack)}({', '.join(packed)})")
    source.add(f"    except {source.bind(struct.error)}:")
    source.add("        pass")
    source.add(f"return {source.bind(by_parts)}(key)")
    compiled: Callable[[tuple[Any, ...]], bytes] = source.compiled("encode_key", "key")
    return compiled


def _encoder_by_parts(orders: Sequence[Order]) -> Callable[[tuple[Any, ...]], bytes]:
    encoders = tuple(order.encode for order in orders)

    if len(encoders) == 1:
        only = encoders[0]
        return lambda key: only(key[0]) if key else b""

    first, second = encoders[:2]
    third = encoders[2] if len(encoders) > 2 else None

    def encode(key: tuple[Any, ...]) -> bytes:
        count = len(key)
        if count == 1:
            return first(key[0])
        if count == 2:
            return first(key[0]) + second(key[1])
        if count == 3 and third is not None:
            return first(key[0]) + second(key[1]) + third(key[2])
        return b"".join([encoder(part) for encoder, part in zip(encoders, key, strict=False)])

    return encode


def integer_of(raw: bytes) -> int:
    """The number whose bytes `INT64` has made."""
    return int.from_bytes(raw, "big") - (1 << 63)


def integers_of(raws: Sequence[bytes]) -> Sequence[int]:
    """The same of many, at once: the sign bit of each is turned, and the rest is how the machine has them."""
    count = len(raws)
    turned = int.from_bytes(b"".join(raws), "big") ^ _sign_bits(count)
    return struct.unpack(f">{count}q", turned.to_bytes(8 * count, "big"))


@lru_cache(64)
def _sign_bits(count: int) -> int:
    return int.from_bytes((1 << 63).to_bytes(8, "big") * count, "big")


def end_of_prefix(prefix: bytes) -> bytes | None:
    """The first bytes after all that begin with this prefix; None when there are none."""
    stripped = prefix.rstrip(b"\xff")
    return stripped[:-1] + bytes((stripped[-1] + 1,)) if stripped else None
