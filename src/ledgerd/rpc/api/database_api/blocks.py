"""Blocks by number, and a subscription to new ones (spec 05, sections 9.1, 9.2 and 9.5)."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import lru_cache
from typing import Annotated

from ledgerd.codec import codec_of
from ledgerd.codec.numbers import UInt32
from ledgerd.protocol.block import Block, BlockHeader
from ledgerd.rpc.api.database_api.declared import DATABASE_API
from ledgerd.rpc.api.kinds import Printed
from ledgerd.rpc.blocks.kept_blocks import KeptBlocks
from ledgerd.rpc.call.counts import exactly
from ledgerd.rpc.call.declarations import AnyValue
from ledgerd.rpc.call.view import ApiView, Node
from ledgerd.rpc.link.topics import APPLIED_BLOCK
from ledgerd.state.objects.globals import DYNAMIC_GLOBAL_PROPERTIES

BlockText = Annotated[str, Printed(Block)]


@DATABASE_API.method(args=exactly(1), examples=[[1]])
def get_block(view: ApiView, block_num: UInt32) -> Block | None:
    """A block of the trunk with its transactions."""
    return view.service(KeptBlocks).block(view.state, block_num)


@DATABASE_API.method(args=exactly(1), examples=[[1]])
def get_block_header(view: ApiView, block_num: UInt32) -> BlockHeader | None:
    """The header of a block, without its signature."""
    return _header(get_block(view, block_num))


@DATABASE_API.method(args=exactly(1), examples=[[1]])
def get_irreversible_block(view: ApiView, block_num: UInt32) -> Block | None:
    """An irreversible block."""
    irreversible = view.state.get(DYNAMIC_GLOBAL_PROPERTIES, 0).last_irreversible_block_num
    return get_block(view, block_num) if block_num <= irreversible else None


@DATABASE_API.method(args=exactly(1), examples=[[1]])
def get_irreversible_block_header(view: ApiView, block_num: UInt32) -> BlockHeader | None:
    """The header of an irreversible block."""
    return _header(get_irreversible_block(view, block_num))


def _header(block: Block | None) -> BlockHeader | None:
    if block is None:
        return None
    return BlockHeader(
        block.previous, block.timestamp, block.validator, block.transaction_merkle_root, block.extensions
    )


@DATABASE_API.method(args=exactly(1))
async def set_block_applied_callback(node: Node, callback: AnyValue) -> AsyncGenerator[BlockText, None]:  # noqa: ARG001
    """Subscribe to every block from now on, as it becomes the head. The argument is ignored."""
    async with aclosing(node.main.events(APPLIED_BLOCK)) as blocks:
        async for packed in blocks:
            yield text_of(packed)


@lru_cache(maxsize=4)
def text_of(packed: bytes) -> str:
    """The JSON of a block for subscribers: decoded and printed once for all of them."""
    return codec_of(Block).to_json(codec_of(Block).decode_exactly(packed))
