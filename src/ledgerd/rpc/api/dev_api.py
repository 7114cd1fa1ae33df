"""`dev_api`: for a chain to develop on, and for no other. Time moves and blocks come when a developer says so.

The main process does it; what is asked of it stands at the end of this module.
"""

from __future__ import annotations

import msgspec

from ledgerd.codec.numbers import UInt32
from ledgerd.rpc.call.counts import UNCOUNTED, exactly
from ledgerd.rpc.call.declarations import Api, Nothing
from ledgerd.rpc.call.view import Node

DEV_API = Api("dev_api", "Time, blocks and snapshots of a chain to develop on.")


class Head(msgspec.Struct, frozen=True):
    """Where the chain stands now."""

    head_block_number: UInt32
    time: UInt32
    """Seconds since 1970, by the chain's own clock."""


class TakenSnapshot(msgspec.Struct, frozen=True):
    """A state that can be gone back to."""

    snapshot: UInt32
    head_block_number: UInt32


@DEV_API.method(args=exactly(0), cached=False, examples=[[]])
async def head(node: Node) -> Head:
    """Where the chain stands, with its time in seconds."""
    return head_of(await node.main.ask(STAND, b""))


@DEV_API.method(args=UNCOUNTED, cached=False, examples=[[5]])
async def mine_blocks(node: Node, count: UInt32 = 1) -> Head:
    """Make blocks at once, the waiting transactions in the first; the clock goes with them."""
    return head_of(await node.main.ask(MINE, msgspec.msgpack.encode(count)))


@DEV_API.method(args=exactly(1), cached=False, examples=[[86_400]])
async def move_time(node: Node, seconds: UInt32) -> Head:
    """Put the clock forward, and make a block of that moment."""
    return head_of(await node.main.ask(MOVE_TIME, msgspec.msgpack.encode(seconds)))


@DEV_API.method(args=exactly(0), cached=False, examples=[[]])
async def snapshot(node: Node) -> TakenSnapshot:
    """Keep the chain as it is now."""
    return msgspec.msgpack.decode(await node.main.ask(SNAPSHOT, b""), type=TakenSnapshot)


@DEV_API.method(args=exactly(1), cached=False)
async def revert(node: Node, snapshot: UInt32) -> Head:
    """Go back to a snapshot, which stays; those made after it are gone, and so are waiting transactions."""
    return head_of(await node.main.ask(REVERT, msgspec.msgpack.encode(snapshot)))


@DEV_API.method(args=exactly(0), cached=False, examples=[[]])
async def forget_pending(node: Node) -> Nothing:
    """Drop the transactions that wait for a block."""
    await node.main.ask(FORGET_PENDING, b"")
    return Nothing()


STAND = "where the chain stands"
"""A question without words. The answer is a `Head`."""

MINE = "mine blocks"
"""A question: how many. The answer is a `Head`."""

MOVE_TIME = "move time"
"""A question: by how many seconds. The answer is a `Head`."""

SNAPSHOT = "keep a snapshot"
"""A question without words. The answer is a `TakenSnapshot`."""

REVERT = "revert to a snapshot"
"""A question: to which. The answer is a `Head`."""

REVERTED = "the chain was taken back"
"""An event without words: blocks that were irreversible are gone."""

FORGET_PENDING = "forget what waits"
"""A question without words; the answer is empty."""


def head_of(payload: bytes) -> Head:
    """What the main process answers."""
    return msgspec.msgpack.decode(payload, type=Head)


def number_of(payload: bytes) -> int:
    """What a worker asks for."""
    return msgspec.msgpack.decode(payload, type=int)


def packed_answer(answer: Head | TakenSnapshot) -> bytes:
    """The bytes of an answer."""
    return msgspec.msgpack.encode(answer)
