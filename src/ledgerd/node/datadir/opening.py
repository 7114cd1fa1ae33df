"""Opens the chain of a data directory, after making its state if `origin` decides so."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress

import lmdb

from ledgerd.chain.chain import Chain
from ledgerd.chain.ledger.assumption import Assumption
from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.node.config.configuration import Configuration
from ledgerd.node.datadir.origin import Choice, Found, StateOrigin, choose, choose_after
from ledgerd.node.datadir.state_files import StateFiles, naming_damage, refuse_pipes
from ledgerd.node.datadir.state_import import import_state, set_used
from ledgerd.node.datadir.verified_copy import VerifiedCopy
from ledgerd.protocol.networks.parameters import ChainParameters
from ledgerd.replica.copies.ownership import refuse_state_of_replica
from ledgerd.snapshot.errors import SnapshotError
from ledgerd.snapshot.file.directory import newest_in
from ledgerd.snapshot.settings import Terms
from ledgerd.state.errors import StorageError, StoreCorrupt, StoreOutdated, unreadable
from ledgerd.state.files.disk import Space

log = logging.getLogger(__name__)

REVERSIBLE_AT_MOST = 200
"""A snapshot at least so many blocks below the end of the log is of an irreversible block, which the log has."""

UNUSABLE = (StoreCorrupt, StoreOutdated)
"""Errors after which a state has to be rebuilt; a lock or a full disk is none of them."""

MET_WHILE_READING = (lmdb.CorruptedError, lmdb.PageNotFoundError)
"""What LMDB raises where it comes to a damaged page of a state that was opened before."""


def space_of(configuration: Configuration) -> Space:
    options = configuration.chain
    sizes = (options.shared_file_size, options.min_free_shared_file_size, options.inc_shared_file_size)
    return Space(*sizes, folder=options.shared_file_dir)


def assumption_in(configuration: Configuration) -> Assumption | None:
    assumed = configuration.chain.assume_valid
    return None if assumed is None else Assumption(assumed.number, assumed.block_id)


def files_of(configuration: Configuration) -> StateFiles:
    logs = configuration.invocation.data_dir / STATE_FOLDER
    return StateFiles(configuration.chain.shared_file_dir, logs, space_of(configuration))


class Opening:
    """One start of the chain of a data directory."""

    def __init__(
        self, configuration: Configuration, files: StateFiles, network: ChainParameters, open_chain: Callable[[], Chain]
    ) -> None:
        self._asked = configuration.invocation
        self._configuration = configuration
        self._network = network
        self._open_chain = open_chain
        self._files = files
        self.origin = StateOrigin.PRESENT

    def open(self) -> Chain:
        """Open the chain, after making the state if needed. `OperatorError` where it cannot be made says what to do."""
        refuse_pipes(self._asked.data_dir, self._files.folder)
        self._files.make_folders()
        refuse_state_of_replica(self._files.folder)
        self._files.require_free()
        self._files.finish()
        if self._asked.resync_blockchain:
            log.warning(
                "--resync-blockchain: the state and the block logs in %(folder)s are deleted",
                {"folder": self._files.logs},
            )
            self._files.remove_all()
        self._files.convert()
        self._resume_verified()
        found = self._found()
        choice = choose(self._asked, found)
        try:
            if choice.origin is StateOrigin.PRESENT and self._files.is_marked_damaged:
                self._refuse_damaged()
            return self._opened(choice)
        except UNUSABLE as problem:
            return self._rebuilt(problem, found)

    def _resume_verified(self) -> None:
        """A state that cannot be read is rebuilt below."""
        with suppress(*UNUSABLE), naming_damage(self._files.folder):
            VerifiedCopy(self._files).resume(assumption_in(self._configuration))

    def _rebuilt(self, problem: StorageError, found: Found) -> Chain:
        """Rebuild an unusable state from a snapshot, or from the log if the snapshot is unusable too."""
        choice = choose_after(problem, self._asked, found)
        if choice.origin is StateOrigin.REBUILD:
            try:
                return self._opened(choice)
            except SnapshotError as fault:
                log.error("the snapshot is of no use: %(reason)s", {"reason": fault})  # noqa: TRY400 - says it all
                choice = choose_after(problem, self._asked, found._replace(usable=None))
        self._files.remove()
        return self._opened(choice)

    def _refuse_damaged(self) -> None:
        raise unreadable(f"{self._files.folder}: found damaged when the node ran last")

    def _found(self) -> Found:
        files, directory = self._files, self._configuration.snapshot.directory
        log_head = files.full_log_head
        has_plugin = "snapshot" in self._configuration.application.plugins
        newest = newest_in(directory)
        below = log_head - REVERSIBLE_AT_MOST if log_head else None
        usable = newest_in(directory, below=below) if has_plugin else None
        return Found(
            folder=files.logs,
            has_state=files.exists,
            head=files.head,
            log_head=log_head,
            newest=None if newest is None else newest.path,
            usable=None if usable is None else usable.path,
        )

    def _opened(self, choice: Choice) -> Chain:
        if choice.remark:
            log.warning("%s", choice.remark)
        self.origin = choice.origin
        if choice.snapshot is not None:
            log.info("importing the snapshot %(file)s", {"file": choice.snapshot})
            options = self._configuration.snapshot
            terms = Terms(options.pm_legacy_residual, options.knows_pm_meta, audits_later=True)
            import_state(self._files, choice.snapshot, self._network, terms)
            if choice.origin is StateOrigin.SNAPSHOT:
                set_used(choice.snapshot)
        elif choice.origin is StateOrigin.BLOCK_LOG:
            self._files.set_aside()
        return self._open_chain()


def is_unusable(problem: BaseException | None) -> bool:
    """Whether an error means that the state has to be rebuilt."""
    return isinstance(problem, (*UNUSABLE, *MET_WHILE_READING))
