"""Whether the bytes of a block are those that were signed: told by its own merkle root, and by the block behind it.

A block's id covers its header and signature, and stands in the next block; the header names the transactions by their
merkle root (spec 01, section 11). So a log proves itself, but for the header of its last block.
"""

from __future__ import annotations

from collections.abc import Callable

from ledgerd.codec import codec_of
from ledgerd.codec.errors import CodecError
from ledgerd.protocol.blocks.block import Block, SignedHeader
from ledgerd.protocol.types.identifiers import BlockId

Lookup = Callable[[int], bytes | None]
"""The bytes of a block, unchecked; nothing where the log has none that could be it."""

ID_BYTES = 20


def fault_in(number: int, packed: bytes, lookup: Lookup, is_known: Callable[[int, bytes], bool]) -> str:
    """What is wrong with a block; empty where nothing is. Of its neighbours, some may be known to be sound."""
    try:
        block = codec_of(Block).decode_exactly(packed)
        if block.merkle_root != block.transaction_merkle_root:
            return "its transactions are not those of its header"
    except CodecError as problem:
        return str(problem)
    return "" if _is_linked(number, block, lookup, is_known) else "its header is not the one that its neighbours name"


def _is_linked(number: int, block: Block, lookup: Lookup, is_known: Callable[[int, bytes], bool]) -> bool:
    """Whether the next block follows this one. Where it does not, the one of the two is blamed that is not proven."""
    following = lookup(number + 1)
    if following is None:
        before = lookup(number - 1)
        return before is None or _id_of(before) == block.previous
    if following[:ID_BYTES] == block.id:
        return True
    if is_known(number + 1, following):
        return False
    after = lookup(number + 2)
    return after is not None and _id_of(following) != after[:ID_BYTES]


def _id_of(packed: bytes) -> BlockId | None:
    """The id of a block, by its header; nothing where that cannot be read."""
    try:
        return codec_of(SignedHeader).decode_from(packed, 0)[0].id
    except CodecError:
        return None
