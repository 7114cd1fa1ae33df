"""The store: tables of objects, sorted indexes, undo and the durable commit. Knows no rule of the ledger.

`Store` is the one writer, `StateReader` is for other processes; both are a `View`. The tables are declared with
`Table`, `unique` and `ordered`, beside their records in `objects/`. `docs/state-store.md` explains how it works.
"""

from ledgerd.state.disk import Space
from ledgerd.state.errors import (
    NotUnique,
    StorageError,
    StoreCorrupt,
    StoreFull,
    StoreLocked,
    StoreMisuse,
    StoreOutdated,
    UnknownKey,
)
from ledgerd.state.overlay import Overlay
from ledgerd.state.reader import CommitView, StateReader
from ledgerd.state.records import Row
from ledgerd.state.sessions import Session
from ledgerd.state.store import Store
from ledgerd.state.tables import Entity, Index, ObjectId, Table, ordered, unique
from ledgerd.state.view import View

__all__ = [
    "CommitView",
    "Entity",
    "Index",
    "NotUnique",
    "ObjectId",
    "Overlay",
    "Row",
    "Session",
    "Space",
    "StateReader",
    "StorageError",
    "Store",
    "StoreCorrupt",
    "StoreFull",
    "StoreLocked",
    "StoreMisuse",
    "StoreOutdated",
    "Table",
    "UnknownKey",
    "View",
    "ordered",
    "unique",
]
