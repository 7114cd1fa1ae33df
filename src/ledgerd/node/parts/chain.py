"""The chain as a part of the node: opened on its own thread, given to the parts attached to it, closed last."""

from __future__ import annotations

import asyncio
import itertools
import logging
import os
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from contextlib import suppress
from enum import IntEnum
from functools import partial
from queue import Empty, PriorityQueue
from typing import TypeVar

from ledgerd.archive.sealed import ArchivedBlocks
from ledgerd.chain.chain import Chain
from ledgerd.node.config.options.application import MAINNET
from ledgerd.node.datadir.opening import Opening, assumption_in, files_of
from ledgerd.node.datadir.origin import StateOrigin
from ledgerd.node.datadir.projections import project_for_plugins
from ledgerd.node.datadir.state_files import naming_damage
from ledgerd.node.datadir.verified_copy import VerifiedCopy
from ledgerd.node.parts.context import NodePart, PartContext
from ledgerd.node.parts.watching.unknown_hardforks import HardforkWarning
from ledgerd.node.time_source import MICRO
from ledgerd.protocol.errors import OperatorError
from ledgerd.state.files.change_log import CHANGES_FOLDER, RUN_BYTES, ChangeLog
from ledgerd.supervision.threads import on_loop
from ledgerd.supervision.work import Ended, Work

log = logging.getLogger(__name__)

T = TypeVar("T")

Attachment = Callable[[Chain], None]
Job = Callable[[], None]


class Rank(IntEnum):
    """The order in which jobs run."""

    PRODUCTION = 0
    OTHER = 1


TURN_SECONDS = 0.02
"""Seconds of jobs between two looks at the events of the loop."""


class ChainThread:
    """A priority queue of jobs, and the loop of the thread that runs them."""

    def __init__(self, work: Work) -> None:
        self._queue: PriorityQueue[tuple[Rank, int, Job]] = PriorityQueue()
        self._numbers = itertools.count()
        self._loop = asyncio.new_event_loop()
        self._is_stopping = False
        self._is_awake = False
        self._thread = work.thread("chain", self._work)

    def submit(self, job: Callable[[], T], rank: Rank = Rank.OTHER) -> Future[T]:
        future: Future[T] = Future()
        self._queue.put((rank, next(self._numbers), partial(_run, job, future)))
        self._loop.call_soon_threadsafe(self._wake)
        return future

    async def run(self, job: Callable[[], T], rank: Rank = Rank.OTHER) -> T:
        return await asyncio.wrap_future(self.submit(job, rank))

    async def run_coroutine(self, coroutine: Coroutine[object, object, T]) -> T:
        return await asyncio.wrap_future(on_loop(self._loop, coroutine))

    def call_soon(self, call: Callable[[], object]) -> None:
        """Call a very short function between two jobs; from any thread. It is dropped if the thread stops first."""
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(call)

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._stop)
        self._thread.join()

    def _stop(self) -> None:
        self._is_stopping = True
        while self._run_next():
            pass
        self._loop.stop()

    def _wake(self) -> None:
        if not self._is_awake:
            self._is_awake = True
            self._loop.call_soon(self._turn)

    def _turn(self) -> None:
        """Run jobs for so long, those of the highest rank first; what is left has its turn after others."""
        self._is_awake = False
        end = self._loop.time() + TURN_SECONDS
        while self._run_next():
            if self._loop.time() >= end:
                self._wake()
                return

    def _run_next(self) -> bool:
        try:
            _, _, job = self._queue.get_nowait()
        except Empty:
            return False
        job()
        return True

    def _work(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
            if not self._is_stopping:
                raise Ended("the loop of the chain's thread has ended")
        finally:
            self._loop.close()


def _run(job: Callable[[], T], future: Future[T]) -> None:
    if not future.set_running_or_notify_cancel():
        return
    try:
        future.set_result(job())
    except BaseException as error:  # noqa: BLE001 - the caller gets it from the future
        future.set_exception(error)
        # The error holds this frame: if the frame held the error, what the job used would stay in memory.
        del future


class ChainPart(NodePart):
    """The chain of a data directory, on its own thread. Call it on the main loop, unless it says otherwise."""

    def __init__(self, context: PartContext) -> None:
        super().__init__(context)
        configuration = context.configuration
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
        self.is_reopening = False
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
        self.is_reopening = True
        try:
            self.chain.close()
            self._chain = None
            between()
            self._chain = self._open()
            for attachment in self._attachments:
                attachment(self._chain)
        finally:
            self.is_reopening = False

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
        with naming_damage(self.files.folder):
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
