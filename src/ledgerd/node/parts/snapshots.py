"""Snapshots as a part of the node. Child processes read and build the state, so the chain never waits; to use a newer
one, every part is stopped and started again, by the code of an ordinary start.
"""

from __future__ import annotations

import asyncio
import logging
from functools import partial
from pathlib import Path

from ledgerd.basics.durations import MINUTE
from ledgerd.chain.chain import Chain
from ledgerd.chain.interface.observer import Observer
from ledgerd.chain.ledger.events import BlockApplied
from ledgerd.node.datadir.state_export import ExportResult, write_snapshot
from ledgerd.node.parts.bootstrap import WantedState, fetched_state, ready_directory
from ledgerd.node.parts.chain import ChainPart
from ledgerd.node.parts.context import NodePart, PartContext
from ledgerd.node.parts.peers import PeersPart
from ledgerd.node.time_source import MICRO
from ledgerd.protocol.constants import COMMITTEE_ACCOUNT
from ledgerd.protocol.errors import OperatorError
from ledgerd.snapshot.errors import SnapshotError
from ledgerd.snapshot.exchange.server import ServedSnapshot, SnapshotServer
from ledgerd.snapshot.exchange.server_session import AdmissionControl
from ledgerd.snapshot.exchange.stalls import CHECK_SECONDS, StallVerdict, StallWatch
from ledgerd.snapshot.file.directory import drop_old, name_of, newest_in
from ledgerd.snapshot.importing.checks import RESIDUAL_OPTION
from ledgerd.snapshot.importing.job import Done, Export
from ledgerd.snapshot.importing.jobs import done
from ledgerd.snapshot.triggers import Triggers
from ledgerd.supervision.threads import in_thread
from ledgerd.supervision.work import Working

log = logging.getLogger(__name__)


class SnapshotsPart(NodePart, Observer):
    """Writes, serves and fetches snapshots while the node runs."""

    def __init__(self, context: PartContext, chain: ChainPart, peers: PeersPart) -> None:
        super().__init__(context)
        self._options = context.configuration.snapshot
        self._chain = chain
        self._peers = peers
        self._triggers = Triggers(self._options.at_block, self._options.every_n_blocks)
        self._served = ServedSnapshot(self._options.directory)
        self._server: SnapshotServer | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._writing: asyncio.Task[None] | None = None
        self._watch = StallWatch(self._options.stalled_sync_timeout_minutes * MINUTE, self._time.seconds())
        self._newest = 0

    async def start(self) -> None:
        self._loop = asyncio.get_running_loop()
        await in_thread(ready_directory, self._options.directory)
        newest = await in_thread(newest_in, self._options.directory)
        self._newest = 0 if newest is None else newest.number
        await self._chain.attach(self._observe)
        if self._options.allow_serving:
            await self._serve()
        if self._options.enable_stalled_sync_detection and self._options.trusted_peers:
            self.work.keep("the watch for a chain that stands still", self._keep_watching)

    async def _serve(self) -> None:
        options = self._options
        trusted = frozenset(options.served_addresses) if options.only_trusted else None
        door = AdmissionControl(trusted, is_limited=not options.disable_anti_spam)
        server = SnapshotServer(self._served, door)
        port = await server.start(options.endpoint.host, options.endpoint.port)
        self._server = server
        log.info("Snapshot TCP server listening on %(endpoint)s", {"endpoint": options.endpoint._replace(port=port)})

    async def stop(self) -> None:
        """Stop serving, and abandon a snapshot that is being written: its file does not have its final name yet."""
        self._loop = None
        if self._server is not None:
            await self._server.stop()
            self._server = None
        await self.work.stop()

    # -- on the thread of the chain

    def _observe(self, chain: Chain) -> None:
        self._triggers.wants_fresh = self._is_outrun(chain)
        chain.observe(self)

    def _is_outrun(self, chain: Chain) -> bool:
        """Whether our newest snapshot is useless to others, since we cannot serve the blocks after it any more."""
        is_wanted = self._options.allow_serving or self._options.every_n_blocks
        return bool(is_wanted) and chain.is_rolling and self._newest + 1 < chain.block_log.first_number

    def applied(self, event: BlockApplied) -> None:
        chain = self._chain.chain
        self._watch.restart(self._time.seconds())
        is_idle = self._writing is None or self._writing.done()
        if is_idle and self._is_outrun(chain):
            self._triggers.wants_fresh = True
        now = self._time.wall() // MICRO
        number = self._triggers.applied(event.block.number, event.block.timestamp, now, partial(self._our_slot, now))
        if number is not None and self._loop is not None and chain.assumption is None:
            if is_idle:  # known before the writing has begun: the blocks until then need no other one
                self._newest = max(self._newest, number)
            self._loop.call_soon_threadsafe(self._begin, number)

    def _our_slot(self, now: int) -> int | None:
        seconds = self._signing.seconds_to_our_slot()
        return None if seconds is None else now + seconds

    def _begin(self, number: int) -> None:
        if self._writing is not None and not self._writing.done():
            log.warning("no snapshot of block %(block)d: another one is being written", {"block": number})
            return
        self._writing = self.work.begin(self._write(number), "snapshot")

    async def _write(self, number: int) -> None:
        path = self._options.directory / name_of(number)
        order = Export(
            str(self._chain.files.folder),
            str(self._chain.files.logs),
            self._configuration.application.chain,
            str(path),
            self._time.wall() // MICRO,
            self._options.writes_pm_meta,
        )
        began = self._time.seconds()
        log.info("writing a snapshot of block %(block)d", {"block": number})
        try:
            written = await done(order)
        except (SnapshotError, OSError) as problem:
            log.error("no snapshot of block %(block)d: %(reason)s", {"block": number, "reason": problem})  # noqa: TRY400 - it says it all
            return
        _log_created(path, written.size, self._time.seconds() - began)
        _warn_of_obstacles(written)
        try:
            await in_thread(self._drop_old)
            offered = await self._served.open()
        except OSError as problem:
            log.warning("no older snapshot is deleted: %(reason)s", {"reason": problem})
            return
        if offered is not None:
            offered[1].close()

    def _drop_old(self) -> None:
        for path in drop_old(self._options.directory, self._time.wall_seconds(), self._options.max_age_days):
            log.info(
                "%(file)s is older than %(days)d days, and deleted", {"file": path, "days": self._options.max_age_days}
            )

    async def _keep_watching(self, working: Working) -> None:
        while True:
            await asyncio.sleep(CHECK_SECONDS)
            is_master = await self._chain.run(self._is_master)
            working()
            verdict = self._watch.check(self._time.seconds(), is_master=is_master)
            if verdict is StallVerdict.ANNOUNCE:
                log.warning(
                    "no block for %(minutes)d minutes: peers are asked again",
                    {"minutes": self._options.stalled_sync_timeout_minutes},
                )
                await self._chain.run(self._peers.announce)
            elif verdict is StallVerdict.FETCH and await self._fetch_newer_state():
                self._newer_state.set()
                await asyncio.Event().wait()

    def _is_master(self) -> bool:
        chain = self._chain.chain
        return (
            chain.is_emergency
            and self._configuration.validator.is_emergency_master
            and COMMITTEE_ACCOUNT in chain.scheduled
        )

    async def _fetch_newer_state(self) -> bool:
        head = await self._chain.run(lambda: self._chain.chain.head_number)
        log.warning("the chain stands still at block %(block)d: looking for a newer snapshot", {"block": head})
        state = await fetched_state(
            self._configuration, self._chain, self._options.trusted_peers, WantedState(above=head)
        )
        has_moved = head != await self._chain.run(lambda: self._chain.chain.head_number)
        if state is None or has_moved:
            self._watch.restart(self._time.seconds())
            return False
        log.warning("the node begins again with the state of block %(block)d", {"block": state.number})
        return True


def _log_created(path: Path, size: int, seconds: float) -> None:
    log.info(
        "Snapshot created successfully: %(file)s (%(size)d bytes compressed, %(seconds).1f sec)",
        {"file": path, "size": size, "seconds": seconds},
    )


def _warn_of_obstacles(written: Done) -> None:
    if written.obstacle_count:
        shown = "; ".join(written.obstacles)
        log.warning(
            "reference nodes cannot load this snapshot, for %(count)d reasons: %(reasons)s",
            {"count": written.obstacle_count, "reasons": shown},
        )
    if written.residual:
        log.warning(
            "tokens beyond the supply in this snapshot: %(residual)d; nodes take it only with %(option)s = %(value)d",
            {"residual": written.residual, "option": RESIDUAL_OPTION, "value": written.residual},
        )


class CreateSnapshotPart(NodePart):
    """Writes the snapshot of `--create-snapshot`; no part runs that would serve or produce."""

    def __init__(self, context: PartContext, chain: ChainPart) -> None:
        super().__init__(context)
        self._chain, self._time = chain, context.time
        self._path = context.configuration.invocation.create_snapshot
        self._with_metadata = context.configuration.snapshot.writes_pm_meta

    async def start(self) -> None:
        if self._path is None:
            return
        began = self._time.seconds()
        written = await self._chain.run(partial(self._write, self._path))
        _log_created(self._path, written.size, self._time.seconds() - began)

    def _write(self, path: Path) -> ExportResult:
        chain = self._chain.chain
        if chain.head_number == 0:
            raise OperatorError(f"--create-snapshot: the state in {self._chain.files.folder} has no blocks yet")
        return write_snapshot(chain, path, self._time.wall() // MICRO, with_metadata=self._with_metadata)
