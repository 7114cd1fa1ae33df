"""Checks that objects and indexes agree: each index has one entry for every object, the right one, and no others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from ledgerd.state.files.header import HEADER, read_counters
from ledgerd.state.memory.open_index import OpenIndex
from ledgerd.state.memory.open_table import OpenTable
from ledgerd.state.tables.keys import INT64, integer_of
from ledgerd.state.tables.records import RecordForm
from ledgerd.state.tables.tables import E, Table
from ledgerd.state.views.reader import CommitView

ROWS_AT_ONCE = 1_024


def verify(tables: Iterable[OpenTable[Any]]) -> list[str]:
    return [problem for table in tables for problem in _verify_table(table)]


def _verify_table(opened: OpenTable[E]) -> Iterator[str]:
    """Objects are not kept in memory: there may be millions."""
    title, count = opened.table.title, 0
    next_id, *next_ranks = opened.counters
    for index in opened.all_indexes:
        index.flush()  # before the walk, which a map that grows would end
    for object_id in opened.ids():
        found = opened.cache.uncached(object_id)
        if found is None:
            continue
        entity, ranks = found
        count += 1
        if object_id >= next_id:
            yield f"{title} {object_id}: the next id is {next_id}"
        for rank, following in zip(ranks, next_ranks, strict=True):
            if rank >= following:
                yield f"{title} {object_id}: its rank {rank} has not been given yet"
        for index in opened.indexes.values():
            if index.leads_to(index.entry_of(entity, ranks)) != object_id:
                yield f"{index.index.title}: the entry of {object_id} is missing"
    for index in opened.indexes.values():
        yield from _verify_count(index, count)


def _verify_count(opened: OpenIndex[E], count: int) -> Iterator[str]:
    """Each object has its entry; where there are as many entries as objects, there are no others."""
    title, seen = opened.index.title, opened.count()
    if seen == count:
        return
    for entry, raw in opened.entries():
        object_id = integer_of(raw)
        found = opened.cache.uncached(object_id)
        if found is None:
            yield f"{title}: an entry leads to {object_id}, which does not exist"
        elif opened.entry_of(*found) != entry:
            yield f"{title}: the entry of {object_id} is wrong"
    yield f"{title}: {seen} entries for {count} objects"


def is_sound(view: CommitView, table: Table[E]) -> bool:
    """Whether all of that holds for a table of a commit; `verify` says what does not. Many rows are looked up together,
    which takes less time.
    """
    transaction, databases, forms, _ = view.parts
    form: RecordForm[E] = forms[table]
    next_id, *next_ranks = read_counters(transaction, databases[HEADER], table) or (0,)
    rows, count = iter(transaction.cursor(databases[table.title])), 0
    while some := list(islice(rows, ROWS_AT_ONCE)):
        count += len(some)
        ranks = [form.ranks(raw) for _, raw in some]
        highest = map(max, zip(*ranks, strict=True))
        is_counted = all(rank < following for rank, following in zip(highest, next_ranks, strict=True))
        if integer_of(some[-1][0]) >= next_id or not is_counted:
            return False
        entities = [form.decode(raw) for _, raw in some]
        for index in table.indexes:
            entries = [index.encode_key(index.key(each)) for each in entities]
            if not index.is_unique:
                slot = table.ordered_indexes.index(index)
                entries = [entry + INT64.encode(each[slot]) for entry, each in zip(entries, ranks, strict=True)]
            found = transaction.cursor(databases[index.title]).getmulti(entries)
            if found != [(entry, key) for entry, (key, _) in zip(entries, some, strict=True)]:
                return False
    return all(transaction.stat(databases[index.title])["entries"] == count for index in table.indexes)
