"""The chain as a part of the node: opened on its thread, handed to whoever hangs on it, closed last."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, TypeVar

from ledgerd.chain.chain import Chain
from ledgerd.node.config.configuration import Configuration
from ledgerd.node.datadir.followers import follow_for_plugins
from ledgerd.node.datadir.opening import Opening, files_of
from ledgerd.node.datadir.origin import Origin
from ledgerd.node.parts.chain_thread import ChainThread, Rank
from ledgerd.node.time_source import MICRO, TimeSource
from ledgerd.protocol.errors import OperatorError
from ledgerd.supervision.part import Part
from ledgerd.supervision.work import Ending

if TYPE_CHECKING:
    from ledgerd.protocol.parameters import ChainParameters

log = logging.getLogger(__name__)

T = TypeVar("T")

Attachment = Callable[[Chain], None]


class ChainPart(Part):
    """The chain of a data directory. All but its properties is asked for on the loop of the main thread."""

    def __init__(self, configuration: Configuration, network: ChainParameters, time: TimeSource) -> None:
        super().__init__("chain", Ending.ENDS_PROGRAM)
        self._configuration = configuration
        self._time = time
        self._thread = ChainThread(self.work)
        self._attachments: list[Attachment] = []
        self._chain: Chain | None = None
        self.network = network
        self.files = files_of(configuration)
        self.folder = self.files.logs
        """Where the logs are, and what was noted down of the blocks."""
        self.origin = Origin.STANDING
        self.building = asyncio.Lock()
        """Held by whoever builds a state that is to replace this one: there is room for one."""
        self.is_made_anew = False
        """Whether its thread is busy for long, and by right."""

    @property
    def chain(self) -> Chain:
        """The chain; for its thread alone."""
        if self._chain is None:
            raise OperatorError("the chain is not open")
        return self._chain

    async def start(self) -> None:
        """Make its state where that is to be made, and open it."""
        options = self._configuration.chain
        log.info("Starting chain with shared_file_size: %d bytes", options.shared_file_size)
        log.info("Opening shared memory from %s", self.files.folder)
        await self.run(self._begin)

    def _begin(self) -> None:
        opening = Opening(self._configuration, self.files, self.network, self._open)
        self._chain = opening.open()
        self.origin = opening.origin

    def take_new(self) -> None:
        """Open the state that was built beside this one, in its place; on the thread of the chain."""
        self.reopen(self.files.put_in_place)
        self.origin = Origin.PEERS

    async def attach(self, attachment: Attachment) -> None:
        """Have something hang on the chain: now, and again whenever it is opened anew."""
        await self.run(lambda: attachment(self.chain))
        self._attachments.append(attachment)

    async def run(self, job: Callable[[], T], rank: Rank = Rank.OTHER) -> T:
        """Do something on the thread of the chain."""
        return await self._thread.run(job, rank)

    async def on_chain(self, job: Callable[[], T]) -> T:
        """Do something there before everybody else: for production."""
        return await self._thread.run(job, Rank.PRODUCTION)

    async def run_coroutine(self, coroutine: Coroutine[object, object, T]) -> T:
        """Have a coroutine run on the loop of that thread."""
        return await self._thread.run_coroutine(coroutine)

    def call_soon(self, call: Callable[[], object]) -> None:
        """Have something very short called on its thread."""
        self._thread.call_soon(call)

    def reopen(self, between: Callable[[], object]) -> None:
        """Close the chain, let its files be changed, and open it again; on its thread."""
        self.is_made_anew = True
        try:
            self.chain.close()
            self._chain = None
            between()
            self._chain = self._open()
            for attachment in self._attachments:
                attachment(self._chain)
        finally:
            self.is_made_anew = False

    async def stop(self) -> None:
        """Close it, after everything that was begun."""
        await self.run(self._close)
        self._thread.stop()

    def _close(self) -> None:
        if self._chain is not None:
            log.info("closing chain database")
            self._chain.close()
            log.info("database closed successfully")
            self._chain = None

    def _open(self) -> Chain:
        options = self._configuration.chain
        chain = Chain.open(
            self._configuration.invocation.data_dir,
            self.network,
            clock=self._time.seconds,
            genesis_time=self._time.wall() // MICRO,
            checkpoints=dict(options.checkpoints),
            space=self.files.space,
            rolling_blocks=options.dlt_block_log_max_blocks,
        )
        follow_for_plugins(chain, self._configuration)
        return chain
