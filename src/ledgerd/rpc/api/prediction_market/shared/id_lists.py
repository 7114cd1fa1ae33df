"""Pages of objects by where they stand in an order: the ids of all of them are remembered until the next head."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Iterable
from typing import Any, TypeAlias, TypeVar

from ledgerd.protocol.crypto.hashing import sha256
from ledgerd.rpc.api.prediction_market.declared import page, require_page
from ledgerd.rpc.api.prediction_market.shared.remembered import head_of
from ledgerd.rpc.call.view import ApiView
from ledgerd.state.tables.tables import Entity, Index, Key, Table

NEAR = 1_000
"""A page that ends within so many rows is read where it stands."""

MOST_BYTES = 16_000_000
"""Bytes of the lists that a worker remembers: two million ids."""

BESIDE_IDS = 512
"""Bytes that a list takes besides its ids, so that empty ones are bounded too."""

Ids: TypeAlias = "array[int]"
E = TypeVar("E", bound=Entity)


class IdLists:
    """Lists of ids of one head block, by the digest of what they are lists of: what a client asks for may be long."""

    def __init__(self) -> None:
        self._head: tuple[bytes, int] = (b"", 0)
        self._lists: dict[bytes, Ids] = {}
        self.bytes = 0

    def get(self, head: tuple[bytes, int], key: Hashable, make: Callable[[], Iterable[int]]) -> Ids:
        if head != self._head:
            self._drop(head)
        digest = sha256(repr(key).encode())  # no two keys are printed alike: they consist of texts, numbers, and tuples
        known = self._lists.get(digest)
        if known is None:
            known = array("q", make())
            size = BESIDE_IDS + len(known) * known.itemsize
            if self.bytes + size > MOST_BYTES:
                self._drop(head)
            self._lists[digest] = known
            self.bytes += size
        return known

    def _drop(self, head: tuple[bytes, int]) -> None:
        self._head, self._lists, self.bytes = head, {}, 0

    def __len__(self) -> int:
        return len(self._lists)


def id_list(view: ApiView, key: Hashable, make: Callable[[], Iterable[int]]) -> Ids:
    return view.node.memory(IdLists).get(head_of(view), key, make)


def range_ids(view: ApiView, index: Index[Any], key: Key, *, newest: bool, first: int, limit: int) -> Iterable[int]:
    if first + limit <= NEAR:
        return page(view.state.ids_under(index, *key, reverse=newest), first, limit)
    ids = id_list(view, (index.title, key), lambda: view.state.ids_under(index, *key))
    return cut(ids, newest=newest, first=first, limit=limit)


def rows_page(
    view: ApiView, table: Table[E], index: Index[Any], key: Key, first: int, limit: int, *, newest: bool = False
) -> tuple[E, ...]:
    require_page(limit, first)
    ids = range_ids(view, index, key, newest=newest, first=first, limit=limit)
    return tuple(row for each in ids if (row := view.state.find(table, each)) is not None)


def cut(ids: Ids, *, newest: bool, first: int, limit: int) -> Iterable[int]:
    if not newest:
        return ids[first : first + limit]
    end = max(0, len(ids) - first)
    return reversed(ids[max(0, end - limit) : end])
