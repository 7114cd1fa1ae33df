"""How the changes since the last commit become durable: in the file, and in the log of changes where there is one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ledgerd.state.files.change_log import FIRST_BESIDE, NOWHERE, POSITION_VALUE, ChangeLog, digest_of_layout
from ledgerd.state.files.disk import Database, Disk
from ledgerd.state.files.header import Header, database_names
from ledgerd.state.files.recording import FileChanges
from ledgerd.state.tables.tables import Table, layout


class Committing:
    """The commits of one store."""

    def __init__(self, disk: Disk, header: Header) -> None:
        self._disk, self._header, self._log = disk, header, disk.space.changes
        self._is_beside = disk.space.is_beside
        self._position = header.values.get(POSITION_VALUE, NOWHERE)

    def begin(self, tables: tuple[Table[Any], ...], databases: dict[str, Database]) -> None:
        """Who changes the state without the log takes its position from it: what was logged before does not lead here.

        Call it while no transaction is open.
        """
        names = database_names(tables)
        if self._log is not None and self._is_beside:
            self._disk.record_changes({databases[name]: FIRST_BESIDE + number for number, name in enumerate(names)})
            return
        if self._log is None:
            if self._position != NOWHERE:
                self._header.set_value(POSITION_VALUE, NOWHERE)
            return
        self._log.begin(digest_of_layout(layout(tables)), self._position)
        self._disk.record_changes({databases[name]: number for number, name in enumerate(names)})

    def carry_out(self, write: Callable[[], object], revision: int) -> None:
        """Make what a function writes durable, as the state of a revision; a failure leaves the file as it was."""
        log = self._log
        if log is None:
            self._disk.carry_out(write)
            return
        if self._is_beside:
            self._carry_out_beside(write, log)
            return
        before, following = self._position, log.following
        self._header.set_value(POSITION_VALUE, following)

        def write_and_log() -> None:
            write()
            log.write(before, revision, self._disk.changes)

        self._disk.carry_out(write_and_log)
        log.confirm()
        self._position = following

    def _carry_out_beside(self, write: Callable[[], object], log: ChangeLog) -> None:
        changes: FileChanges = {}

        def write_and_keep() -> None:
            nonlocal changes
            write()
            changes = self._disk.changes

        self._disk.carry_out(write_and_keep)
        log.add(changes)

    def close(self) -> None:
        if self._log is not None and not self._is_beside:
            self._log.close()
