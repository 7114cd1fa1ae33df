"""What every journal of changes has: it records how rows were before a block, and puts them back.

The database itself writes it, by triggers, in the transaction of the change: whatever a handler does to rows is in it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

import msgspec
from sqlalchemy import Connection, MetaData

from ledgerd.app.declaring.application import OWN_PREFIX
from ledgerd.app.errors import TablesChanged

JOURNAL = f"{OWN_PREFIX}_undo"


class JournaledTable(msgspec.Struct, frozen=True):
    """A table whose changes are recorded; kept in the database, since an undo may come after the file has changed."""

    name: str
    keys: tuple[str, ...]
    columns: tuple[str, ...]
    """All that are written, generated ones left out."""
    numbered: str = ""
    """The column that PostgreSQL numbers from a sequence."""


def journaled(tables: MetaData) -> tuple[JournaledTable, ...]:
    return tuple(
        JournaledTable(
            str(table.name),
            tuple(str(each.name) for each in table.primary_key.columns),
            tuple(str(each.name) for each in table.columns if each.computed is None),
            "" if (number := table.autoincrement_column) is None else str(number.name),
        )
        for table in tables.sorted_tables
    )


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def listed(names: Sequence[str], before: str = "") -> str:
    return ", ".join(f"{before}{quoted(each)}" for each in names)


class UndoJournal(ABC):
    """The journal of one database."""

    def __init__(self, connection: Connection, tables: Sequence[JournaledTable]) -> None:
        self._connection = connection
        self._tables: Mapping[str, JournaledTable] = {each.name: each for each in tables}

    @abstractmethod
    def make(self) -> None:
        """Make the journal, and have it record every change."""

    @abstractmethod
    def remove(self) -> None:
        """Remove the journal and its triggers; the tables can then be changed by anybody."""

    @abstractmethod
    def begin(self, block: int, *, keep: bool) -> None:
        """Begin a block: until `end`, changes belong to it, and are recorded if it can be undone."""

    @abstractmethod
    def end(self) -> None:
        """End the block: from now on nobody may change rows."""

    @abstractmethod
    def undo(self, block: int) -> None:
        """Put back what a block has changed, the newest first."""

    @abstractmethod
    def forget(self, block: int) -> None:
        """Drop what is recorded of blocks up to this one."""

    def _require_one(self, found: int, table: str, block: int) -> None:
        if found != 1:
            raise TablesChanged(
                f"table {table} was changed by something else than its application: a row is not as block {block} has "
                "left it, so that the block can't be undone. Make the tables again: ledgerd app rebuild"
            )


def written_alone(table: str) -> str:
    """The error for programs that try to change a table from outside."""
    return f"table {table} is written by its ledgerd application alone"
