"""The application as its file declares it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias, TypeVar

from sqlalchemy import Column, Connection, Integer, MetaData, Table
from sqlalchemy.sql.schema import Identity, SchemaItem

from ledgerd.app.declaring.steps import ChainStep, FedBlock
from ledgerd.app.errors import WrongDeclaration
from ledgerd.protocol.operations import Operation
from ledgerd.rpc.call.declarations import deferral_of

H = TypeVar("H", bound=Callable[[ChainStep, Any], None])
F = TypeVar("F", bound=Callable[..., Any])

OWN_PREFIX = "_ledgerd"
"""The prefix of the tables, triggers and functions that the library makes for itself."""

_NAME = re.compile(r"[a-z][a-z0-9_-]{0,47}")
_TABLE = re.compile(r"[a-z][a-z0-9_]{0,39}")
_METHOD = re.compile(r"[a-z][a-z0-9_]{0,63}")

BlockHandler: TypeAlias = Callable[[ChainStep], None]
Migrate: TypeAlias = Callable[[Connection], None]


class OperationHandler(NamedTuple):
    """A function that is called with each operation of one kind."""

    kind: type[Operation]
    function: Callable[[ChainStep, Any], None]


class Application:
    """Tables that follow a chain.

    `version` is that of the tables: who changes them raises it, and says with `migration` how they come to it.
    `first_block` is the first block that is of interest. With `history`, operations come from the history that nodes
    keep, where what proposals carry out is as well; it is so in any case where a handler is for virtual operations.
    """

    def __init__(self, name: str, *, version: int = 1, first_block: int = 1, history: bool = False) -> None:
        if not _NAME.fullmatch(name):
            raise WrongDeclaration(
                f"{name[:60]!r}: an application's name must be of small letters, digits, - and _, a letter first"
            )
        if version < 1 or first_block < 1:
            raise WrongDeclaration(f"{name}: version and first_block must be 1 or more")
        self.name, self.version, self.first_block = name, version, first_block
        self._history = history
        self.tables = MetaData()
        self.handlers: list[OperationHandler] = []
        self.block_handlers: list[BlockHandler] = []
        self.irreversible_handlers: list[Callable[[ChainStep, int], None]] = []
        self.methods: dict[str, Callable[..., Any]] = {}
        self.migrations: dict[int, Migrate] = {}

    def table(self, name: str, *columns: SchemaItem, **options: Any) -> Table:  # noqa: ANN401 - SQLAlchemy's own
        """Declare a table, by columns and constraints of SQLAlchemy's. It needs a primary key."""
        made = Table(name, self.tables, *columns, **options)
        _require_undoable(made)
        if not _has_row_number(made):
            made.dialect_options["sqlite"]["with_rowid"] = False  # no number of a row that could differ after an undo
        return made

    def on(self, *kinds: type[Operation]) -> Callable[[H], H]:
        """Declare a handler of operations, virtual ones as well."""
        for kind in kinds:
            if not (isinstance(kind, type) and issubclass(kind, Operation)):
                raise WrongDeclaration(f"{self.name}: {kind!r} is no operation")

        def declare(handler: H) -> H:
            self._require_called(handler, "step", "operation")
            self.handlers += [OperationHandler(kind, handler) for kind in kinds]
            return handler

        return declare

    def on_block(self, handler: BlockHandler) -> BlockHandler:
        """Declare a handler of every block, called after those of its operations."""
        self._require_called(handler, "step")
        self.block_handlers.append(handler)
        return handler

    def on_irreversible(self, handler: Callable[[ChainStep, int], None]) -> Callable[[ChainStep, int], None]:
        """Declare what is done when blocks can't be undone any more: it gets the number of the last such block.

        It may be called for several blocks at once, and again for the same ones after a fork.
        """
        self._require_called(handler, "step", "number")
        self.irreversible_handlers.append(handler)
        return handler

    def method(self, function: F) -> F:
        """Declare a method that is answered as JSON: a function of a `Connection`, which only reads, and parameters."""
        name = function.__name__
        if not _METHOD.fullmatch(name) or name in self.methods:
            raise WrongDeclaration(
                f"{self.name}: a method {name[:80]} is there already, or its name is not of small letters, digits and _"
            )
        self._require_plain(function)
        kinds = [each.kind for each in inspect.signature(function).parameters.values()]
        by_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
        if kinds[:1] != [inspect.Parameter.POSITIONAL_OR_KEYWORD] or any(each not in by_name for each in kinds):
            raise WrongDeclaration(f"{self.name}: the method {name} must take the tables, then named parameters")
        self.methods[name] = function
        return function

    def migration(self, version: int) -> Callable[[Migrate], Migrate]:
        """Declare how the tables of the previous version become those of this one."""

        def declare(migrate: Migrate) -> Migrate:
            if version in self.migrations or not 1 < version <= self.version:
                raise WrongDeclaration(f"{self.name}: each version from 2 up to the present one may have one migration")
            self._require_called(migrate, "connection")
            self.migrations[version] = migrate
            return migrate

        return declare

    def _require_plain(self, function: Callable[..., Any]) -> None:
        if deferral := deferral_of(function):
            raise WrongDeclaration(
                f"{self.name}: {handler_name(function)} is {deferral}, and nothing of it would run: "
                "write a plain function"
            )

    def _require_called(self, function: Callable[..., Any], *arguments: str) -> None:
        """Refuse at once a function that would do nothing when it is called, or fail at its first block."""
        self._require_plain(function)
        try:
            inspect.signature(function).bind(*arguments)
        except TypeError as problem:
            given = ", ".join(arguments)
            name = handler_name(function)
            raise WrongDeclaration(f"{self.name}: {name} would be called as {name}({given}): {problem}") from None

    @property
    def wants_history(self) -> bool:
        """Whether blocks are needed with their virtual operations, which only the history of a node has."""
        return self._history or any(each.kind.VIRTUAL or each.kind is Operation for each in self.handlers)

    def wants(self, operation: Operation) -> bool:
        return any(isinstance(operation, each.kind) for each in self.handlers)


def handler_name(function: Callable[..., Any]) -> str:
    return getattr(function, "__qualname__", None) or repr(function)


def _has_row_number(table: Table) -> bool:
    """Whether SQLite numbers the rows by its key."""
    keys = list(table.primary_key.columns)
    return len(keys) == 1 and type(keys[0].type) is Integer


def _require_undoable(table: Table) -> None:
    """Refuse a table whose changes could not be undone exactly, and say what to do instead."""
    name = table.name
    if not _TABLE.fullmatch(name):
        raise WrongDeclaration(
            f"{name[:60]!r}: a table's name must be of small letters, digits and _, 40 at most, a letter first"
        )
    if table.schema is not None:
        raise WrongDeclaration(f"table {name}: leave `schema` out: tables stand in the database of the application")
    if not table.primary_key.columns:
        raise WrongDeclaration(f"table {name} needs a primary key, by which its rows are told apart")
    if table.dialect_options["sqlite"]["autoincrement"]:
        raise WrongDeclaration(f"table {name}: leave `sqlite_autoincrement` out: its numbers would not be undone")
    for column in table.columns:
        _require_undoable_column(name, column)
    for constraint in table.foreign_key_constraints:
        if constraint.onupdate is not None or constraint.initially is not None:
            raise WrongDeclaration(f"table {name}: foreign keys must have neither `onupdate` nor `initially`")
        constraint.deferrable = True  # an undo puts rows back in its own order


def _require_undoable_column(table: str, column: Column[Any]) -> None:
    identity = column.identity
    if isinstance(identity, Identity):
        raise WrongDeclaration(f"table {table}, column {column.name}: leave Identity out; an Integer key is numbered")
    if column.name.startswith(OWN_PREFIX):
        raise WrongDeclaration(f"table {table}: a column can't be named {column.name}")


def carry_out(
    application: Application, step: ChainStep, block: FedBlock, at: Callable[[Callable[..., Any]], None]
) -> None:
    """Call the handlers of a block in order; `at` is called with each of them first."""
    for row in block.operations:
        for handler in application.handlers:
            if isinstance(row.operation, handler.kind):
                at(handler.function)
                step.row = row
                handler.function(step, row.operation)
    step.row = None
    for each in application.block_handlers:
        at(each)
        each(step)
