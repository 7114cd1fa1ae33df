"""`dev_api`: controls time and blocks of a development chain (`ledgerd dev`); the main process carries it out."""

from __future__ import annotations

import msgspec

from ledgerd.codec.types.numbers import UInt32
from ledgerd.rpc.call.counts import UNCOUNTED, exactly
from ledgerd.rpc.call.declarations import Api, Nothing
from ledgerd.rpc.call.view import Node
from ledgerd.rpc.link.topics import packed_topic, unpacked

DEV_API = Api("dev_api", "Time, blocks and snapshots of a chain to develop on.")


class Head(msgspec.Struct, frozen=True):
    """The head of the chain."""

    head_block_number: UInt32
    time: UInt32
    """Seconds since 1970, by the chain's own clock."""


class TakenSnapshot(msgspec.Struct, frozen=True):
    """A state that the chain can return to."""

    snapshot: UInt32
    head_block_number: UInt32


@DEV_API.method(args=exactly(0), cached=False, examples=[[]])
async def head(node: Node) -> Head:
    """The head of the chain, and its time in seconds."""
    return unpacked(await node.main.ask(CHAIN_HEAD, b""), Head)


@DEV_API.method(args=UNCOUNTED, cached=False, examples=[[5]])
async def mine_blocks(node: Node, count: UInt32 = 1) -> Head:
    """Make a number of blocks at once, with the pending transactions in the first; the clock moves with them."""
    return unpacked(await node.main.ask(MINE, packed_topic(count)), Head)


@DEV_API.method(args=exactly(1), cached=False, examples=[[86_400]])
async def move_time(node: Node, seconds: UInt32) -> Head:
    """Move the clock forward by a number of seconds, and make a block."""
    return unpacked(await node.main.ask(MOVE_TIME, packed_topic(seconds)), Head)


@DEV_API.method(args=exactly(0), cached=False, examples=[[]])
async def snapshot(node: Node) -> TakenSnapshot:
    """Keep the current state, to return to it with `revert`."""
    return unpacked(await node.main.ask(SNAPSHOT, b""), TakenSnapshot)


@DEV_API.method(args=exactly(1), cached=False)
async def revert(node: Node, snapshot: UInt32) -> Head:
    """Return to a snapshot, which is kept. Later snapshots and pending transactions are dropped."""
    return unpacked(await node.main.ask(REVERT, packed_topic(snapshot)), Head)


@DEV_API.method(args=exactly(0), cached=False, examples=[[]])
async def forget_pending(node: Node) -> Nothing:
    """Drop the pending transactions."""
    await node.main.ask(FORGET_PENDING, b"")
    return Nothing()


CHAIN_HEAD = "chain head"
"""A request without arguments, answered with a `Head`."""

MINE = "mine blocks"
"""A request with the number of blocks, answered with a `Head`."""

MOVE_TIME = "move time"
"""A request with the seconds, answered with a `Head`."""

SNAPSHOT = "keep a snapshot"
"""A request without arguments, answered with a `TakenSnapshot`."""

REVERT = "revert to a snapshot"
"""A request with the number of the snapshot, answered with a `Head`."""

REVERTED = "the chain was taken back"
"""An event without data: irreversible blocks were removed."""

FORGET_PENDING = "forget what waits"
"""A request without arguments; the answer is empty."""
