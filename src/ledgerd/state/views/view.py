"""Reading the state: the interface that the writer and the readers in other processes share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from ledgerd.state.errors import UnknownKey
from ledgerd.state.files.ranges import Range
from ledgerd.state.tables.keys import MAX_KEY_BYTES, end_of_prefix
from ledgerd.state.tables.tables import E, Index, Key, Table

T = TypeVar("T")

TableOrIndex = Table[E] | Index[E]


class View(ABC):
    """Objects by id, by key and in order."""

    @abstractmethod
    def find(self, table: Table[E], object_id: int) -> E | None:
        """The object of an id, if there is one."""

    @abstractmethod
    def lookup(self, index: Index[E], *key: Any) -> E | None:  # noqa: ANN401 - as declared by the index
        """The first object with this key, or whose key begins with it."""

    def has(self, index: Index[E], *key: Any) -> bool:  # noqa: ANN401 - as declared by the index
        """Whether there is an object with this key; it need not be read for that."""
        return self.lookup(index, *key) is not None

    @abstractmethod
    def scan(
        self,
        source: TableOrIndex[E],
        *,
        lower: Key = (),
        upper: Key = (),
        reverse: bool = False,
        after: E | None = None,
    ) -> Iterator[E]:
        """The objects of an index in its order; of a table in the order of ids.

        A bound may be the first parts of a key, and takes in all keys that begin with them: from the `lower_bound` of
        `lower` to the `upper_bound` of `upper`. `after` goes on behind the position that an object has now.

        The body of the loop may change, create and remove anything. The scan then goes on behind the position that
        the last object had when it was returned: an object that has moved to a position further on is returned
        again, and one that has moved to a position already passed is not.
        """

    def scan_ids(
        self, source: TableOrIndex[E], *, lower: Key = (), upper: Key = (), reverse: bool = False
    ) -> Iterator[int]:
        """The ids of a scan; the objects need not be read for them."""
        return (each.id for each in self.scan(source, lower=lower, upper=upper, reverse=reverse))

    def under(self, index: Index[E], *key: Any, reverse: bool = False) -> Iterator[E]:  # noqa: ANN401
        """The objects whose key is this one or begins with it."""
        return self.scan(index, lower=key, upper=key, reverse=reverse)

    def ids_under(self, index: Index[E], *key: Any, reverse: bool = False) -> Iterator[int]:  # noqa: ANN401
        return self.scan_ids(index, lower=key, upper=key, reverse=reverse)

    @abstractmethod
    def position(self, source: TableOrIndex[E], entity: E) -> bytes:
        """The entry of an object in an index: of two objects, the one with the lesser position comes first."""

    @abstractmethod
    def meta(self, name: str) -> bytes | None:
        """A named value of the last commit, or of the next one if it was set since."""

    @property
    @abstractmethod
    def revision(self) -> int:
        """The number of the newest session, which is the number of the head block of this state."""

    @abstractmethod
    def next_id(self, table: Table[Any]) -> int:
        """The id that the next new object of a table will have."""

    def derived(self, derive: Callable[[E], T], index: Index[E], *key: Any) -> T | None:  # noqa: ANN401
        """What a function returns for the object with this key. It may read the object's fields, and nothing else.

        Readers remember the value until the object changes.
        """
        entity = self.lookup(index, *key)
        return None if entity is None else derive(entity)

    def derived_from_bytes(self, derive: Callable[[bytes], T], index: Index[E], *key: Any) -> T | None:  # noqa: ANN401
        entity = self.lookup(index, *key)
        return None if entity is None else derive(index.table.codec.encode(entity))

    def derived_all(self, derive: Callable[[E], T], index: Index[E], keys: Sequence[int]) -> list[T | None]:
        """The same for many objects at once, each by a key that is one number."""
        return [self.derived(derive, index, key) for key in keys]

    def peek(self, table: Table[E], object_id: int, read: Callable[[bytes], T]) -> T | None:
        """What a function reads from the bytes of an object: for a walk over many, of which little is wanted."""
        entity = self.find(table, object_id)
        return None if entity is None else read(table.codec.encode(entity))

    def peek_all(self, index: Index[E], read: Callable[[bytes], T], *, lower: Key = (), upper: Key = ()) -> Iterator[T]:
        """The same of all objects of a scan, in its order."""
        encode = index.table.codec.encode
        return (read(encode(each)) for each in self.scan(index, lower=lower, upper=upper))

    def scan_bytes(self, table: Table[E]) -> Iterator[bytes]:
        """All objects of a table by their ids, as their bytes, which begin with the id."""
        return map(table.codec.encode, self.scan(table))

    def scan_fields(self, table: Table[E], *fields: str) -> Iterator[E]:
        """All objects of a table by their ids, to be read: of some, only these fields are there, two at least.

        For a walk over very many, of which little is wanted.
        """
        _ = fields
        return self.scan(table)

    def count(self, table: Table[Any]) -> int:
        return sum(1 for _ in self.scan(table))

    def get(self, table: Table[E], object_id: int) -> E:
        entity = self.find(table, object_id)
        if entity is None:
            raise UnknownKey
        return entity

    def at(self, index: Index[E], *key: Any) -> E:  # noqa: ANN401 - as declared by the index
        entity = self.lookup(index, *key)
        if entity is None:
            raise UnknownKey
        return entity

    def first(self, source: TableOrIndex[E], *, lower: Key = (), upper: Key = (), reverse: bool = False) -> E | None:
        return next(self.scan(source, lower=lower, upper=upper, reverse=reverse), None)

    def following(self, source: TableOrIndex[E], entity: E) -> E | None:
        """The object behind this one, in the order of this moment: a step of an iterator."""
        return next(self.scan(source, after=entity), None)


class RangeView(View):
    """A view that is read by ranges of the entries of its indexes."""

    def scan(
        self,
        source: TableOrIndex[E],
        *,
        lower: Key = (),
        upper: Key = (),
        reverse: bool = False,
        after: E | None = None,
    ) -> Iterator[E]:
        index = index_of(source)
        position = None if after is None else self.position(index, after)
        return self._walk(index, Range(*span(index, lower, upper), reverse), position)

    @abstractmethod
    def _walk(self, index: Index[E], walk: Range, position: bytes | None) -> Iterator[E]:
        """The objects of a range, or of what is behind a position in it."""


def index_of(source: TableOrIndex[E]) -> Index[E]:
    return source.by_id if isinstance(source, Table) else source


def span(index: Index[E], lower: Key, upper: Key) -> tuple[bytes, bytes | None]:
    low = index.encode_key(lower)[:MAX_KEY_BYTES] if lower else b""
    high = end_of_prefix(index.encode_key(upper)[:MAX_KEY_BYTES]) if upper else None
    return low, high


def searched_key(index: Index[Any], key: Key) -> bytes | None:
    """The bytes of a key to look for; None when no object can have it, as it cannot be stored."""
    try:
        raw = index.encode_key(key)
    except (OverflowError, UnicodeEncodeError):
        return None
    return raw if len(raw) <= MAX_KEY_BYTES else None
