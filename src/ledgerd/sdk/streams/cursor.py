"""A place in the chain as a short text, from which a stream goes on."""

from __future__ import annotations

import re
from typing import NamedTuple, Self

import msgspec

from ledgerd.protocol.types.identifiers import BlockId, block_number_of
from ledgerd.sdk.streams.errors import WrongCursor

_TEXT = re.compile(r"([0-9a-f]{40})(?:\.([0-9]{1,5})\.([0-9]{1,5})\.([0-9]{1,10}))?")


class PlaceInBlock(NamedTuple):
    """The place of an operation in its block (spec 05, section 12.2); places have the order of the chain."""

    transaction: int
    """65535 for what the chain itself does after the transactions."""
    operation: int
    virtual: int
    """0 for what a transaction itself has; for what it brings about, 1, 2, 3..."""


class StreamCursor(msgspec.Struct, frozen=True):
    """A position in a stream: after a block, or after an operation of it."""

    block: BlockId
    place: PlaceInBlock | None = None

    @property
    def number(self) -> int:
        return block_number_of(self.block)

    def __str__(self) -> str:
        return ".".join([self.block.hex(), *map(str, self.place or ())])

    @classmethod
    def parse(cls, text: str) -> Self:
        """`WrongCursor` where it is none."""
        found = _TEXT.fullmatch(text)
        if found is None:
            raise WrongCursor(f"{text[:100]!r} is no cursor: it begins with the 40 hex digits of a block's id")
        block, *place = found.groups()
        return cls(BlockId(bytes.fromhex(block)), PlaceInBlock(*map(int, place)) if place[0] else None)
