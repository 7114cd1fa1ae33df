"""`raw_block`: blocks as bytes (spec 05, section 20)."""

from __future__ import annotations

from base64 import b64encode

import msgspec

from ledgerd.codec import codec_of
from ledgerd.codec.numbers import UInt32
from ledgerd.protocol.block import SignedHeader
from ledgerd.protocol.identifiers import NO_BLOCK, BlockId
from ledgerd.protocol.times import Time
from ledgerd.rpc.blocks.kept_blocks import KeptBlocks
from ledgerd.rpc.call.declarations import Api
from ledgerd.rpc.call.view import ApiView

RAW_BLOCK = Api("raw_block", "Blocks as the bytes that peers exchange.")


class RawBlock(msgspec.Struct, frozen=True):
    """A packed block in base64."""

    block_id: BlockId = NO_BLOCK
    previous: BlockId = NO_BLOCK
    timestamp: Time = 0
    raw_block: str = ""


@RAW_BLOCK.method(examples=[[1]])
def get_raw_block(view: ApiView, block_num: UInt32) -> RawBlock:
    """A packed block; zeros for a block that the node does not have."""
    packed = view.service(KeptBlocks).packed(view.state, block_num)
    if packed is None:
        return RawBlock()
    header = codec_of(SignedHeader).decode(packed)  # a block begins with it
    return RawBlock(header.id, header.previous, header.timestamp, b64encode(packed).decode())
