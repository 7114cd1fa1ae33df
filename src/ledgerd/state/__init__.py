"""The store: tables of objects, sorted indexes, undo and the durable commit. Knows no rule of the ledger.

`Store` is the one writer, `StateReader` is for other processes; both are a `View`. The tables are declared with
`Table`, `unique` and `ordered`, beside their records in `objects/`. `docs/state-store.md` explains how it works.
"""

from ledgerd.state.errors import StoreMisuse
from ledgerd.state.files.disk import Space
from ledgerd.state.store import Store
from ledgerd.state.tables.tables import Entity, Table, ordered, unique
from ledgerd.state.views.reader import StateReader
from ledgerd.state.views.view import View

__all__ = [
    "Entity",
    "Space",
    "StateReader",
    "Store",
    "StoreMisuse",
    "Table",
    "View",
    "ordered",
    "unique",
]
