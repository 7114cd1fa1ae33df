"""Makes the state at a block of the past, beside a node that may run: from the nearest snapshot before it, or from the
first block on, by a replay of the blocks between.

It grows in a folder of its own, which gets its name when the state is complete; an interrupted run is continued.
"""

from __future__ import annotations

import logging
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import NamedTuple

import msgspec

from ledgerd.basics.closing import on_error
from ledgerd.basics.durable import sync_folder
from ledgerd.chain.chain import Chain
from ledgerd.chain.forks.trunk import PopEmptyChain
from ledgerd.chain.interface.observer import Observer
from ledgerd.chain.ledger.skip import VERIFIED_BEFORE, Skip
from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.chain.log.state_blocks import IMPORTED, LOG_KIND
from ledgerd.chain.offline.replay import reapply
from ledgerd.node.config.configuration import Configuration
from ledgerd.node.config.network import GENESIS_FILE
from ledgerd.node.datadir.directory_blocks import DirectoryBlocks
from ledgerd.node.datadir.opening import space_of
from ledgerd.node.datadir.projections import PROJECTIONS, project_for_plugins
from ledgerd.node.datadir.state_export import write_snapshot
from ledgerd.node.datadir.state_files import StateFiles
from ledgerd.protocol.errors import OperatorError
from ledgerd.protocol.networks.parameters import ChainParameters
from ledgerd.snapshot.errors import SnapshotError
from ledgerd.snapshot.file.directory import SUFFIXES, kept_in
from ledgerd.snapshot.file.read import Snapshot
from ledgerd.snapshot.importing.build import MOST_PROCESSES, build_state, read_snapshot
from ledgerd.snapshot.importing.import_progress import ImportProgress
from ledgerd.snapshot.settings import Terms
from ledgerd.state.files.disk import DATA_FILE, taken_bytes
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.store import Store
from ledgerd.supervision.processes import processors_beside

log = logging.getLogger(__name__)

UNFINISHED = ".unfinished"
"""The suffix of the folder in which the state grows."""
NOTE = "past-state.json"
"""The file in that folder that says which state is being made there."""

SNAPSHOT_SUFFIX = SUFFIXES[0]

ANSWERING = ("committee_api", "database_api", "invite_api", "paid_subscription_api", "validator_api")
"""Plugins that answer from any state, without what is kept beside it for others."""

SKIPPED = (VERIFIED_BEFORE | Skip.TRANSACTION_DUPES) & ~Skip.VALIDATOR_SCHEDULE
"""The node has checked the blocks. That each is of the validator whose turn it was shows that the state fits them.

No transaction is noted as known, as when the reference replays (spec 03, section 26.3).
"""


class PastNote(msgspec.Struct, frozen=True):
    """The state that an unfinished folder is to become."""

    block: int
    chain_id: str


class MadeState(NamedTuple):
    """A state that is complete."""

    block_id: str
    irreversible: int
    is_trusted_head: bool
    """Whether that is still the block of the snapshot that the replay began with."""


class PastState:
    """One state of the past, while it is made."""

    def __init__(
        self, configuration: Configuration, network: ChainParameters, blocks: DirectoryBlocks, at: int, target: Path
    ) -> None:
        self._configuration = configuration
        self._blocks = blocks
        self._at = at
        self._target = target
        self._network = network
        self._folder = target.with_name(target.name + UNFINISHED)
        self._space = space_of(configuration)._replace(folder=None)
        logs = self._folder / STATE_FOLDER
        self._files = StateFiles(logs, logs, self._space)

    @property
    def is_snapshot(self) -> bool:
        """Whether a snapshot is to be written, rather than a data directory."""
        return self._target.suffix == SNAPSHOT_SUFFIX

    def needs(self) -> int:
        """An estimate of the bytes that it still takes on the disk: as many as the state of today."""
        present = self._configuration.chain.shared_file_dir / DATA_FILE
        wanted = taken_bytes(present) * (2 if self.is_snapshot else 1)
        return max(0, wanted - sum(map(taken_bytes, self._folder.rglob("*"))))

    def begin(self, given: Path | None = None, *, with_genesis: bool = False) -> int:
        """Build the state that the replay begins with, or find that of an interrupted run; returns its head block.
        Without a snapshot that is given, the nearest of the node is taken, unless the genesis is wanted.
        `OperatorError`: blocks are missing, or the snapshot is of no use; nothing is left behind.
        """
        self._require_possible()
        self._prepare()
        if not self._files.exists:
            with on_error(partial(shutil.rmtree, self._folder)):
                self._build(given, with_genesis=with_genesis)
        return self._files.head

    def replay(self, advance: Callable[[int], None] = lambda _: None, observers: Iterable[Observer] = ()) -> MadeState:
        """Apply the blocks up to the one that is wanted, and give the result its name. `OperatorError`: a block is
        missing or damaged; what was applied is kept for the next run.
        """
        with Chain.open_unlogged(self._folder, self._network, clock=time.monotonic, space=self._space) as chain:
            self._leave_branch(chain)
            self._require_blocks(chain.head_number, "this run goes on from")
            project_for_plugins(chain, self._configuration)
            for observer in observers:
                chain.observe(observer)
            advance(chain.head_number)
            reapply(chain, _UpTo(self._blocks, self._at), advance, SKIPPED)
            begun = 0 if chain.provenance is None else chain.provenance.number
            made = MadeState(chain.head_id.hex(), chain.irreversible, 0 < begun == chain.irreversible)
            if self.is_snapshot:
                with_metadata = self._configuration.snapshot.writes_pm_meta
                write_snapshot(chain, self._target, int(time.time()), with_metadata=with_metadata)
        self._finish()
        return made

    def _require_possible(self) -> None:
        if self._target.exists():
            if self.is_snapshot and (self._folder / NOTE).exists():
                shutil.rmtree(self._folder)  # of a run that was killed when the snapshot was complete
            raise OperatorError(f"{self._target} exists already: choose another name, or remove it")
        if self._at < 1:
            raise OperatorError("the first block of a chain is block 1")
        head = self._blocks.head_number
        if self._at > head:
            raise OperatorError(f"the chain in this data directory ends at block {head}: block {self._at} is not there")

    # -- where it begins

    def _prepare(self) -> None:
        """Keep what an interrupted run for the same state has made, and nothing else of such runs."""
        folder, wanted = self._folder, PastNote(self._at, self._network.chain_id.hex())
        if folder.exists():
            marker = folder / NOTE
            if not marker.exists() and any(folder.iterdir()):
                raise OperatorError(f"{folder} is in the way, and was not made by this command: move it away")
            if self._files.folder.is_dir():
                self._files.require_free()
            if marker.exists() and marker.read_bytes() == msgspec.json.encode(wanted):
                return
            shutil.rmtree(folder)
        folder.mkdir(parents=True)
        (folder / NOTE).write_bytes(msgspec.json.encode(wanted))

    def _build(self, given: Path | None, *, with_genesis: bool) -> None:
        if given is not None:
            reason = f"it is of a block after block {self._at}"
            try:
                if self._is_built_from(given):
                    return
            except SnapshotError as problem:
                reason = str(problem)
            raise OperatorError(f"the snapshot {given} is of no use here: {reason}")
        for path in () if with_genesis else self._nearest_snapshots():
            try:
                if self._is_built_from(path):
                    return
            except SnapshotError as problem:
                log.warning("the snapshot %(file)s is of no use: %(reason)s", {"file": path, "reason": problem})
        none = "" if with_genesis else "there is no snapshot of a block before it, so "
        self._require_blocks(0, f"{none}this would begin after")

    def _nearest_snapshots(self) -> Iterator[Path]:
        """The node's snapshots, from the nearest below the block down; the number in a file's name may be a bit too
        low.
        """
        kept = kept_in(self._configuration.snapshot.directory)
        for each in sorted(kept, key=lambda each: each.number, reverse=True):
            if each.number <= self._at:
                yield each.path

    def _is_built_from(self, path: Path) -> bool:
        """Build the state of a snapshot, unless that is of a later block."""
        snapshot = read_snapshot(path)
        if snapshot.head_number > self._at:
            return False
        self._require_blocks(snapshot.head_number, f"the nearest snapshot, {path}, is of")
        self._import(snapshot)
        return True

    def _import(self, snapshot: Snapshot) -> None:
        number, known = snapshot.head_number, self._blocks.id_at(snapshot.head_number)
        if known not in {None, snapshot.head_id}:
            raise SnapshotError(f"its block {number} is {snapshot.head_id.hex()}, and that of this chain another")
        if known is None:
            log.warning(
                "it is not known whether block %(block)d of the snapshot is that of the chain", {"block": number}
            )
        options, line = self._configuration.snapshot, ImportProgress()
        snapshot.progress = lambda done: line.at(done, snapshot.size)
        terms = Terms(options.pm_legacy_residual, options.knows_pm_meta)
        processes = processors_beside(MOST_PROCESSES)
        build_state(self._files.fresh_folder(), snapshot, self._network, self._space, terms, processes=processes)
        self._files.put_in_place()

    def _leave_branch(self, chain: Chain) -> None:
        """Undo what an interrupted run has applied of blocks that the node has undone since."""
        with suppress(PopEmptyChain):
            while not self._is_ours(chain):
                chain.pop_block()
                chain.forget_waiting()
        if not self._is_ours(chain):
            raise OperatorError(f"what is in {self._folder} is of another chain: remove it, and begin again")

    def _is_ours(self, chain: Chain) -> bool:
        number = chain.head_number
        return not number or self._blocks.id_at(number) in {None, chain.head_id}

    def _require_blocks(self, begins: int, problem: str) -> None:
        gaps = self._blocks.missing(begins + 1, self._at)
        if gaps:
            last = gaps[-1].last
            better = "or give a snapshot of " + (
                f"a block from {last} to {self._at}" if last < self._at else f"block {last}"
            )
            raise OperatorError(
                f"the state at block {self._at} cannot be made: {problem} block {begins}, and "
                f"{', '.join(map(str, gaps))} are in neither the block log nor the archive. "
                f"`ledgerd archive fetch` gets them from others, {better} with --snapshot"
            )

    # -- its end

    def _finish(self) -> None:
        if self.is_snapshot:
            shutil.rmtree(self._folder)
            return
        with Store.open(self._files.folder, STORED_TABLES, space=self._space) as store:
            store.set_meta(LOG_KIND, IMPORTED)  # who opens it next must not think that its blocks are lost
            store.commit()
        self._write_configuration()
        (self._folder / NOTE).unlink()
        sync_folder(self._folder)
        self._folder.rename(self._target)
        sync_folder(self._target.parent)

    def _write_configuration(self) -> None:
        """Write the configuration that commands and `ledgerd api` need in the new directory."""
        application = self._configuration.application
        names = (*ANSWERING, *(name for name in application.plugins if name in PROJECTIONS))
        plugins = "".join(f"plugin = {name}\n" for name in names)
        text = f"# The state at block {self._at}, made by `ledgerd state --at`.\nchain = {application.chain}\n{plugins}"
        (self._folder / "config.ini").write_text(text, encoding="utf-8")
        genesis = self._configuration.invocation.data_dir / GENESIS_FILE
        if genesis.exists():
            shutil.copyfile(genesis, self._folder / GENESIS_FILE)


class _UpTo:
    """The blocks up to one of them, for a replay."""

    def __init__(self, blocks: DirectoryBlocks, last: int) -> None:
        self._blocks = blocks
        self.head_number = last

    def scan(self, first: int, last: int) -> Iterator[tuple[int, bytes]]:
        return self._blocks.scan(first, last)
