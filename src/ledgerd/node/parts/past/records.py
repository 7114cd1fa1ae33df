"""What is recorded of the chain for clients: the history, and the file of `block_info`.

Both write with each commit of the chain: attached before its first event, closed when it is closed. The process that
feeds PostgreSQL reads what the history has kept, beside the chain.
"""

from __future__ import annotations

import asyncio
import logging
import socket
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING

import msgspec

from ledgerd.history.embedded import EmbeddedStore
from ledgerd.history.following import HISTORY_FOLDER, open_history
from ledgerd.history.past.handing_over import PastAcceptance
from ledgerd.history.postgres.news import FeedNews
from ledgerd.metrics.table import storage
from ledgerd.node.config.options.application import OPERATION_HISTORY
from ledgerd.node.parts.chain import ChainPart
from ledgerd.node.parts.context import PartContext
from ledgerd.node.parts.watching.meters import MetersPart
from ledgerd.node.workers.settings import FeedOrder
from ledgerd.protocol.errors import OperatorError
from ledgerd.rpc.blocks.records import BlockRecorder
from ledgerd.state.disk import Space
from ledgerd.supervision.part import Part
from ledgerd.supervision.processes import Child, module_command

if TYPE_CHECKING:
    from ledgerd.chain.chain import Chain
    from ledgerd.metrics.cells import GaugeCell
    from ledgerd.supervision.work import Working

log = logging.getLogger(__name__)

COMMAND = module_command("ledgerd.node.workers.beside.history_feeder")
DRIVER = "psycopg"

FIRST_PAUSE = 1.0
LONGEST_PAUSE = 60.0
ENDING_SECONDS = 5.0
CHECK_SECONDS = 0.5
"""Between two looks whether a history of the past is ready."""
FEED = "feed"


class HistoryPart(Part):
    """The history of operations, written with each commit of the chain."""

    def __init__(self, context: PartContext, chain: ChainPart, meters: MetersPart) -> None:
        super().__init__(context.work)
        data_dir = context.configuration.invocation.data_dir
        self._settings, self._folder = context.configuration.history, data_dir / HISTORY_FOLDER
        self._chain = chain
        self._store: EmbeddedStore | None = None
        self._past = PastAcceptance(data_dir, self._settings, Space())
        meters.on_chain.append(lambda made: partial(self._sample, made.cells.gauge(storage.HISTORY_BLOCK)))

    async def start(self) -> None:
        """Attach the history to the chain: it catches up, then records each commit."""
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
            self._past.take(chain, self._store)

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
        """Close the history after the last event of the chain."""
        await self.work.stop()
        await self._chain.run(self._close)


class BlockInfoPart(Part):
    """The file of `block_info`."""

    def __init__(self, context: PartContext, chain: ChainPart) -> None:
        super().__init__(context.work)
        self._chain = chain

    async def start(self) -> None:
        """Record each block from now on; the chain closes the file."""
        await self._chain.attach(lambda chain: chain.observe(BlockRecorder(self._chain.folder)))


class HistoryFeedPart(Part):
    """The process that feeds PostgreSQL, started again for ever: its end is no failed start of the part."""

    def __init__(self, context: PartContext) -> None:
        super().__init__(context.work)
        configuration = context.configuration
        self._has_history = OPERATION_HISTORY in configuration.application.plugins
        self._order = FeedOrder(
            str(configuration.invocation.data_dir),
            context.network.chain_id,
            configuration.history,
            configuration.application.log_format,
        )
        self.news = FeedNews()
        """The latest of its process."""

    async def start(self) -> None:
        """Start the process."""
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
        ours, theirs = socket.socketpair()
        with ours:
            with theirs:
                child = Child.start(COMMAND, stdin=theirs.fileno(), stdout=theirs.fileno())
            ours.setblocking(False)
            reader, writer = await asyncio.open_connection(sock=ours)
            try:
                writer.write(msgspec.json.encode(self._order) + b"\n")
                async for line in reader:
                    self._report(msgspec.json.decode(line, type=FeedNews))
                    working()
            finally:
                writer.transport.abort()
                await child.stop(ENDING_SECONDS)

    def _report(self, news: FeedNews) -> None:
        self.news = news
        problem = f"nothing is fed to PostgreSQL behind block {news.block}: {news.reason}" if news.reason else ""
        self.work.warn(FEED, problem or news.warning)


def require_driver() -> None:
    """Refuse to go on where the extra is not installed."""
    if find_spec(DRIVER) is None:
        raise OperatorError("history-store needs PostgreSQL's driver: install ledgerd[postgres]")
