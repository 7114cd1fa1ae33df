"""Chain properties inside objects: stored as they are, but made and packed once for all that hold the same.

There are eighty of them, validators seldom change theirs, and most want the same: to remember costs a tenth.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Annotated

from ledgerd.codec import codec_of, record_kind
from ledgerd.codec.annotations import fields_of
from ledgerd.codec.records import RecordKind
from ledgerd.codec.source import Source, packing
from ledgerd.protocol.market_properties import ChainPropertiesHf14

REMEMBERED = 1024
SIZE = packing(record_kind(ChainPropertiesHf14).letters).size
"""Bytes of them all: none is of a size of its own."""


@lru_cache(REMEMBERED)
def _packed(properties: ChainPropertiesHf14) -> bytes:
    return codec_of(ChainPropertiesHf14).encode(properties)


@lru_cache(REMEMBERED)
def _unpacked(raw: bytes) -> ChainPropertiesHf14:
    return codec_of(ChainPropertiesHf14).decode_exactly(raw)


class StoredProperties(RecordKind):
    """The bytes and the JSON of the record."""

    letters = ""
    """None, so that nobody takes the fields apart."""

    def read(self, source: Source, target: str) -> None:
        source.add(f"{target} = {source.bind(_unpacked)}(buf[pos:pos + {SIZE}])")
        source.add(f"pos += {SIZE}")

    def write(self, source: Source, value: str) -> None:
        source.add(f"w({source.bind(_packed)}({value}))")


Properties = Annotated[
    ChainPropertiesHf14, StoredProperties(ChainPropertiesHf14, partial(fields_of, ChainPropertiesHf14))
]
"""All properties that there are."""
