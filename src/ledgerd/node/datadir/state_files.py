"""The files of a node's state: finding, moving aside, replacing and deleting them.

The block logs are in the data directory, wherever `shared-file-dir` puts the state.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import lmdb

from ledgerd.basics.durable import open_file, sync_folder, waited_for_in
from ledgerd.chain.log.block_log import FULL_LOG, BlockLog
from ledgerd.chain.log.files import STATE_FOLDER, LogKind, paths_of, sums_path
from ledgerd.chain.log.rolling import ROLLING_LOG
from ledgerd.history.settings import HISTORY_FOLDER
from ledgerd.projections.kept import FOLDER, replace_projections
from ledgerd.protocol.errors import OperatorError
from ledgerd.rpc.blocks.records import FILE_NAME as BLOCK_INFO
from ledgerd.state.conversion import STATE_STEPS, convert_store
from ledgerd.state.errors import StorageError, unreadable
from ledgerd.state.files.disk import DATA_FILE, LOCKS, Space, environment_to_read, failure
from ledgerd.state.files.header import STATE
from ledgerd.state.files.lock import lock_writer, swapping
from ledgerd.state.files.pages import is_whole
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.objects.globals import DYNAMIC_GLOBAL_PROPERTIES
from ledgerd.state.objects.transactions import REVERSIBLE_BY_NUMBER
from ledgerd.state.store import Store
from ledgerd.state.tables.tables import layout

NEW = "new"
"""The folder in which a new state is built before it replaces the present one."""

BESIDE = (NEW, "replaced", "verified", "verified.part", FOLDER)
"""The folders beside a state that mean nothing without it."""

REPLACED = "replaced"
"""The folder of the replaced state, until its latest blocks are applied again."""

OLD_BLOCKS = "blocks-before-snapshot"
"""The folder, beside that of the state, for a full block log that a newer state does not continue."""

DAMAGED = "damaged"
"""A marker file: the state was found damaged while the node ran."""

LOGS: tuple[LogKind, ...] = (FULL_LOG, ROLLING_LOG)


def refuse_pipes(data_dir: Path, state: Path) -> None:
    """Refuse a directory that has a pipe or a device in the place of a file of the node."""
    found = waited_for_in((state, state / FOLDER, data_dir / STATE_FOLDER, data_dir / HISTORY_FOLDER))
    if found is not None:
        raise OperatorError(
            f"{found} is a pipe or a device, and no file: remove it, and put the file back in its place from a backup"
        )


@contextmanager
def naming_damage(state: Path) -> Iterator[None]:
    """Damage of a state is met where a page of it is read first. `StorageError`: it was, within the block."""
    try:
        yield
    except lmdb.Error as problem:
        raise failure(state, problem) from problem


def require_pages(state: Path) -> None:
    """Read every page in use, while no process has the state open. `StoreCorrupt`: one is not what it should be.

    Where LMDB comes to a page of another kind than it expects, such as one of zeros, it ends the process.
    """
    data = state / DATA_FILE
    if not data.exists():
        return
    lock_writer(state).close()
    with naming_damage(state), open_file(data) as file, closing(environment_to_read(state)) as environment:
        if not is_whole(file, data.stat().st_size, environment.stat()["psize"]):
            raise unreadable(f"{state}: pages of it are damaged or missing")


class StateFiles:
    """The state files of one folder, while no process has them open, and the folder of the block logs."""

    def __init__(self, folder: Path, logs: Path, space: Space) -> None:
        self.folder = folder
        self.logs = logs
        self.space = space

    @property
    def exists(self) -> bool:
        data = self.folder / DATA_FILE
        return data.is_file() and data.stat().st_size > 0

    @property
    def head(self) -> int:
        """The head block of the state; 0 if there is no readable state."""
        return self._head_of(self.folder)

    def _head_of(self, folder: Path) -> int:
        data = folder / DATA_FILE
        if not data.is_file() or not data.stat().st_size:
            return 0
        try:
            with naming_damage(folder), Store.open(folder, STORED_TABLES, space=self.space) as store:
                found = store.find(DYNAMIC_GLOBAL_PROPERTIES, 0)
        except StorageError:
            return 0
        return 0 if found is None else found.head_block_number

    @property
    def full_log_head(self) -> int:
        """The last block of the full log; 0 if there is none."""
        log = BlockLog.open(self.logs)
        try:
            return log.head_number
        finally:
            log.close()

    def make_folders(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.logs.mkdir(parents=True, exist_ok=True)

    def require_free(self) -> None:
        """Raise `StoreLocked` while a command has the state open, so that its files are not removed."""
        lock_writer(self.folder).close()

    # -- damage

    @property
    def is_marked_damaged(self) -> bool:
        """Whether the state was found damaged while a node ran on it."""
        return (self.folder / DAMAGED).exists()

    def mark_damaged(self) -> None:
        """Mark the state as damaged, so that the next start rebuilds it."""
        (self.folder / DAMAGED).touch()

    # -- taking away, and putting in place

    def remove(self) -> None:
        with swapping(self.folder):
            for name in (DATA_FILE, LOCKS, DAMAGED):
                (self.folder / name).unlink(missing_ok=True)

    def remove_all(self) -> None:
        self.remove()
        for folder in BESIDE:
            shutil.rmtree(self.folder / folder, ignore_errors=True)
        for kind in LOGS:
            for suffix in ("", ".tmp", ".bak"):
                for path in paths_of(self.logs, kind, suffix):
                    path.unlink(missing_ok=True)
            sums_path(self.logs, kind).unlink(missing_ok=True)
        (self.logs / BLOCK_INFO).unlink(missing_ok=True)

    def set_aside(self) -> None:
        """Move the state aside for a new one; its latest blocks, some of which are in no log, are still needed.

        A state that was set aside before, and whose blocks are not all applied yet, is the one to keep.
        """
        if not self.exists:
            return
        aside = self.folder / REPLACED
        if self._head_of(aside) > self.head:
            self.remove()
            return
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir()
        with swapping(self.folder):
            (self.folder / DATA_FILE).replace(aside / DATA_FILE)
            (self.folder / LOCKS).unlink(missing_ok=True)
        sync_folder(self.folder)
        self.remove()

    def fresh_folder(self) -> Path:
        folder = self.folder / NEW
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder

    def give_up(self) -> None:
        shutil.rmtree(self.folder / NEW, ignore_errors=True)
        with suppress(OSError):
            self.folder.rmdir()  # only if it was made for that state

    def drop_new(self) -> None:
        shutil.rmtree(self.folder / NEW, ignore_errors=True)

    def put_in_place(self) -> None:
        """Replace the state by the new one, with the projections that were made with it.

        If this is interrupted, the old state remains in use, or `finish` does the rest.
        """
        with swapping(self.folder):
            (self.folder / LOCKS).unlink(missing_ok=True)
            (self.folder / NEW / DATA_FILE).replace(self.folder / DATA_FILE)
        sync_folder(self.folder)
        self.finish()
        shutil.rmtree(self.folder / NEW, ignore_errors=True)
        (self.folder / DAMAGED).unlink(missing_ok=True)

    def finish(self) -> None:
        """If a new state was put in place, put its projections in place too; they are made after that state."""
        if not (self.folder / NEW / DATA_FILE).exists():
            replace_projections(self.folder, self.folder / NEW)

    def convert(self) -> None:
        """Bring a state of an earlier format to that of today."""
        convert_store(self.folder, STATE, STATE_STEPS, layout(STORED_TABLES).encode())

    def set_full_log_aside(self) -> Path | None:
        """Move the full log to a folder of its own, since the new state does not continue it; where to, if it had
        blocks: there may be no other copy of them.
        """
        if not self.full_log_head:
            return None
        number = 1
        while (aside := self.logs.parent / f"{OLD_BLOCKS}-{number}").exists():
            number += 1
        aside.mkdir()
        for path in paths_of(self.logs, FULL_LOG):
            path.replace(aside / path.name)
        sync_folder(aside)
        return aside

    # -- what was set aside

    def blocks_set_aside(self) -> Iterator[bytes]:
        """The latest blocks of the replaced state, packed and in order."""
        aside = self.folder / REPLACED
        if not (aside / DATA_FILE).exists():
            return
        with Store.open(aside, STORED_TABLES, space=self.space) as store:
            yield from [kept.packed for kept in store.scan(REVERSIBLE_BY_NUMBER)]

    def forget_set_aside(self) -> None:
        """Delete the replaced state: the new one has all its blocks."""
        shutil.rmtree(self.folder / REPLACED, ignore_errors=True)
