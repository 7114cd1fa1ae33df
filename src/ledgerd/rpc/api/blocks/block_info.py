"""`block_info` and `raw_block`: blocks in numbers, and as bytes (spec 05, sections 19 and 20)."""

from __future__ import annotations

from base64 import b64encode

import msgspec

from ledgerd.codec import codec_of
from ledgerd.codec.types.numbers import UInt32
from ledgerd.protocol.blocks.block import Block, SignedHeader
from ledgerd.protocol.errors import require
from ledgerd.protocol.types.identifiers import NO_BLOCK, BlockId
from ledgerd.protocol.types.times import Time
from ledgerd.rpc.blocks.kept_blocks import KeptBlocks
from ledgerd.rpc.blocks.records import BlockInfo, BlockRecords
from ledgerd.rpc.call.declarations import Api
from ledgerd.rpc.call.view import ApiView

BLOCK_INFO = Api("block_info", "Blocks in numbers: their size, their slot, and what was irreversible then.")

MOST_BLOCKS = 10_000
"""Blocks of one answer."""
MOST_BYTES = 8 * 1024 * 1024
"""The most bytes of packed blocks in one answer, which has at least one block."""


class BlockWithInfo(msgspec.Struct, frozen=True):
    """A block with its info."""

    block: Block
    info: BlockInfo


@BLOCK_INFO.method(examples=[[1, 3]])
def get_block_info(view: ApiView, start_block_num: UInt32, count: UInt32) -> tuple[BlockInfo, ...]:
    """The info of a number of blocks; zeros for blocks that the node has not seen."""
    return tuple(view.service(BlockRecords).scan(*_range(start_block_num, count)))


@BLOCK_INFO.method(examples=[[1, 1]])
def get_blocks_with_info(view: ApiView, start_block_num: UInt32, count: UInt32) -> tuple[BlockWithInfo, ...]:
    """Blocks with their info, up to the first that the node has not seen, or to 8 MiB."""
    start, end = _range(start_block_num, count)
    archive, size = view.service(KeptBlocks), 0
    found: list[BlockWithInfo] = []
    for number, info in enumerate(view.service(BlockRecords).scan(start, end), start=start):
        block = archive.block(view.state, number) if info.is_known else None
        size += info.block_size
        if block is None or (size > MOST_BYTES and found):
            break
        found.append(BlockWithInfo(block, info))
    return tuple(found)


def _range(start: int, count: int) -> tuple[int, int]:
    """The block numbers of an answer; the end is computed in 32 bits, as in the reference."""
    require(start > 0, "start_block_num > 0: ")
    require(count <= MOST_BLOCKS, f"count <= {MOST_BLOCKS}: ")
    return start, (start + count) & 0xFFFFFFFF


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
