"""A testnet with a clock that can be moved, and snapshots to go back to: then the same slots are signed again."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec

from ledgerd.chain.chain import Chain
from ledgerd.chain.interface.observer import Observer
from ledgerd.chain.ledger.events import BlockApplied, BlocksUndone
from ledgerd.chain.log.block_log import FULL_LOG
from ledgerd.chain.log.files import paths_of
from ledgerd.node.config.configuration import Configuration
from ledgerd.node.dev.founding import FOUNDING_BLOCKS, equip
from ledgerd.node.part_table import PARTS, Condition, PartSpec
from ledgerd.node.parts.chain import ChainPart
from ledgerd.node.parts.context import NodePart, PartContext
from ledgerd.node.parts.production import ProductionPart
from ledgerd.node.parts.records import HistoryPart
from ledgerd.node.parts.watching.stuck import StuckPart
from ledgerd.node.runtime import Runtime
from ledgerd.node.time_source import MICRO
from ledgerd.producer.loop import Producer, run
from ledgerd.projections.kept import FOLDER
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.constants import BLOCK_INTERVAL, BLOCKS_PER_YEAR
from ledgerd.protocol.errors import RuleViolation, require
from ledgerd.protocol.operations.base import name_of
from ledgerd.protocol.types.endpoint import Endpoint
from ledgerd.rpc.api.node import dev_api
from ledgerd.rpc.link.switchboard import Handler
from ledgerd.rpc.link.topics import packed_topic, unpacked
from ledgerd.state.files.copying import copy_state, put_back
from ledgerd.state.objects.transactions import BLOCK_SUMMARIES, BLOCK_SUMMARY_COUNT
from ledgerd.state.tables.keys import INT64
from ledgerd.supervision.progress import many

log = logging.getLogger(__name__)


class DevSnapshot(NamedTuple):
    """One snapshot."""

    number: int
    folder: Path
    head: int
    log_sizes: tuple[int, ...]
    shift: int


class DevSnapshots:
    """The snapshots of one run of the node."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._kept: dict[int, DevSnapshot] = {}
        self._last = 0

    def keep(self, folder: Path, head: int, shift: int) -> int:
        self._last += 1
        target = self._folder / str(self._last)
        copy_state(folder, target)
        if (folder / FOLDER).is_dir():
            copy_state(folder / FOLDER, target / FOLDER)
        sizes = tuple(path.stat().st_size for path in paths_of(folder, FULL_LOG))
        self._kept[self._last] = DevSnapshot(self._last, target, head, sizes, shift)
        return self._last

    def find(self, number: int) -> DevSnapshot:
        require(number in self._kept, "there is no snapshot ${number}", number=number)
        return self._kept[number]

    def put_back(self, kept: DevSnapshot, folder: Path, head: int) -> None:
        """Restore the state of a snapshot, and the block summaries that each later block has changed."""
        for number in [each for each in self._kept if each > kept.number]:
            shutil.rmtree(self._kept.pop(number).folder, ignore_errors=True)
        since = range(kept.head + 1, head + 1)
        changed = {number % BLOCK_SUMMARY_COUNT for number in since[-BLOCK_SUMMARY_COUNT:]}
        put_back(folder, kept.folder, {BLOCK_SUMMARIES.title: [INT64.encode(number) for number in sorted(changed)]})
        if (kept.folder / FOLDER).is_dir():
            put_back(folder / FOLDER, kept.folder / FOLDER)
        for path, size in zip(paths_of(folder, FULL_LOG), kept.log_sizes, strict=True):
            os.truncate(path, size)


MOST_NAMED = 5
"""Kinds of operations that the log line of a block names."""


class BlockLines(Observer):
    """Logs each block."""

    def applied(self, event: BlockApplied) -> None:
        block = event.block
        fields = {"block": block.number, "validator": block.validator, "content": content_of(block)}
        log.info("block %(block)d by %(validator)s: %(content)s", fields)

    def undone(self, event: BlocksUndone) -> None:
        log.info("back at block %(block)d", {"block": event.head_number})


def content_of(block: Block) -> str:
    if not block.transactions:
        return "empty"
    counts = Counter(name_of(type(each)) for transaction in block.transactions for each in transaction.operations)
    named = [name if count == 1 else f"{count} {name}" for name, count in counts.most_common(MOST_NAMED)]
    if len(counts) > MOST_NAMED:
        named.append("…")
    return f"{many(len(block.transactions), 'transaction')} ({', '.join(named)})"


MOST_BLOCKS = 100_000
"""Blocks that one call makes."""
MOST_SLOTS = 10 * BLOCKS_PER_YEAR
"""The most slots by which one call moves the clock: each missed slot costs time on the chain's thread."""
SNAPSHOT_FOLDER = "dev-snapshots"
SPREAD_SECONDS = 10
"""The spread of the expirations of transactions that were made at the same time."""


class DevOptions(msgspec.Struct, frozen=True):
    """Options of a development chain."""

    block_time: float = float(BLOCK_INTERVAL)
    """Seconds between blocks; 0 makes a block for each transaction and no others."""
    fast_forward: int = 0
    """Seconds by which the clock is moved forward at the start."""
    explorer: Endpoint | None = None
    stands_still: bool = False
    """Whether no time passes between two blocks: each is in the slot after the last one, whenever it is made."""


class NoRecord:
    """A signing record that records nothing, so that every slot may be signed again."""

    def refusal(self, _slot: int, _head_time: int) -> str:
        return ""

    def record(self, _block: Block) -> None:
        """Record nothing."""

    def unapplied(self, _head_id: bytes, _head_time: int) -> Block | None:
        return None


class Development(NodePart):
    """Block production on demand. Methods that use the chain run on its thread."""

    def __init__(self, context: PartContext, chain: ChainPart, history: HistoryPart, options: DevOptions) -> None:
        super().__init__(context)
        self._chain, self._history = chain, history
        self._options = options
        folder = context.configuration.invocation.data_dir / SNAPSHOT_FOLDER
        shutil.rmtree(folder, ignore_errors=True)
        self._snapshots = DevSnapshots(folder)
        self._producer: Producer | None = None
        self.on_revert: list[Callable[[], None]] = []

    @property
    def producer(self) -> Producer:
        if self._producer is None:
            raise RuleViolation("the chain is being opened")
        return self._producer

    @property
    def handlers(self) -> dict[str, Handler]:
        return {
            dev_api.CHAIN_HEAD: lambda _: self._answer(self._head),
            dev_api.MINE: lambda payload: self._answer(partial(self.mine, unpacked(payload, int))),
            dev_api.MOVE_TIME: lambda payload: self._answer(partial(self.move_time, unpacked(payload, int))),
            dev_api.SNAPSHOT: lambda _: self._answer(self.snapshot),
            dev_api.REVERT: lambda payload: self._answer(partial(self.revert, unpacked(payload, int))),
            dev_api.FORGET_PENDING: self._forget_pending,
        }

    async def _answer(self, job: Callable[[], dev_api.Head | dev_api.TakenSnapshot]) -> bytes:
        return packed_topic(await self._chain.run(job))

    async def start(self) -> None:
        await self._chain.attach(self._begin)
        await self._chain.run(self._found)
        if self._options.block_time == BLOCK_INTERVAL:
            self.work.keep("production", lambda _: run(self.producer, self._chain.on_chain, self._time.wall))
        elif self._options.block_time > 0:
            self.work.keep("production", lambda _: self._keep_mining())

    def _begin(self, chain: Chain) -> None:
        settings = self._configuration.validator
        if self._producer is None:
            self._producer = Producer(chain, settings, NoRecord(), self._time.wall)
        else:
            self._producer.move_to(chain)
        self._catch_up_with_head()

    def _found(self) -> None:
        """Begin a new chain a little in the past, so that it has applied its hardforks before the first request."""
        chain = self._chain.chain
        if chain.head_number == 0:
            first = self._time.wall() // MICRO - FOUNDING_BLOCKS * BLOCK_INTERVAL
            for number in range(FOUNDING_BLOCKS + 1):
                self.producer.make_block(first + number * BLOCK_INTERVAL)
                equip(chain, number)
        if self._options.fast_forward:
            self._move_time(self._options.fast_forward)

    async def _keep_mining(self) -> None:
        while True:
            await asyncio.sleep(self._options.block_time)
            await self._chain.on_chain(partial(self.mine, 1))

    def mine_at_once(self, transaction: Transaction) -> None:
        """Each block moves the clock a slot ahead, perhaps ahead of the one that an expiration was chosen by. Where it
        was chosen by the head, which stood still since the last transaction, the block is in the slot after that one,
        and others that were made at the same time still have theirs.
        """
        if self._options.block_time == 0:
            now = self._now()
            self._make(now if now + SPREAD_SECONDS < transaction.expiration else self._head().time)
            chain = self._chain.chain
            block = chain.block_at(chain.head_number)
            is_in = block is not None and any(each.id == transaction.id for each in block.transactions)
            require(is_in, "now < trx.expiration: the chain's clock is ahead of yours, choose a later expiration")

    def mine(self, count: int) -> dev_api.Head:
        require(0 < count <= MOST_BLOCKS, f"count > 0 && count <= {MOST_BLOCKS}: ")
        for _ in range(count):
            self._make(self._now())
        return self._head()

    def _make(self, second: int) -> None:
        if not self.producer.make_block(second):
            raise RuleViolation("the slot belongs to a validator whose key this node does not have")
        self._catch_up_with_head()

    def move_time(self, seconds: int) -> dev_api.Head:
        require(seconds <= MOST_SLOTS * BLOCK_INTERVAL, f"seconds <= {MOST_SLOTS * BLOCK_INTERVAL}: ten years of slots")
        return self._move_time(seconds)

    def _move_time(self, seconds: int) -> dev_api.Head:
        then = self._now() + seconds
        self._time.shift += seconds * MICRO
        self._make(then)
        return self._head()

    def snapshot(self) -> dev_api.TakenSnapshot:
        waiting, head = self._chain.chain.waiting, self._chain.chain.head_number
        numbers: list[int] = []
        self._chain.reopen(lambda: numbers.append(self._snapshots.keep(self._chain.folder, head, self._time.shift)))
        for transaction in waiting:
            with suppress(RuleViolation):
                self._chain.chain.push_transaction(transaction)
        return dev_api.TakenSnapshot(numbers[0], self._chain.chain.head_number)

    def revert(self, number: int) -> dev_api.Head:
        kept = self._snapshots.find(number)
        self._history.truncate(kept.head)
        head = self._chain.chain.head_number
        self._chain.reopen(partial(self._snapshots.put_back, kept, self._chain.folder, head))
        self._time.shift = kept.shift
        self._catch_up_with_head()
        for call in self.on_revert:
            call()
        return self._head()

    async def _forget_pending(self, _payload: bytes) -> bytes:
        await self._chain.run(self._chain.chain.forget_waiting)
        return b""

    def _now(self) -> int:
        return self.producer.chain.head_time if self._options.stands_still else self._time.wall() // MICRO

    def _catch_up_with_head(self) -> None:
        head = self.producer.chain.head_time
        self._time.shift += max(0, head * MICRO - self._time.wall())

    def _head(self) -> dev_api.Head:
        chain = self._chain.chain
        return dev_api.Head(chain.head_number, chain.head_time)


def dev_parts(options: DevOptions) -> Iterator[PartSpec]:
    """The parts of a node, with other production, and without the watchdog: a call may make blocks for minutes."""
    for spec in PARTS:
        if spec.kind is ProductionPart:
            yield spec._replace(when=Condition("never", lambda _: False))
            make = partial(Development, options=options)
            yield PartSpec(spec.name, Development, (ChainPart, HistoryPart), on_end=spec.on_end, make=make)
        elif spec.kind is not StuckPart:
            yield spec


class DevRuntime(Runtime):
    """A node with the production of a development chain."""

    def __init__(self, configuration: Configuration, options: DevOptions) -> None:
        super().__init__(configuration, parts=dev_parts(options))
        development, webserver = self.part(Development), self.webserver
        webserver.broadcasts.on_transaction.append(development.mine_at_once)
        development.on_revert.append(partial(webserver.publish, dev_api.REVERTED, b""))
        webserver.offer("dev_api", development.handlers)
        self._explorer = options.explorer
        self.explorer_addresses: list[tuple[str, int]] = []

    async def start(self) -> None:
        """Start, and log each block from then on: what the operator is told first are addresses and keys."""
        await super().start()
        await self.chain.attach(lambda chain: chain.observe(BlockLines()))
        if self._explorer is not None:
            await self._show(self._explorer)

    async def _show(self, listen: Endpoint) -> None:
        from ledgerd.explorer.process import ExplorerPart  # noqa: PLC0415 - templates are loaded where they are wanted
        from ledgerd.explorer.settings import ExplorerSettings  # noqa: PLC0415

        http, websocket = (Endpoint(*each) for each in (self.webserver.addresses[0], self.webserver.addresses[-1]))
        settings = ExplorerSettings(node=f"http://{http}", live=f"ws://{websocket}", listen=listen)
        part = ExplorerPart(settings)
        await self._start(part)
        self.explorer_addresses.append(part.address)
