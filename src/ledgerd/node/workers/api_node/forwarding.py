"""What only a node can do, for clients of an API node: it is sent on, with their address in `X-Forwarded-For`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from ipaddress import ip_address
from typing import Any, cast

import orjson

from ledgerd.client.envelope import ErrorAnswer, NodeCall
from ledgerd.client.pool import NodeAway, NodePool
from ledgerd.codec import codec_of
from ledgerd.codec.json.text import Json, dumps
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.errors import require
from ledgerd.rpc.api.node.node_api import SIMULATE
from ledgerd.rpc.call.errors import OTHER, PlainError
from ledgerd.rpc.link.topics import BROADCAST_BLOCK, BROADCAST_TRANSACTION, Broadcast, unpacked

MOST_OF_ONE = 16
"""Requests of one address that wait for the node at a time."""

METHODS = {
    BROADCAST_TRANSACTION: ("network_broadcast_api", "broadcast_transaction", Transaction),
    BROADCAST_BLOCK: ("network_broadcast_api", "broadcast_block", Block),
    SIMULATE: ("node_api", "simulate_transaction", Transaction),
}

NO_NODE = "This is an API node without a node to send to: it was started without --node"
NOT_HERE = "This is an API node, which has no peers and makes no blocks: ask a node"
TOO_MANY = "Too many requests of this address wait for the node"


class Forwarder:
    """The node of an API node. `head_time` is that of the state, and `clock` that of the network."""

    def __init__(self, url: str, head_time: Callable[[], int], clock: Callable[[], float]) -> None:
        self._pool = NodePool(url) if url else None
        self._head_time = head_time
        self._clock = clock
        self._waiting = Counter[str]()

    async def ask(self, topic: str, payload: bytes) -> bytes:
        if topic not in METHODS:
            raise PlainError(NOT_HERE)
        if self._pool is None:
            raise PlainError(NO_NODE)
        asked = unpacked(payload, Broadcast)
        if asked.max_block_age >= 0:
            oldest = int(self._clock()) - asked.max_block_age
            require(self._head_time() >= oldest, "!check_max_block_age(max_block_age): ")
        if self._waiting[asked.share] >= MOST_OF_ONE:
            raise PlainError(TOO_MANY)
        self._waiting[asked.share] += 1
        try:
            result = await self._sent(self._pool, topic, asked.packed, asked.share)
        finally:
            self._waiting[asked.share] -= 1
            if not self._waiting[asked.share]:
                del self._waiting[asked.share]
        return dumps(result).encode("utf-8", "surrogateescape")

    async def _sent(self, pool: NodePool, topic: str, packed: bytes, share: str) -> Any:  # noqa: ANN401 - JSON
        api, method, kind = METHODS[topic]
        codec = codec_of(kind)
        text = codec.to_json(codec.decode_exactly(packed)).encode("utf-8", "surrogateescape")
        try:
            (found,) = await pool.ask(NodeCall(api, method, (orjson.Fragment(text),)), asker=address_in(share))
        except NodeAway as problem:
            raise PlainError(f"The node that takes broadcasts cannot be reached: {problem}") from None
        if isinstance(found, ErrorAnswer):
            code = found.code if isinstance(found.code, int) else OTHER
            raise PlainError(found.message, code, "" if found.data is None else dumps(cast("Json", found.data)))
        return found

    def close(self) -> None:
        if self._pool is not None:
            self._pool.close()


def address_in(share: str) -> str:
    address = share.partition(" ")[0].partition("/")[0]
    try:
        ip_address(address)
    except ValueError:
        return ""
    return address
