"""What handlers get: the block and the operation at which they stand, and a way to change tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, cast

import msgspec
from sqlalchemy import Connection, CursorResult, Executable, Table, TextClause, text
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.sql.dml import UpdateBase
from sqlalchemy.sql.selectable import SelectBase

from ledgerd.protocol.types.identifiers import BlockId, block_number_of
from ledgerd.sdk.streams.cursor import PlaceInBlock
from ledgerd.sdk.streams.events import HistoryRow

Parameters: TypeAlias = Mapping[str, Any] | Sequence[Mapping[str, Any]] | None

ALLOWED_WORDS = frozenset({"select", "insert", "update", "delete", "with", "replace", "values"})


class FedBlock(msgspec.Struct, frozen=True):
    """A block as an application gets it, with the operations for which it has handlers."""

    id: BlockId
    previous: BlockId
    time: int
    validator: str
    operations: Sequence[HistoryRow] = ()
    is_irreversible: bool = False
    """Whether the block was irreversible when it was read."""

    @property
    def number(self) -> int:
        return block_number_of(self.id)


class ChainStep:
    """The argument of handlers: the place in the chain, and access to the tables. Its changes are undone with the
    block.
    """

    def __init__(self, connection: Connection, block: FedBlock) -> None:
        self._connection = connection
        self.number = block.number
        self.id = block.id.hex()
        self.time = block.time
        """The time of the block, in seconds since 1970."""
        self.validator = block.validator
        self.row: HistoryRow | None = None
        """The current operation with its place; None once all operations were handled."""
        self.handler = ""
        """The name of the handler that is called."""
        self.file = ""
        """The file in which it stands."""

    @property
    def place(self) -> PlaceInBlock:
        """The place of the current operation in its block."""
        if self.row is None:
            raise LookupError("there is no operation at this step, but a whole block")
        return self.row.place

    @property
    def transaction_id(self) -> str:
        """The id of the current operation's transaction, in hex; empty once all operations were handled."""
        return "" if self.row is None else self.row.transaction_id.hex()

    def execute(self, statement: SelectBase | UpdateBase | TextClause | str, parameters: Parameters = None) -> Any:  # noqa: ANN401 - rows are of any type
        """Carry out a statement of SQLAlchemy's, or a text, that reads or changes rows."""
        whole = text(statement) if isinstance(statement, str) else statement
        _require_rows_only(whole)
        return cast("CursorResult[Any]", self._connection.execute(cast("Executable", whole), parameters))

    def scalar(self, statement: SelectBase | UpdateBase | TextClause | str, parameters: Parameters = None) -> Any:  # noqa: ANN401 - a value of any type
        """The first value of the first row; None where there is no row."""
        return self.execute(statement, parameters).scalar()

    def insert(self, table: Table) -> sqlite.Insert:
        """An insertion that can say what is done on a conflict (`on_conflict_do_update`), in either database."""
        if self._connection.dialect.name == "sqlite":
            return sqlite.insert(table)
        return cast("sqlite.Insert", postgresql.insert(table))  # which has the same methods


def _require_rows_only(statement: object) -> None:
    """A block is one transaction: a handler neither ends it nor changes what can't be undone."""
    if isinstance(statement, TextClause):
        words = statement.text.split(maxsplit=1)
        if words and words[0].lower() in ALLOWED_WORDS:
            return
    elif isinstance(statement, SelectBase | UpdateBase):
        return
    raise ValueError(f"handlers read and change rows, and do nothing else to the database: {statement}")
