"""The state that clients see: that of the head block with the changes of pending transactions (spec 05, section 7)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from ledgerd.rpc.link.topics import PendingChange, unpacked
from ledgerd.state.tables.tables import Table
from ledgerd.state.views.overlay import Overlay
from ledgerd.state.views.reader import StateReader
from ledgerd.state.views.view import View


class PendingReader:
    """Reads the last commit, overlaid with the changes that the main process sends."""

    def __init__(self, reader: StateReader, tables: Iterable[Table[Any]]) -> None:
        self._reader = reader
        self._overlay = Overlay(tables)

    def receive(self, payload: bytes) -> None:
        if payload:
            change = unpacked(payload, PendingChange)
            self._overlay.add(change.block_num, change.rows)
        else:
            self._overlay.clear()

    @contextmanager
    def snapshot(self) -> Iterator[View]:
        with self._reader.snapshot() as snapshot:
            yield self._overlay.over(snapshot)
