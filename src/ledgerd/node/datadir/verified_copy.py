"""The last verified point before `assume-valid`: a copy of the state, to which the node goes back when the chain turns
out to have another block than the assumed one.

A kill at any moment leaves the state as it was, or is continued by the next start.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec

from ledgerd.basics.durable import put_in_place, sync_folder
from ledgerd.chain.ledger.assumption import Assumption, assumption_of
from ledgerd.chain.log.block_log import BlockLog
from ledgerd.chain.log.files import paths_of
from ledgerd.chain.log.rolling import RollingBlockLog
from ledgerd.node.datadir.state_files import StateFiles
from ledgerd.projections.kept import FOLDER, replace_projections
from ledgerd.protocol.errors import OperatorError
from ledgerd.state.files.copying import copy_state
from ledgerd.state.files.disk import DATA_FILE, LOCKS, taken_bytes
from ledgerd.state.files.lock import swapping
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.objects.globals import DYNAMIC_GLOBAL_PROPERTIES
from ledgerd.state.store import Store

VERIFIED = "verified"
"""The folder of the copy, in that of the state; without a state in it, the verified point is the genesis."""

PARTIAL = "verified.part"
GOING_BACK = "going-back"
"""The file in that folder, while the node goes back, with the addresses of peers that are banned afterwards."""
BANNED = "banned-peers"
"""The file in the folder of the state with those addresses, until the next start bans them."""
SPARE = 1 << 30
"""Bytes that have to be free beside the copy."""

log = logging.getLogger(__name__)


class VerifiedCopy:
    """The copy in a state's folder. No process may have the state open."""

    def __init__(self, files: StateFiles) -> None:
        self._files = files
        self._folder = files.folder / VERIFIED
        self.banned: Callable[[], tuple[str, ...]] = tuple
        """The addresses that are banned now, for the thread of the chain; set by whoever has peers."""

    @property
    def is_going_back(self) -> bool:
        return (self._folder / GOING_BACK).exists()

    def resume(self, asked: Assumption | None) -> None:
        """At a start: continue what was begun. A state that waits for another block than the option names goes back
        first, so that removing the option has every block verified.
        """
        if not self._folder.is_dir():
            return
        if not self.is_going_back:
            waited = self._waited_for()
            if waited is None and self._files.exists:
                self.forget()
                return
            if waited == asked:
                return
            log.warning("assume-valid is not as before: the node goes back to the last verified block")
            self.begin_going_back(())
        self.go_back()

    def _waited_for(self) -> Assumption | None:
        files = self._files
        if not files.exists:
            return None
        with Store.open(files.folder, STORED_TABLES, space=files.space) as store:
            return assumption_of(store)

    def keep(self, number: int) -> None:
        """Copy the state, unless it is provisional or has that block. `OperatorError`: there is no room for it."""
        files = self._files
        if files.exists:
            with Store.open(files.folder, STORED_TABLES, space=files.space) as store:
                now = store.find(DYNAMIC_GLOBAL_PROPERTIES, 0)
                if assumption_of(store) is not None or (now is not None and now.head_block_number >= number):
                    return
        self.forget()
        if not files.exists:
            self._folder.mkdir()
            return
        self._require_room()
        partial = files.folder / PARTIAL
        shutil.rmtree(partial, ignore_errors=True)
        copy_state(files.folder, partial)
        if (files.folder / FOLDER).is_dir():
            copy_state(files.folder / FOLDER, partial / FOLDER)
        sync_folder(partial)
        partial.replace(self._folder)
        sync_folder(files.folder)

    def _require_room(self) -> None:
        folder = self._files.folder
        size = taken_bytes(folder / DATA_FILE) + taken_bytes(folder / FOLDER / DATA_FILE)
        free = shutil.disk_usage(self._files.folder).free
        if free < size + SPARE:
            raise OperatorError(
                f"assume-valid keeps a copy of the state, of {size >> 20} MB, until the chain has that block; "
                f"{free >> 20} MB are free in {self._files.folder}: make room, or start without it"
            )

    def forget(self) -> None:
        """Delete the copy: the chain has the assumed block."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def begin_going_back(self, banned: tuple[str, ...]) -> None:
        """Note that the node goes back as soon as nothing has the state open, and which peers it is not to ask then."""
        partial = self._folder / f"{GOING_BACK}.part"
        partial.write_bytes(msgspec.json.encode(banned))
        put_in_place(partial, self._folder / GOING_BACK)

    def go_back(self) -> None:
        """Cut the logs and put the copy in the place of the state; each step may be repeated after a kill."""
        files, copy = self._files, self._folder / DATA_FILE
        if copy.exists():
            self._cut_logs(self._last_logged())
            with swapping(files.folder):
                (files.folder / LOCKS).unlink(missing_ok=True)
                (self._folder / LOCKS).unlink(missing_ok=True)
                copy.replace(files.folder / DATA_FILE)
            # After a loss of power, the note that the node goes back must not be gone before the copy has arrived.
            sync_folder(files.folder)
            sync_folder(self._folder)
        elif self._is_from_genesis():
            # Whoever has lost the state may have had the log before, and there may be no other copy of it.
            if not files.exists and (aside := files.set_full_log_aside()) is not None:
                log.warning("the state is missing, so the block log was moved to %(folder)s", {"folder": aside})
            self._cut_logs(0)
            files.remove()
        replace_projections(files.folder, self._folder)
        (self._folder / GOING_BACK).replace(files.folder / BANNED)
        sync_folder(files.folder)
        self.forget()
        log.warning("the state is that of the last verified block %(block)d again", {"block": files.head})

    def _is_from_genesis(self) -> bool:
        """Whether there never was a copy: one that is in place already is not provisional."""
        files = self._files
        if not files.exists:
            return True
        with Store.open(files.folder, STORED_TABLES, space=files.space) as store:
            return assumption_of(store) is not None

    def _last_logged(self) -> int:
        with Store.open(self._folder, STORED_TABLES, space=self._files.space) as store:
            now = store.find(DYNAMIC_GLOBAL_PROPERTIES, 0)
        return 0 if now is None else now.last_irreversible_block_num

    def _cut_logs(self, number: int) -> None:
        for kind in (BlockLog, RollingBlockLog):
            if not paths_of(self._files.logs, kind.KIND)[0].exists():
                continue
            opened = kind.open(self._files.logs)
            try:
                if opened.head_number > number:
                    opened.cut_after(number)
                    opened.sync()
            finally:
                opened.close()


def read_banned_once(folder: Path) -> tuple[str, ...]:
    """The addresses that are to be banned; they are told once."""
    file = folder / BANNED
    try:
        banned = msgspec.json.decode(file.read_bytes(), type=tuple[str, ...])
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        return ()
    file.unlink(missing_ok=True)
    return banned
