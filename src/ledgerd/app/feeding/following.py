"""Feeds an application: as much of the past as fits in a transaction at once, then block after block, over forks.

Whatever fails is tried again after a pause, from where the tables stand: nothing is lost, and nothing applied twice.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Sequence
from contextlib import ExitStack, aclosing, suppress
from functools import partial

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from ledgerd.app.declaring.application import Application
from ledgerd.app.declaring.steps import FedBlock
from ledgerd.app.errors import DatabaseLost, DatabaseRefused, HandlerFailed, HandlerHangs, WrongFeed
from ledgerd.app.feeding.progress import AWAITED, FeedProgress
from ledgerd.app.feeding.settings import FeedSettings
from ledgerd.app.feeding.source import BlockFeed, client_of
from ledgerd.app.feeding.threads import JobThread
from ledgerd.app.tables.databases import database_error_text
from ledgerd.app.tables.opening import open_tables
from ledgerd.app.tables.store import FollowedTables
from ledgerd.protocol.types.identifiers import BlockId, block_number_of
from ledgerd.sdk.errors import ClientError
from ledgerd.sdk.streams.errors import ForkTooDeep
from ledgerd.sdk.streams.events import Undone
from ledgerd.supervision.work import Work

log = logging.getLogger(__name__)

CHECK_SECONDS = 1.0
LINE_SECONDS = 10.0
TOO_DEEP = (
    "the nodes' chain has other blocks than the tables, from below what these can undo: dev_api.revert has taken them "
    "back, or the nodes are on a branch that will end. Unless it ends, make the tables again: ledgerd app rebuild"
)


class ApplicationFeed:
    """Feeds one application from nodes, and tries again after a failure."""

    def __init__(self, application: Application, settings: FeedSettings, work: Work, progress: FeedProgress) -> None:
        self._application, self._settings, self._progress = application, settings, progress
        self._thread = JobThread(work, "tables")
        self._open = ExitStack()
        """The open tables, which are closed on the thread that opened them."""
        self._tables: FollowedTables | None = None
        self._pause = settings.first_pause
        self._logged = ""
        self._line = (time.monotonic(), 0)

    async def open(self) -> None:
        """Open the tables. `OperatorError`: something is wrong with them."""
        try:
            self._tables = await self._thread.run(self._opened)
        except DatabaseLost as problem:
            raise DatabaseRefused(str(problem)) from problem

    async def run(self) -> None:
        """Feed blocks, up to the last one that is asked for, if any. Wait for a database that was opened once and is
        lost.
        """
        while True:
            try:
                if (tables := self._tables) is None:
                    tables = await self._thread.run(self._opened)
                await self._follow_again(tables)
            except (DatabaseLost, DatabaseRefused) as problem:
                self._tables = None
                await self._thread.run(self._close)
                await self._fail(problem)
            else:
                await self._thread.run(self._close)
                return

    async def stop(self) -> None:
        """Close the tables after the transaction that is going on; a handler that hangs is not waited for."""
        try:
            async with asyncio.timeout(self._settings.stop_seconds):
                await self._thread.run(self._close)
        except TimeoutError:
            log.warning("a transaction has not ended in time: nothing of it is kept")
        self._thread.end()

    async def watch(self) -> None:
        """End the program when a handler hangs: its transaction goes with it."""
        while True:
            await asyncio.sleep(min(CHECK_SECONDS, self._settings.handler_seconds / 2))
            found = self._progress.overdue(self._settings.handler_seconds)
            if found is not None:
                block, handler, file = found
                raise HandlerHangs(
                    f"handler {handler} has run for {self._settings.handler_seconds:g} s at block {block}"
                    f"{self._thread.place(file)}, and is given up. Nothing of the block is kept; the next start goes "
                    "on with it"
                )

    def _opened(self) -> FollowedTables:
        try:
            tables = self._open.enter_context(open_tables(self._application, self._settings.database))
        except DBAPIError as problem:
            raise DatabaseLost(f"the database: {database_error_text(problem)}") from problem
        tables.at = self._progress.call
        return tables

    def _close(self) -> None:
        with suppress(SQLAlchemyError):  # of a database that is lost
            self._open.close()

    async def _follow_again(self, tables: FollowedTables) -> None:
        while True:
            try:
                await self._follow(tables)
            except (HandlerFailed, WrongFeed, ClientError) as problem:
                await self._fail(problem)
            else:
                return

    async def _fail(self, problem: Exception) -> None:
        words = f"{TOO_DEEP} ({problem})" if isinstance(problem, ForkTooDeep) else str(problem)
        self._progress.set_failing(words)
        if words != self._logged:
            log.warning("%(what)s; tried again in %(pause)g s", {"what": words, "pause": self._pause})
            self._logged = words
        await asyncio.sleep(self._pause)
        self._pause = min(self._pause * 2, self._settings.longest_pause)

    async def _follow(self, tables: FollowedTables) -> None:
        async with client_of(self._settings, tables.chain) as client:
            if not tables.chain:
                chain = await client.chain_id()
                await self._thread.run(partial(tables.keep_chain, chain))
            feed = BlockFeed(self._application, self._settings, client)
            feed.nodes.on_report = partial(self._learn_head, tables, feed)
            self._show(tables, feed)
            try:
                await _Batches(self, tables, feed).run()
            finally:
                feed.close()

    async def advance(
        self, tables: FollowedTables, feed: BlockFeed, blocks: Sequence[FedBlock], undone: Sequence[BlockId]
    ) -> None:
        """Apply blocks to the tables in one transaction."""
        irreversible = _irreversible(tables, blocks, feed.nodes.irreversible)
        try:
            await self._thread.run(partial(tables.advance, blocks, irreversible, undone))
        finally:
            self._show(tables, feed)
        progress = self._progress
        progress.irreversible = max(progress.irreversible, irreversible)
        progress.blocks += len(blocks)
        progress.operations += sum(len(each.operations) for each in blocks)
        progress.undone += len(undone)
        progress.forks += bool(undone)
        progress.set_failing("")
        self._logged, self._pause = "", self._settings.first_pause
        self._log(undone)

    def _show(self, tables: FollowedTables, feed: BlockFeed) -> None:
        progress = self._progress
        progress.number = tables.next - 1
        progress.head = max(feed.nodes.head, progress.number)
        progress.reversible = sum(each.can_undo for each in tables.applied)

    def _learn_head(self, tables: FollowedTables, feed: BlockFeed) -> None:
        """Take in the head that a node has reported. If the tables are there already, the feed is no longer failing."""
        self._show(tables, feed)
        if self._progress.failing == AWAITED and tables.applied and not self._progress.behind:
            self._progress.set_failing("")

    def _log(self, undone: Sequence[BlockId]) -> None:
        progress, now = self._progress, time.monotonic()
        if undone:
            facts = {"count": len(undone), "first": block_number_of(undone[-1]), "number": progress.number}
            log.info("a fork has undone %(count)d blocks from block %(first)d on; now at block %(number)d", facts)
        since, before = self._line
        if now - since < LINE_SECONDS:
            return
        self._line = (now, progress.blocks)
        if progress.behind > 1:
            rate = (progress.blocks - before) / (now - since)
            left = progress.behind / rate / 60 if rate else 0
            facts = {"number": progress.number, "head": progress.head, "rate": round(rate), "left": round(left)}
            log.info("block %(number)d of %(head)d, %(rate)d blocks a second, %(left)d minutes left", facts)


class _Batches:
    """Collects blocks for a transaction."""

    def __init__(self, feed: ApplicationFeed, tables: FollowedTables, blocks: BlockFeed) -> None:
        self._feed, self._tables, self._blocks = feed, tables, blocks
        self._new: list[FedBlock] = []
        self._undone: list[BlockId] = []
        self._since = 0.0

    async def run(self) -> None:
        known = [each.id for each in self._tables.applied]
        try:
            async with aclosing(self._blocks.blocks(known)) as events:
                async for event in events:
                    if isinstance(event, Undone):
                        self._undo(event.id)
                    else:
                        self._add(event)
                        if self._is_enough(event):
                            await self._flush()
        except ClientError:
            await self._flush()
            raise
        await self._flush()

    def _undo(self, block: BlockId) -> None:
        """Undo a block: at once if it was not applied yet, else together with the next block of the new branch."""
        if self._new and self._new[-1].id == block:
            self._new.pop()
        else:
            self._undone.append(block)

    def _add(self, block: FedBlock) -> None:
        if not self._new:
            self._since = time.monotonic()
        self._new.append(block)

    def _is_enough(self, block: FedBlock) -> bool:
        settings = self._blocks.settings
        return (
            not block.is_irreversible
            or len(self._new) >= settings.blocks_at_once
            or time.monotonic() - self._since >= settings.batch_seconds
            or block.number >= block_number_of(self._blocks.nodes.irreversible)
        )

    async def _flush(self) -> None:
        if self._new:
            new, undone = self._new, self._undone
            self._new, self._undone = [], []
            await self._feed.advance(self._tables, self._blocks, new, undone)


def _irreversible(tables: FollowedTables, blocks: Sequence[FedBlock], named: BlockId) -> int:
    """The number of the last irreversible block that is known here, or 0: one of these blocks, or the one that the node
    names if the tables or these blocks have it.
    """
    ours = {each.id for each in tables.applied} | {each.id for each in blocks}
    numbers = [each.number for each in blocks if each.is_irreversible]
    if named in ours:
        numbers.append(block_number_of(named))
    return max(numbers, default=0)
