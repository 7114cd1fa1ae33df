"""Starting from a trusted peer's snapshot, which is checked by building its state (spec 06, section 14.4)."""

from __future__ import annotations

import asyncio
import logging
import time
from pathlib import Path
from typing import NamedTuple

from ledgerd.basics.durations import MINUTE
from ledgerd.node.config.configuration import Configuration
from ledgerd.node.datadir.opening import space_of
from ledgerd.node.datadir.state_files import StateFiles
from ledgerd.node.parts.chain import ChainPart
from ledgerd.node.parts.context import NodePart, PartContext
from ledgerd.protocol.errors import OperatorError
from ledgerd.protocol.types.endpoint import Endpoint
from ledgerd.snapshot.errors import SnapshotError
from ledgerd.snapshot.exchange.agreement import Agreed, RefusedSources, fetch_agreed
from ledgerd.snapshot.exchange.client import Fetched
from ledgerd.snapshot.file.directory import make_directory
from ledgerd.snapshot.importing.job import Done, Import
from ledgerd.snapshot.importing.jobs import done
from ledgerd.snapshot.settings import Terms
from ledgerd.supervision.threads import in_thread
from ledgerd.supervision.work import Sleep, Working

log = logging.getLogger(__name__)

PLUGIN = "snapshot"
FIRST_STATE = "first state"
"""The name of the warning while there is none."""
MOST_REFUSED = 10
"""An attempt ends after so many snapshots that cannot be loaded."""


def ready_directory(directory: Path) -> None:
    try:
        make_directory(directory)
    except OSError as problem:
        raise OperatorError(
            f"snapshot-dir {directory}: cannot be made or written to: {problem.strerror}: choose another directory, "
            "or see to its permissions"
        ) from problem


WITHOUT_STATE = (
    "no trusted peer has given a snapshot, and without one this node has no state: see above why each has none, test "
    "them with `ledgerd --test-trusted-seeds`, name others that you trust with trusted-snapshot-peer, or begin with a "
    "file: --snapshot FILE"
)


class BootstrapPart(NodePart):
    """Fetches the first state, right after the chain was opened and before any part is attached to it.

    If that fails, the node starts without one, and retries in the background until a block has come from elsewhere.
    """

    def __init__(
        self,
        context: PartContext,
        chain: ChainPart,
        *,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        super().__init__(context)
        self._options = context.configuration.snapshot
        self._chain = chain
        self._sleep = sleep

    async def start(self) -> None:
        await in_thread(self._chain.files.drop_new)
        if not (self._is_asked and await self._chain.run(self._is_empty)):
            return
        began = time.monotonic()
        number = await self._fetched()
        if number is None:
            self.work.keep("the search for a first snapshot", self._keep_trying)
            return
        await self._chain.run(self._chain.use_newer_state)
        seconds = time.monotonic() - began
        log.info("Snapshot loaded successfully in %(seconds).1f sec", {"seconds": seconds})
        log.info(
            "LIB promoted to head block %(block)d (was %(irreversible)d) for P2P sync",
            {"block": number, "irreversible": number},
        )
        log.info(
            "   === P2P Snapshot Sync complete (block %(block)d, %(seconds).1f sec) ===",
            {"block": number, "seconds": seconds},
        )

    @property
    def _is_asked(self) -> bool:
        plugins = self._configuration.application.plugins
        return PLUGIN in plugins and self._options.sync_from_trusted_peer and bool(self._options.trusted_peers)

    def _is_empty(self) -> bool:
        chain = self._chain.chain
        return chain.head_number == 0 and chain.block_log.head_number == 0

    async def _fetched(self) -> int | None:
        peers = self._options.trusted_peers
        log.info(
            "no state yet: asking %(peers)d trusted peers for a snapshot: %(names)s",
            {"peers": len(peers), "names": ", ".join(map(str, peers))},
        )
        state = await fetched_state(self._configuration, self._chain, peers, WantedState(audits_later=True))
        return None if state is None else state.number

    async def _keep_trying(self, working: Working) -> None:
        """Retry in the background; a newer state that is built here is used after a restart of all parts."""
        minutes = max(1, self._options.stalled_sync_timeout_minutes)
        self.work.warn(FIRST_STATE, WITHOUT_STATE)
        while True:
            log.warning(
                "%(problem)s; they are asked again in %(minutes)d minutes",
                {"problem": WITHOUT_STATE, "minutes": minutes},
            )
            await self._sleep(minutes * MINUTE)
            if not await self._chain.run(self._is_empty):
                break
            number = await self._fetched()
            working()
            if number is not None and number > await self._chain.run(lambda: self._chain.chain.head_number):
                self._newer_state.set()
                break
        self.work.warn(FIRST_STATE, "")
        await asyncio.Event().wait()


class WantedState(NamedTuple):
    """The conditions on a fetched state."""

    above: int = 0
    needed_block: tuple[int, str] | None = None
    """A block that must be in its chain: number and id in hex."""
    audits_later: bool = False
    """Whether a large one may be checked after the node has begun with it."""


class FetchedState(NamedTuple):
    """A state that was built beside the present one."""

    number: int
    head_id: str
    """The id of the head block, in hex."""
    fetched: Fetched


ANY_STATE = WantedState()


async def fetched_state(
    configuration: Configuration,
    chain: ChainPart,
    peers: tuple[Endpoint, ...],
    wanted: WantedState = ANY_STATE,
    refused: RefusedSources | None = None,
) -> FetchedState | None:
    """Build the state of the newest snapshot that is wanted; files that are refused are added to those before."""
    async with chain.building:
        await in_thread(ready_directory, configuration.snapshot.directory)
        return await _newest_state(configuration, chain.files, peers, wanted, refused or RefusedSources.none())


async def _newest_state(
    configuration: Configuration,
    files: StateFiles,
    peers: tuple[Endpoint, ...],
    wanted: WantedState,
    refused: RefusedSources,
) -> FetchedState | None:
    directory, chain = configuration.snapshot.directory, configuration.application.chain
    for _ in range(MOST_REFUSED):
        agreed = await fetch_agreed(peers, directory, chain, wanted.above, refused=refused)
        if agreed is None:
            return None
        fetched = agreed.fetched
        try:
            built = await _built(configuration, files, agreed, wanted)
        except SnapshotError as problem:
            log.error("%(file)s is not taken, and deleted: %(reason)s", {"file": fetched.path, "reason": problem})  # noqa: TRY400 - it says it all
            refused.add(fetched)
            await in_thread(fetched.path.unlink, missing_ok=True)
            continue
        if built.number > wanted.above:
            return FetchedState(built.number, built.head_id, fetched)
        log.error(
            "%(file)s holds the state of block %(block)d, which is not newer",
            {"file": fetched.path, "block": built.number},
        )
        files.drop_new()
        refused.add(fetched)
    return None


async def _built(configuration: Configuration, files: StateFiles, agreed: Agreed, wanted: WantedState) -> Done:
    space = space_of(configuration)
    order = Import(
        str(files.fresh_folder()),
        configuration.application.chain,
        str(agreed.fetched.path),
        (space.initial, space.min_free, space.increment),
        Terms(
            configuration.snapshot.pm_legacy_residual,
            configuration.snapshot.knows_pm_meta,
            wanted.audits_later,
            wanted.needed_block,
            agreed.sources,
            agreed.fetched.checksum.hex(),
        ),
    )
    return await done(order)
