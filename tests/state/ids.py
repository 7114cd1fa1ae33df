"""Ids with gaps, as states have them from which objects were removed."""

from __future__ import annotations

from typing import Any

from ledgerd.state import Store, Table


def set_next_id(store: Store, table: Table[Any], object_id: int) -> None:
    """Give ids from here on."""
    opened = store._tables[table]  # noqa: SLF001 - no caller chooses ids
    assert object_id >= opened.next_id
    opened.next_id = object_id
