"""Blocks by number, and a subscription to new ones (spec 05, sections 9.1, 9.2 and 9.5)."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import lru_cache
from typing import Annotated

from ledgerd.codec import codec_of
from ledgerd.codec.types.numbers import UInt32
from ledgerd.protocol.blocks.block import Block, BlockHeader
from ledgerd.rpc.api.database_api.declared import DATABASE_API
from ledgerd.rpc.api.shared.kinds import Printed
from ledgerd.rpc.blocks.kept_blocks import KeptBlocks
from ledgerd.rpc.call.counts import exactly
from ledgerd.rpc.call.declarations import AnyValue
from ledgerd.rpc.call.view import ApiView, Node
from ledgerd.rpc.link.topics import APPLIED_BLOCK
from ledgerd.state.objects.globals import DYNAMIC_GLOBAL_PROPERTIES

BlockText = Annotated[str, Printed(Block)]


@DATABASE_API.method(args=exactly(1), examples=[[1]])
def get_block(view: ApiView, block_num: UInt32) -> BlockText | None:
    """A block of the trunk with its transactions."""
    packed = view.service(KeptBlocks).packed(view.state, block_num)
    return None if packed is None else codec_of(Block).transcribe(packed)


@DATABASE_API.method(args=exactly(1), examples=[[1]])
def get_block_header(view: ApiView, block_num: UInt32) -> BlockHeader | None:
    """The header of a block, without its signature."""
    packed = view.service(KeptBlocks).packed(view.state, block_num)
    return None if packed is None else codec_of(BlockHeader).decode(packed)  # a block begins with its header


@DATABASE_API.method(args=exactly(1), examples=[[1]])
def get_irreversible_block(view: ApiView, block_num: UInt32) -> BlockText | None:
    """An irreversible block."""
    return get_block(view, block_num) if _is_irreversible(view, block_num) else None


@DATABASE_API.method(args=exactly(1), examples=[[1]])
def get_irreversible_block_header(view: ApiView, block_num: UInt32) -> BlockHeader | None:
    """The header of an irreversible block."""
    return get_block_header(view, block_num) if _is_irreversible(view, block_num) else None


def _is_irreversible(view: ApiView, number: int) -> bool:
    return number <= view.state.get(DYNAMIC_GLOBAL_PROPERTIES, 0).last_irreversible_block_num


@DATABASE_API.method(args=exactly(1))
async def set_block_applied_callback(node: Node, callback: AnyValue) -> AsyncGenerator[BlockText, None]:  # noqa: ARG001
    """Subscribe to every block from now on, as it becomes the head. The argument is ignored."""
    async with aclosing(node.main.events(APPLIED_BLOCK)) as blocks:
        async for packed in blocks:
            yield text_of(packed)


@lru_cache(maxsize=4)
def text_of(packed: bytes) -> str:
    """The JSON of a block for subscribers: made once for all of them."""
    return codec_of(Block).transcribe(packed)
