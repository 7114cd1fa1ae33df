"""What is recorded of the chain for clients with each commit: the history, and the file of `block_info`."""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from importlib.util import find_spec

import msgspec

from ledgerd.archive.writer import Copying
from ledgerd.chain.chain import Chain
from ledgerd.chain.log.files import STATE_FOLDER, LogDamaged
from ledgerd.history.embedded.embedded import EmbeddedStore
from ledgerd.history.embedded.following import open_history
from ledgerd.history.past.handing_over import PastAcceptance
from ledgerd.history.postgres.status import FeedStatus
from ledgerd.history.settings import HISTORY_FOLDER
from ledgerd.metrics.cells import GaugeCell
from ledgerd.metrics.table import storage
from ledgerd.node.config.options.application import OPERATION_HISTORY
from ledgerd.node.parts.chain import ChainPart
from ledgerd.node.parts.context import NodePart, PartContext
from ledgerd.node.parts.watching.meters import MetersPart
from ledgerd.node.workers.settings import FeedOrder
from ledgerd.protocol.errors import OperatorError
from ledgerd.rpc.blocks.records import BlockRecorder
from ledgerd.state.files.disk import Space
from ledgerd.supervision.processes import Child, module_command
from ledgerd.supervision.threads import in_thread
from ledgerd.supervision.work import Working

log = logging.getLogger(__name__)

COMMAND = module_command("ledgerd.node.workers.beside.history_feeder")
DRIVER = "psycopg"

FIRST_PAUSE = 1.0
LONGEST_PAUSE = 60.0
"""The longest pause before the process that feeds PostgreSQL is started again."""
ENDING_SECONDS = 5.0
CHECK_SECONDS = 0.5
FEED = "feed"


class HistoryPart(NodePart):
    """The history of operations, written with each commit of the chain."""

    def __init__(self, context: PartContext, chain: ChainPart, meters: MetersPart) -> None:
        super().__init__(context)
        data_dir = context.configuration.invocation.data_dir
        self._settings, self._folder = context.configuration.history, data_dir / HISTORY_FOLDER
        self._chain = chain
        self._store: EmbeddedStore | None = None
        self._past = PastAcceptance(data_dir, self._settings, Space())
        meters.on_chain.append(lambda made: partial(self._sample, made.cells.gauge(storage.HISTORY_BLOCK)))

    async def start(self) -> None:
        await self._chain.attach(self._observe)
        self.work.keep("the past of the history", self._check_for_past)

    def _observe(self, chain: Chain) -> None:
        self._close()
        self._past.finish()
        self._store = open_history(chain, self._folder, self._settings)
        self._accept_past(chain)

    async def _check_for_past(self, works: Working) -> None:
        """Take a history of the past that was made beside this node (`ledgerd history extend`)."""
        works()
        while True:
            await asyncio.sleep(CHECK_SECONDS)
            if self._past.is_offered:
                await self._chain.run(lambda: self._accept_past(self._chain.chain))

    def _accept_past(self, chain: Chain) -> None:
        if self._store is not None and self._past.is_offered:
            self._past.accept(chain, self._store)

    def _sample(self, last_block: GaugeCell) -> None:
        if self._store is not None:
            last_block.set(self._store.head_number)

    def truncate(self, number: int) -> None:
        """Delete every block above this one from the history, while the log still has them; on the chain's thread."""
        if self._store is not None:
            self._store.truncate(number)

    def _close(self) -> None:
        if self._store is not None:
            self._store.close()
            self._store = None

    async def stop(self) -> None:
        await self.work.stop()
        await self._chain.run(self._close)


class BlockInfoPart(NodePart):
    """The file of `block_info`."""

    def __init__(self, context: PartContext, chain: ChainPart) -> None:
        super().__init__(context)
        self._chain = chain

    async def start(self) -> None:
        await self._chain.attach(lambda chain: chain.observe(BlockRecorder(self._chain.folder)))


class HistoryFeedPart(NodePart):
    """The process that feeds PostgreSQL, started again for ever: its end is no failed start of the part."""

    def __init__(self, context: PartContext) -> None:
        super().__init__(context)
        configuration = context.configuration
        self._has_history = OPERATION_HISTORY in configuration.application.plugins
        self._order = FeedOrder(
            str(configuration.invocation.data_dir),
            context.network.chain_id,
            configuration.history,
            configuration.application.log_format,
        )
        self.status = FeedStatus()

    async def start(self) -> None:
        require_driver()
        if not self._has_history:
            raise OperatorError("history-store is fed from the history of the node: add plugin = operation_history")
        self.work.keep("the feed of PostgreSQL", self._live)

    async def _live(self, working: Working) -> None:
        loop, pause = asyncio.get_running_loop(), FIRST_PAUSE
        while True:
            begun, problem = loop.time(), "its process has ended"
            try:
                await self._one_life(working)
            except OSError as failure:
                problem = f"its process cannot be started: {failure.strerror}"
            self.work.warn(FEED, f"nothing is fed to PostgreSQL: {problem}")
            log.warning("the feed of PostgreSQL: %(problem)s", {"problem": problem})
            pause = FIRST_PAUSE if loop.time() - begun > LONGEST_PAUSE else min(2 * pause, LONGEST_PAUSE)
            await asyncio.sleep(pause)

    async def _one_life(self, working: Working) -> None:
        child, ours = Child.on_socket(COMMAND, answers=True)
        with ours:
            reader, writer = await asyncio.open_connection(sock=ours)
            try:
                writer.write(msgspec.json.encode(self._order) + b"\n")
                async for line in reader:
                    self._report(msgspec.json.decode(line, type=FeedStatus))
                    working()
            finally:
                writer.transport.abort()
                await child.stop(ENDING_SECONDS)

    def _report(self, status: FeedStatus) -> None:
        self.status = status
        problem = f"nothing is fed to PostgreSQL after block {status.block}: {status.reason}" if status.reason else ""
        self.work.warn(FEED, problem or status.warning)


def require_driver() -> None:
    if find_spec(DRIVER) is None:
        raise OperatorError("history-store needs PostgreSQL's driver: install ledgerd[postgres]")


PAUSE_SECONDS = 1.0

TROUBLED_SECONDS = 60.0


class ArchivePart(NodePart):
    """Copies irreversible blocks from the log to the archive."""

    def __init__(self, context: PartContext) -> None:
        super().__init__(context)
        self._options = context.configuration.chain
        self._logs = context.configuration.invocation.data_dir / STATE_FOLDER

    async def start(self) -> None:
        self.work.keep("the archive", self._keep_copying)

    async def _keep_copying(self, works: Working) -> None:
        works()
        while True:
            try:
                await self._copy()
            except LogDamaged as problem:
                log.error(  # noqa: TRY400 - the text is all that helps
                    "block_archive: block %(block)d is not readable, archiving stopped: %(reason)s",
                    {"block": problem.number, "reason": str(problem)},
                )
                await asyncio.Event().wait()
            except (OSError, OperatorError) as problem:
                log.warning("block_archive: %(reason)s", {"reason": str(problem)})
                await asyncio.sleep(TROUBLED_SECONDS)

    async def _copy(self) -> None:
        """Copy blocks to the archive until an error, for at most half of the time."""
        options, loop = self._options, asyncio.get_running_loop()
        copying = await in_thread(Copying, self._logs, options.block_archive_dir, options.block_archive_range)
        try:
            while True:
                began = loop.time()
                has_more = await in_thread(copying.step)
                await asyncio.sleep(loop.time() - began if has_more else PAUSE_SECONDS)
        finally:
            await in_thread(copying.close)
