"""The chain as a part of the node: opened on its own thread, given to the parts attached to it, closed last."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import TypeVar

from ledgerd.archive.sealed import ArchivedBlocks
from ledgerd.chain.chain import Chain
from ledgerd.node.config.options.application import MAINNET
from ledgerd.node.datadir.opening import Opening, assumption_in, files_of
from ledgerd.node.datadir.origin import StateOrigin
from ledgerd.node.datadir.projections import project_for_plugins
from ledgerd.node.datadir.verified_copy import VerifiedCopy
from ledgerd.node.parts.chain_thread import ChainThread, Rank
from ledgerd.node.parts.context import PartContext
from ledgerd.node.parts.watching.unknown_hardforks import HardforkWarning
from ledgerd.node.time_source import MICRO
from ledgerd.protocol.errors import OperatorError
from ledgerd.state.change_log import CHANGES_FOLDER, RUN_BYTES, ChangeLog
from ledgerd.supervision.part import Part

log = logging.getLogger(__name__)

T = TypeVar("T")

Attachment = Callable[[Chain], None]


class ChainPart(Part):
    """The chain of a data directory, on its own thread.

    Call its methods on the main thread's loop, unless they say otherwise.
    """

    def __init__(self, context: PartContext) -> None:
        super().__init__(context.work)
        self._configuration = configuration = context.configuration
        self._time = context.time
        self._thread = ChainThread(self.work)
        self._attachments: list[Attachment] = []
        self._chain: Chain | None = None
        self.network = context.network
        self.files = files_of(configuration)
        self.verified = VerifiedCopy(self.files)
        """The last verified point, while the state is provisional."""
        self.folder = self.files.logs
        """The folder of the block logs, the history and `block_info`."""
        self.origin = StateOrigin.PRESENT
        self.building = asyncio.Lock()
        """Held while a state that is to replace this one is being built: there is one folder for it."""
        self._is_trying = False
        """Whether another piece of a branch is to be applied beside the trunk."""
        self.is_made_anew = False
        """Whether the chain is being reopened, so that its thread does not answer the watchdog for a while."""

    @property
    def chain(self) -> Chain:
        """The chain; use it on its own thread only."""
        if self._chain is None:
            raise OperatorError("the chain is not open")
        return self._chain

    async def start(self) -> None:
        options = self._configuration.chain
        log.info("Starting chain with shared_file_size: %(size)d bytes", {"size": options.shared_file_size})
        log.info("Opening shared memory from %(folder)s", {"folder": self.files.folder})
        await self.run(self._begin)
        await self.attach(self._force_hardforks)
        await self.attach(HardforkWarning().observe)

    def _begin(self) -> None:
        opening = Opening(self._configuration, self.files, self.network, self._open)
        self._chain = opening.open()
        self.origin = opening.origin

    def _force_hardforks(self, chain: Chain) -> None:
        """Apply the hardforks of `testnet-hardfork`, where that plugin runs (spec 11, section 9.6)."""
        last = self._configuration.testnet.forced_hardfork
        if last <= chain.last_hardfork:
            return
        if self._configuration.application.chain == MAINNET:
            raise OperatorError("testnet-hardfork is for networks of tests: remove it, or choose another chain")
        forced = chain.force_hardforks(last)
        log.warning(
            "hardforks %(first)d to %(last)d are applied without votes at block #%(block)d",
            {"first": forced[0], "last": last, "block": chain.head_number},
        )

    def use_newer_state(self) -> None:
        """Replace this state by the one that was built beside it, and open that; on the chain's thread."""
        self.reopen(self.files.put_in_place)
        self.origin = StateOrigin.PEERS

    async def attach(self, attachment: Attachment) -> None:
        """Call a function with the chain now, and again each time the chain is reopened."""
        await self.run(lambda: attachment(self.chain))
        self._attachments.append(attachment)

    async def run(self, job: Callable[[], T]) -> T:
        return await self._thread.run(job)

    def submit(self, job: Callable[[], T]) -> Future[T]:
        return self._thread.submit(job)

    async def on_chain(self, job: Callable[[], T]) -> T:
        """Run a job on the chain's thread ahead of all others: for production."""
        return await self._thread.run(job, Rank.PRODUCTION)

    async def run_coroutine(self, coroutine: Coroutine[object, object, T]) -> T:
        return await self._thread.run_coroutine(coroutine)

    def call_soon(self, call: Callable[[], object]) -> None:
        self._thread.call_soon(call)

    def reopen(self, between: Callable[[], object]) -> None:
        """Close the chain, change its files, and open it again; on the chain's thread."""
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
        assumption = assumption_in(self._configuration)
        if assumption is not None:
            self.verified.keep(assumption.number)
        chain = Chain.open(
            self._configuration.invocation.data_dir,
            self.network,
            clock=self._time.seconds,
            genesis_time=self._time.wall() // MICRO,
            checkpoints=dict(options.checkpoints),
            space=self.files.space._replace(changes=self._change_log()),
            rolling_blocks=options.dlt_block_log_max_blocks,
        )
        if assumption is not None:
            chain.assume_valid(assumption)
        if chain.is_rolling:
            chain.block_log.earlier = ArchivedBlocks(options.block_archive_dir)
        project_for_plugins(chain, self._configuration)
        chain.try_in_pieces(self._schedule_trial)
        return chain

    def _change_log(self) -> ChangeLog | None:
        if self._configuration.state_stream.place is None:
            return None
        return ChangeLog(self.folder / CHANGES_FOLDER, os.urandom(RUN_BYTES))

    def _schedule_trial(self) -> None:
        """Apply the next piece of a branch after what waits for the thread by now."""
        if not self._is_trying:
            self._is_trying = True
            self._thread.submit(self._try_further)

    def _try_further(self) -> None:
        self._is_trying = False
        if self._chain is not None:
            self._chain.try_further()
