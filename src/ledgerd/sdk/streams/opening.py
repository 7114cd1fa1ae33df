"""Streams over nodes, put together."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Collection
from typing import TypeVar

import msgspec

from ledgerd.protocol.operations import Operation
from ledgerd.sdk.connection.nodes import Nodes
from ledgerd.sdk.streams.cursor import StreamCursor
from ledgerd.sdk.streams.events import BlockEvent, OperationEvent, Since, Undone
from ledgerd.sdk.streams.following import BlockFollower, FollowSettings, beginning
from ledgerd.sdk.streams.operations import WantedOperations, operations_of
from ledgerd.sdk.streams.reading.accounts import AccountBlocks
from ledgerd.sdk.streams.reading.nodes import NodesSource
from ledgerd.sdk.streams.stream import ChainStream
from ledgerd.sdk.streams.waiting import BlockWaiter

E = TypeVar("E")

BESIDE_BLOCKS = 2
"""Calls in a request for blocks: for the head, and for what follows the blocks."""


class StreamOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Where a stream begins and ends, and which blocks it gives."""

    irreversible: bool
    since: Since
    until: int | None
    undone: bool
    window: int


def open_blocks(nodes: Nodes, options: StreamOptions) -> ChainStream[BlockEvent | Undone]:
    def begin(_move: Callable[[StreamCursor], None]) -> AsyncGenerator[BlockEvent | Undone, None]:
        return _with_undone(_events(nodes, options, with_history=False), options)

    return ChainStream(begin)


def open_operations(
    nodes: Nodes,
    options: StreamOptions,
    *,
    kinds: Collection[type[Operation] | str] | None,
    account: str | None,
    history: bool,
) -> ChainStream[OperationEvent | Undone]:
    wanted = WantedOperations(kinds, account)
    _, known = beginning(options.since)
    newest = max(known, key=lambda each: each.number, default=None)

    def begin(move: Callable[[StreamCursor], None]) -> AsyncGenerator[OperationEvent | Undone, None]:
        events = _events(nodes, options, with_history=history, account=account)
        return _with_undone(operations_of(events, wanted, newest, move), options)

    return ChainStream(begin)


async def _events(
    nodes: Nodes, options: StreamOptions, *, with_history: bool, account: str | None = None
) -> AsyncGenerator[BlockEvent | Undone, None]:
    limits = nodes.limits
    waiter = BlockWaiter(nodes)
    ahead = max(1, limits.at_once // 4)
    only = AccountBlocks(nodes, account, ahead) if account and with_history else None
    source = NodesSource(nodes, waiter.wait, with_history=with_history, only=only)
    settings = FollowSettings(
        irreversible=options.irreversible,
        until=options.until,
        window=options.window,
        at_a_time=max(1, (limits.largest_batch - BESIDE_BLOCKS) // (2 if with_history else 1)),
        ahead=ahead,
        timeout=limits.stream_seconds,
    )
    events = BlockFollower(source, options.since, settings, nodes.clock).events()
    try:
        async for event in events:
            yield event
    finally:
        await events.aclose()
        waiter.close()


async def _with_undone(
    events: AsyncGenerator[E | Undone, None], options: StreamOptions
) -> AsyncGenerator[E | Undone, None]:
    """Events, those of undone blocks only where they are asked for."""
    try:
        async for event in events:
            if options.undone or not isinstance(event, Undone):
                yield event
    finally:
        await events.aclose()
