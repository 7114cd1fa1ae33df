"""The tables of an application are made, found as they were left, migrated, or removed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import msgspec
from sqlalchemy import Connection, inspect
from sqlalchemy.exc import DBAPIError

from ledgerd.app.declaring.application import Application
from ledgerd.app.errors import DatabaseRefused, TablesChanged, WrongDeclaration
from ledgerd.app.tables.databases import database_error_text, open_readers, open_writer, place_of, reported, url_of
from ledgerd.app.tables.facts import FORMAT, FollowedBlock, Identity, StoredFacts
from ledgerd.app.tables.journal import UndoJournal, journaled, quoted
from ledgerd.app.tables.layout import declared_layout, difference, found_layout, lacking
from ledgerd.app.tables.postgres_journal import PostgresJournal
from ledgerd.app.tables.sqlite_journal import SqliteJournal
from ledgerd.app.tables.store import FollowedTables
from ledgerd.basics.failures import reason_of

JOURNALS: dict[str, type[UndoJournal]] = {"sqlite": SqliteJournal, "postgresql": PostgresJournal}
OR_REBUILD = "or make the tables again from the first block: ledgerd app rebuild"


@contextmanager
def open_tables(application: Application, address: str) -> Iterator[FollowedTables]:
    """The tables of an application, which nobody else has open to change them."""
    with open_writer(address) as connection:
        identity = _prepared(application, connection)
        journal = _journal_of(connection, identity)
        yield FollowedTables(application, connection, journal, identity.found)


class TablesStatus(NamedTuple):
    """How far tables are."""

    place: str
    version: int
    chain: str
    block: FollowedBlock | None
    reversible: int


def read_status(application: Application, address: str) -> TablesStatus:
    """Read how far the tables are, without the lock: the application may run meanwhile."""
    url = url_of(address)
    place = place_of(url)
    if url.drivername == "sqlite" and not Path(place).is_file():
        raise DatabaseRefused(f"{place} is not there yet: ledgerd app run makes it")
    with reported(url), open_readers(address).connect() as connection:
        facts = StoredFacts(connection)
        if not facts.exist():
            raise DatabaseRefused(f"{place} has no tables of an application yet: ledgerd app run makes them")
        identity, blocks = _own(application, facts, connection), facts.blocks()
        reversible = sum(each.can_undo for each in blocks)
        return TablesStatus(place, identity.version, facts.chain, blocks[0] if blocks else None, reversible)


def remove_tables(application: Application, address: str) -> None:
    """Take away everything that the application has made, so that it begins again."""
    with open_writer(address) as connection, connection.begin():
        facts = StoredFacts(connection)
        if not facts.exist():
            return
        identity = _own(application, facts, connection)
        _journal_of(connection, identity).remove()
        for table in reversed(identity.tables):
            cascade = "" if connection.dialect.name == "sqlite" else " CASCADE"
            connection.exec_driver_sql(f"DROP TABLE IF EXISTS {quoted(table.name)}{cascade}")
        facts.remove()


def _journal_of(connection: Connection, identity: Identity) -> UndoJournal:
    return JOURNALS[connection.dialect.name](connection, identity.tables)


def _prepared(application: Application, connection: Connection) -> Identity:
    facts = StoredFacts(connection)
    with connection.begin():
        if not facts.exist():
            return _make(application, connection)
        identity = _own(application, facts, connection)
        what = difference(identity.found, found_layout(connection, frozenset(identity.found)))
        if what:
            raise TablesChanged(
                f"{what}: something else than its application has changed it. Change it back, {OR_REBUILD}"
            )
    if identity.version > application.version:
        raise WrongDeclaration(
            f"the tables in the database are of version {identity.version} of {application.name}, and the file "
            f"declares version {application.version}: run a later file"
        )
    if identity.version < application.version:
        return _migrate(application, connection, identity)
    declared = declared_layout(application.tables, connection.dialect)
    if declared != identity.declared:
        names = sorted(
            name for name in declared | identity.declared if declared.get(name) != identity.declared.get(name)
        )
        raise WrongDeclaration(
            f"table {names[0]} of {application.name} is declared otherwise than it was made: raise the version to "
            f"{application.version + 1} and say in a migration how the table comes to it, {OR_REBUILD}"
        )
    return identity


def _own(application: Application, facts: StoredFacts, connection: Connection) -> Identity:
    identity = facts.identity
    if identity.application != application.name:
        raise DatabaseRefused(
            f"{place_of(connection.engine.url)} has the tables of {identity.application}, not of {application.name}: "
            "give each application a database of its own"
        )
    if identity.format != FORMAT:
        raise DatabaseRefused(f"{place_of(connection.engine.url)} was made by another version of ledgerd: {OR_REBUILD}")
    return identity


def _make(application: Application, connection: Connection) -> Identity:
    there = set(inspect(connection).get_table_names())
    for table in application.tables.sorted_tables:
        if table.name in there:
            raise DatabaseRefused(
                f"{place_of(connection.engine.url)} has a table {table.name}, which the application has not made: give "
                "the application a database of its own"
            )
    StoredFacts(connection).make()
    return _identify(application, connection)


def _identify(application: Application, connection: Connection) -> Identity:
    """Make what the file declares and is not there yet, and remember it."""
    application.tables.create_all(connection)
    what = lacking(connection, application.tables)
    if what:
        raise WrongDeclaration(f"after the migrations to version {application.version}, {what}")
    identity = Identity(
        application=application.name,
        version=application.version,
        declared=declared_layout(application.tables, connection.dialect),
        tables=journaled(application.tables),
    )
    _journal_of(connection, identity).make()
    names = frozenset(each.name for each in identity.tables)
    identity = msgspec.structs.replace(identity, found=found_layout(connection, names))
    StoredFacts(connection).identity = identity
    return identity


def _migrate(application: Application, connection: Connection, identity: Identity) -> Identity:
    """Change the tables where they stand at an irreversible block: what came later is undone, and applied again."""
    journal = _journal_of(connection, identity)
    FollowedTables(application, connection, journal, identity.found).undo_reversible()
    is_sqlite = connection.dialect.name == "sqlite"
    if is_sqlite:
        _set_foreign_keys(connection, "OFF")  # a table is replaced by a copy of it
    try:
        with connection.begin():
            journal.remove()
            for version in range(identity.version + 1, application.version + 1):
                _run_migration(application, connection, version)
            return _identify(application, connection)
    finally:
        if is_sqlite:
            _set_foreign_keys(connection, "ON")


def _set_foreign_keys(connection: Connection, state: str) -> None:
    """Outside of a transaction, where alone it has an effect."""
    raw = connection.connection.driver_connection
    if raw is not None:
        raw.execute(f"PRAGMA foreign_keys = {state}")


def _run_migration(application: Application, connection: Connection, version: int) -> None:
    migrate = application.migrations.get(version)
    if migrate is None:
        return
    try:
        migrate(connection)
    except Exception as problem:
        why = database_error_text(problem) if isinstance(problem, DBAPIError) else reason_of(problem)
        raise WrongDeclaration(f"the migration of {application.name} to version {version} fails: {why}") from problem
