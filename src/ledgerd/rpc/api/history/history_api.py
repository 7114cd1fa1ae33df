"""`history_api`: filters, cursors and a stream of operations. The reference does not have this API."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Annotated

from ledgerd.chain.log.histories import History
from ledgerd.codec.json.text import Json
from ledgerd.codec.types.numbers import Int64, UInt32
from ledgerd.protocol.errors import RuleViolation, require
from ledgerd.protocol.types.identifiers import TransactionId
from ledgerd.protocol.types.names import cut_name
from ledgerd.rpc.api.history import summaries
from ledgerd.rpc.api.history.filter import NO_FILTER, Filter
from ledgerd.rpc.api.history.market_stream import MarketMessage, MarketStream
from ledgerd.rpc.api.history.pages import NEWEST, AccountPage, BlocksPage, account_page, blocks_page
from ledgerd.rpc.api.history.stream import HistoryStream, StreamMessage, Subscriptions, messages_of
from ledgerd.rpc.api.shared.kinds import Printed
from ledgerd.rpc.blocks.kept_blocks import KeptBlocks
from ledgerd.rpc.call.counts import UNCOUNTED, exactly
from ledgerd.rpc.call.declarations import Api
from ledgerd.rpc.call.view import ApiView, Node

HISTORY_API = Api("history_api", "What happened, as it is looked for: filters, pages in both directions, a stream.")

AccountPageText = Annotated[str, Printed(AccountPage)]
BlocksPageText = Annotated[str, Printed(BlocksPage)]
StreamMessageText = Annotated[str, Printed(StreamMessage)]
MarketMessageText = Annotated[str, Printed(MarketMessage)]

MOST_OF_A_PAGE = 1_000
"""The limit that the reference has."""
MOST_SUMMARIES = 50
"""Blocks of one answer."""


def _require_limit(limit: int) -> None:
    require(
        0 < limit <= MOST_OF_A_PAGE, f"limit: 1 to {MOST_OF_A_PAGE} operations make a page, not ${{limit}}", limit=limit
    )


TRANSFERS: Json = {"types": ["transfer"], "direction": "incoming"}


@HISTORY_API.method(args=UNCOUNTED, examples=[["viz"], ["viz", TRANSFERS, "oldest", 10]])
def get_account_operations(
    view: ApiView, account: str, filter_: Filter = NO_FILTER, cursor: str = NEWEST, limit: UInt32 = 100
) -> AccountPageText:
    """A page of the operations that touched an account and pass a filter, and cursors to continue.

    A page may have fewer entries than the limit, even none, while there are more: continue while there is `older`, or
    until `newer` no longer changes. The filter's `accounts` are ignored; its `direction` is that of the account.
    """
    _require_limit(limit)
    with view.service(History).reading() as history:
        return account_page(history, cut_name(account), filter_, cursor, limit)


@HISTORY_API.method(args=UNCOUNTED, examples=[[], [{"types": ["validator_reward"]}, "oldest", 10]])
def get_operations(
    view: ApiView, filter_: Filter = NO_FILTER, cursor: str = NEWEST, limit: UInt32 = 100
) -> BlocksPageText:
    """A page of the operations of all accounts that pass a filter, block by block, and cursors to continue.

    A page has whole blocks, and ends with the one in which the limit was reached. It may have fewer operations than the
    limit, even none, while there are more.
    """
    _require_limit(limit)
    with view.service(History).reading() as history:
        return blocks_page(history, filter_, cursor, limit)


@HISTORY_API.method(args=UNCOUNTED, examples=[[1], [1, 3]])
def get_blocks(view: ApiView, first: UInt32, limit: UInt32 = 25) -> tuple[summaries.SummedUpBlock, ...]:
    """The headers of blocks from one on, each with its id and how many operations of which kinds are in it.

    The answer ends before a block that the node does not have, after 8 MiB of blocks, and after 1 MiB of those that
    the history does not have, which have to be decoded: their virtual operations are not counted. Where options leave
    kinds of operations out of the history, they are not counted either.
    """
    require(
        0 < limit <= MOST_SUMMARIES,
        f"limit: 1 to {MOST_SUMMARIES} blocks are told of at once, not ${{limit}}",
        limit=limit,
    )
    kept = view.service(KeptBlocks)
    with view.service(History).reading() as history:
        numbers = range(first, min(first + limit, 1 << 32))
        return summaries.block_summaries(history, ((number, kept.packed(view.state, number)) for number in numbers))


@HISTORY_API.method(args=UNCOUNTED, examples=[[1], [1, 0, 10]])
def get_block_operations(
    view: ApiView, block: UInt32, first: UInt32 = 0, limit: UInt32 = 100
) -> summaries.BlockOperations:
    """A part of the operations of a block, from the one of this place on, and how many there are.

    They are in the order of `get_ops_in_block`, virtual ones included.
    """
    _require_limit(limit)
    with view.service(History).reading() as history:
        return summaries.block_operations(history, block, first, limit)


@HISTORY_API.method(args=UNCOUNTED, examples=[["0000000000000000000000000000000000000000", 0, 20]])
def get_transaction(
    view: ApiView, transaction_id: TransactionId, first: UInt32 = 0, limit: UInt32 = 100
) -> summaries.SummedUpTransaction:
    """A transaction with a part of its operations, its place and time, and the virtual operations that it led to.

    Of those at most `limit` are told, the first ones.
    """
    _require_limit(limit)
    with view.service(History).reading() as history:
        place = history.place_of(transaction_id)
        packed = None if place is None else view.service(KeptBlocks).packed(view.state, place.block)
        if place is None or packed is None:
            raise RuleViolation("Unknown Transaction ${t}", t=transaction_id.hex())
        return summaries.transaction_summary(history, transaction_id, place, packed, slice(first, first + limit))


@HISTORY_API.method(args=UNCOUNTED, examples=[[1], [1, {"accounts": ["viz"]}, False]])
async def subscribe(
    node: Node, from_block: UInt32 = 0, filter_: Filter = NO_FILTER, reversible: bool = False
) -> AsyncGenerator[StreamMessageText, None]:
    """Subscribe to the operations of all blocks from a block on, in order: recorded ones, then new ones.

    Each message covers whole blocks. After a lost connection, subscribe from the block after the `last_block` of the
    last message: nothing is missed or repeated. Without a number the stream begins after the last block. Only
    irreversible blocks are sent, unless `reversible` is true: then blocks are sent as they are applied, and
    `undone_from` says which of them were undone.
    """
    subscriptions = node.service(Subscriptions)
    stream = HistoryStream(subscriptions.history, filter_.wanted, from_block, reversible=reversible)
    with subscriptions.entered(asyncio.current_task()) as name:
        async for message in messages_of(stream, name, node.main):
            yield message


@HISTORY_API.method(args=UNCOUNTED, examples=[[0], [0, 1, True]])
async def subscribe_market(
    node: Node, market: Int64, from_block: UInt32 = 0, reversible: bool = False
) -> AsyncGenerator[MarketMessageText, None]:
    """What happens in a market, from a block on: bets, decisions of its oracle, disputes, payouts, and its prices.

    Goes on and is resumed as `subscribe` is. `prices` holds the points that `get_market_kline` has of these blocks, if
    the plugin prediction_market_api runs, and until they are removed.
    """
    subscriptions = node.service(Subscriptions)
    stream = MarketStream(subscriptions.history, node, market, from_block, reversible=reversible)
    with subscriptions.entered(asyncio.current_task()) as name:
        async for message in messages_of(stream, name, node.main):
            yield message


@HISTORY_API.method(args=exactly(1), cached=False, examples=[["0123456789abcdef"]])
def unsubscribe(view: ApiView, subscription: str) -> bool:
    """End a subscription of this connection, by the name that its first message gave; false where there is none."""
    return view.service(Subscriptions).end(subscription)
