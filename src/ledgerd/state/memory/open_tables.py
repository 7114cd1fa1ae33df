"""All tables of a store together: which of them a commit writes, and which objects leave memory after it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from ledgerd.state.files.disk import LmdbTransaction
from ledgerd.state.files.header import Counters
from ledgerd.state.memory.open_table import OpenTable


class OpenTables:
    """The tables of a store, with a limit for the decoded objects that stay in memory."""

    def __init__(self, tables: Collection[OpenTable[Any]], cached: int) -> None:
        self._tables = tables
        self._cached = cached

    def changed(self) -> list[OpenTable[Any]]:
        """The tables with objects that the next commit writes: a block changes few of them."""
        return [opened for opened in self._tables if opened.cache.committed]

    def counters(self) -> dict[str, Counters]:
        """The next id and the next ranks, by the titles of the tables."""
        return {opened.table.title: opened.counters for opened in self._tables}

    def write_again(self, transaction: LmdbTransaction) -> None:
        """Write the index entries that an abandoned transaction has lost."""
        for opened in self.changed():
            opened.write_again(transaction)

    def mark_committed(self) -> None:
        """What changed is in the file; when too many objects are in memory, others than those leave it."""
        excess = sum([len(opened.cache.objects) for opened in self._tables]) - self._cached
        recent = {opened: set(opened.cache.committed) for opened in self.changed()} if excess > 0 else {}
        for opened in self.changed():
            opened.mark_committed()
        if excess > 0:
            self._evict(excess, recent)

    def _evict(self, excess: int, recent: Mapping[OpenTable[Any], set[int]]) -> None:
        """Drop so many objects from memory, and an eighth of all more, of the largest tables first."""
        for opened in sorted(self._tables, key=lambda opened: len(opened.cache.objects), reverse=True):
            excess -= opened.evict(excess + self._cached // 8, recent.get(opened, set()))
            if excess <= 0:
                break
