"""The projections of a state as other processes read them, and both at the same commit."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ledgerd.basics.closing import Closing
from ledgerd.projections.kept import FOLDER, POSITION, PROJECTIONS
from ledgerd.projections.tables import PROJECTED_TABLES
from ledgerd.state.errors import StorageError
from ledgerd.state.files.disk import DATA_FILE
from ledgerd.state.files.lock import files_stay
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.views.empty import EmptyView
from ledgerd.state.views.reader import MOST_DERIVED, CommitView, StateReader
from ledgerd.state.views.view import View

log = logging.getLogger(__name__)

TRIES, PAUSE_SECONDS = 2_000, 0.001
"""How often, and after which pause, two commits that do not belong together are read again: between them there is one
write to the disk.
"""

UNDER_WAY = "the state of {} is behind its projections: a commit is under way, or its node was killed and has to start"


class NotOfOneCommit(StorageError):
    """A state and its projections do not belong together."""


class ProjectionReader(Closing):
    """Reads projections. It opens them again after they were replaced, and returns None while there are none."""

    def __init__(self, state_folder: Path, *, most_derived: int = MOST_DERIVED) -> None:
        self._folder = state_folder / FOLDER
        self._most_derived = most_derived
        self._reader: StateReader | None = None
        self._inode: tuple[int, int] | None = None
        self._problem = ""
        """The last problem that was logged."""

    @contextmanager
    def snapshot(self) -> Iterator[View]:
        """The last commit, unchanged within the block."""
        inode = self._inode_now()
        if inode != self._inode:
            self.close()
            if inode is not None and (opened := self._opened()) is not None:
                self._reader, self._inode = opened, inode
        if self._reader is None:
            yield EmptyView()
            return
        with self._reader.snapshot() as view:
            yield view

    def _inode_now(self) -> tuple[int, int] | None:
        try:
            found = (self._folder / DATA_FILE).stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def _opened(self) -> StateReader | None:
        try:
            with files_stay(self._folder):
                return StateReader.open(self._folder, PROJECTED_TABLES, most_derived=self._most_derived)
        except (StorageError, OSError) as problem:
            if str(problem) != self._problem:
                log.warning("what is kept for APIs cannot be read: %(reason)s", {"reason": problem})
            self._problem = str(problem)
            return None

    def free_dead_readers(self) -> None:
        """Free the places of processes that were killed while they read."""
        if self._reader is not None:
            self._reader.free_dead_readers()

    def close(self) -> None:
        """Close the file; snapshots that are open become invalid."""
        if self._reader is not None:
            self._reader.close()
        self._reader = self._inode = None


def are_of_one_commit(state: View, kept: View) -> bool:
    """Whether projections are those of a state as it is; so are none, and those that are not kept any more."""
    known, position = state.meta(PROJECTIONS), kept.meta(POSITION)
    return not known or position in {None, known}


@contextmanager
def both_of_one_commit(state: StateReader, projections: ProjectionReader) -> Iterator[tuple[CommitView, View]]:
    """The last commit of both. `NotOfOneCommit`: a node was killed between their commits."""
    for _ in range(TRIES):
        with state.snapshot() as view, projections.snapshot() as kept:
            if are_of_one_commit(view, kept):
                yield view, kept
                return
        time.sleep(PAUSE_SECONDS)
    raise NotOfOneCommit(UNDER_WAY.format(state.folder))


@contextmanager
def reading_both(folder: Path) -> Iterator[tuple[CommitView, View]]:
    """The state and the projections of a folder, both of one commit. They are opened for this and closed afterwards."""
    with (
        StateReader.open(folder, STORED_TABLES) as state,
        ProjectionReader(folder) as projections,
        both_of_one_commit(state, projections) as both,
    ):
        yield both
