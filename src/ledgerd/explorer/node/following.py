"""Follows the head of the node: asks for each new block once, and says when the node is away and when it is back."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import orjson
from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

from ledgerd.client.address import SECURE_SOCKET, SOCKET, read_address
from ledgerd.client.envelope import ErrorAnswer, NodeCall, packed, request_of
from ledgerd.client.pool import NodeAway, NodePool
from ledgerd.explorer.node.watch import BLOCKS_KEPT, TRANSFERS_KEPT, BlockFacts, ChainWatch, TransferFacts

log = logging.getLogger(__name__)

AT_ONCE = 32
POLL_SECONDS = 0.2
LONGEST_WAIT = 4.0
"""Seconds without a message about a block after which the head is asked for."""
PAUSE = 1.0
MOST_KINDS = 3
"""Kinds of operations that lists name of a block."""
BEFORE_THE_FIRST = "0" * 40

PROPERTIES = NodeCall("database_api", "get_dynamic_global_properties")
SCHEDULE = NodeCall("validator_api", "get_validator_schedule")
HARDFORK = NodeCall("database_api", "get_hardfork_version")
CONFIG = NodeCall("database_api", "get_config")
TRANSFERS = NodeCall("history_api", "get_operations", ({"types": ["transfer"]}, "newest", TRANSFERS_KEPT))


class FullBlock(NamedTuple):
    """A block and what happened in it, as the node prints them."""

    number: int
    content: Mapping[str, Any]
    operations: Sequence[Mapping[str, Any]]


class HeadFollower:
    """Keeps a chain at the head of a node."""

    def __init__(self, node: NodePool, watch: ChainWatch, live: str = "") -> None:
        self._node = node
        self._watch = watch
        self._live = live
        if live:
            read_address(live, (SOCKET, SECURE_SOCKET))
        self._news = asyncio.Event()
        self._is_subscribed = False

    async def run(self, _working: Callable[[], None]) -> None:
        while True:
            try:
                while True:
                    await self.refresh()
                    await self._next()
            except NodeAway as problem:
                self._lose(str(problem))
            except (LookupError, TypeError, ValueError) as problem:
                # Whatever stands at the address, it is asked again: an explorer waits for its node, and does not end.
                log.debug("what the node answers cannot be read", exc_info=problem)
                self._lose("what it answers is not what a node says")
            await asyncio.sleep(PAUSE)

    def _lose(self, why: str) -> None:
        if not self._watch.away:
            log.warning("the node %(url)s is away: %(why)s", {"url": self._node.url, "why": why})
        self._watch.lose(why)

    async def listen(self, working: Callable[[], None]) -> None:
        request = packed(request_of(1, NodeCall("database_api", "set_block_applied_callback", (0,)))).decode()
        try:
            async with connect(self._live, max_size=32 << 20, open_timeout=5) as socket:
                await socket.send(request)
                working()
                self._is_subscribed = True
                async for message in socket:
                    if "error" in orjson.loads(message):
                        raise NodeAway("it tells of no blocks")
                    self._news.set()
        except (OSError, WebSocketException, TimeoutError, TypeError, orjson.JSONDecodeError) as problem:
            raise NodeAway(f"{self._live}: {problem}") from None
        finally:
            self._is_subscribed = False
        raise NodeAway(f"{self._live}: the connection ended")

    async def _next(self) -> None:
        try:
            async with asyncio.timeout(LONGEST_WAIT if self._is_subscribed else POLL_SECONDS):
                await self._news.wait()
        except TimeoutError:
            return
        finally:
            self._news.clear()

    async def _begin(self) -> None:
        watch = self._watch
        answers = await self._node.ask(CONFIG, HARDFORK, PROPERTIES, SCHEDULE, TRANSFERS)
        config, hardfork, properties, schedule = _needed(answers[:4])
        head = int(properties["head_block_number"])
        oldest = max(1, head - BLOCKS_KEPT + 1, int(properties.get("earliest_available_block_num") or 1))
        blocks: list[FullBlock] = []
        for first in range(oldest, head + 1, AT_ONCE):
            blocks += await self._blocks(first, min(head, first + AT_ONCE - 1))
        watch.config, watch.hardfork = config, hardfork
        watch.has_history = not isinstance(answers[4], ErrorAnswer)
        watch.blocks.clear()
        watch.transfers.clear()
        rows = answers[4]["operations"] if watch.has_history else []
        watch.transfers.extendleft(_transfer(each) for each in rows)
        self._move_to(properties, schedule, blocks)
        log.info("the node %(url)s answers; its head block: %(head)d", {"url": self._node.url, "head": head})

    async def refresh(self) -> None:
        watch = self._watch
        if watch.away:
            await self._begin()
            return
        (properties,) = _needed(await self._node.ask(PROPERTIES))
        head, known = int(properties["head_block_number"]), watch.head
        if properties["head_block_id"] == watch.properties["head_block_id"]:
            return
        blocks = await self._blocks(known + 1, head) if known < head <= known + AT_ONCE else []
        newest = watch.blocks[0].id if watch.blocks else BEFORE_THE_FIRST
        is_next = len(blocks) == head - known > 0 and blocks[0].content["previous"] == newest
        if not is_next:  # another branch, or many blocks at once
            await self._begin()
            return
        watch.hardfork, schedule = _needed(await self._node.ask(HARDFORK, SCHEDULE))
        for block in blocks:
            watch.transfers.extendleft(_transfer(each) for each in block.operations if each["op"][0] == "transfer")
        self._move_to(properties, schedule, blocks)

    def _move_to(self, properties: Mapping[str, Any], schedule: Mapping[str, Any], blocks: list[FullBlock]) -> None:
        rows = [(each.number, each.content) for each in blocks]
        self._watch.move_to(properties, schedule, facts_of_blocks(rows, str(properties["head_block_id"])))

    async def _blocks(self, first: int, last: int) -> list[FullBlock]:
        """Blocks with all their operations; without these where the node keeps no history."""
        numbers = range(first, last + 1)
        asked = [NodeCall("database_api", "get_block", (number,)) for number in numbers]
        asked += [NodeCall("operation_history", "get_ops_in_block", (number, False)) for number in numbers]
        answers = await self._node.ask(*asked)
        return [
            FullBlock(number, block, [] if isinstance(operations, ErrorAnswer) else operations)
            for number, block, operations in zip(numbers, answers, answers[len(numbers) :], strict=False)
            if isinstance(block, dict)
        ]


def _needed(answers: Sequence[Any]) -> Sequence[Any]:
    for each in answers:
        if isinstance(each, ErrorAnswer):
            raise NodeAway(each.message)
    return answers


def facts_of_blocks(blocks: Sequence[tuple[int, Mapping[str, Any]]], head_id: str) -> list[BlockFacts]:
    """Facts on consecutive blocks, for lists. A block does not contain its own id; the next one does."""
    ids = [str(content["previous"]) for _, content in blocks[1:]] + [head_id]
    return [
        BlockFacts(
            number=number,
            id=identifier,
            time=content["timestamp"],
            validator=content["validator"],
            transactions=len(content["transactions"]),
            operations=sum(len(one["operations"]) for one in content["transactions"]),
            kinds=_kinds(content),
        )
        for (number, content), identifier in zip(blocks, ids, strict=False)
    ]


def facts_of_summary(block: Mapping[str, Any]) -> BlockFacts:
    return BlockFacts(
        number=block["block"],
        id=block["block_id"],
        time=block["timestamp"],
        validator=block["validator"],
        transactions=block["transactions"],
        operations=block["operations"],
        kinds=tuple((each["name"], each["count"]) for each in block["kinds"][:MOST_KINDS]),
    )


def _kinds(block: Mapping[str, Any]) -> tuple[tuple[str, int], ...]:
    counts = Counter(operation[0] for one in block["transactions"] for operation in one["operations"])
    return tuple(counts.most_common(MOST_KINDS))


def _transfer(row: Mapping[str, Any]) -> TransferFacts:
    return TransferFacts(row["timestamp"], row["block"], row["trx_id"], row["op"][1])
