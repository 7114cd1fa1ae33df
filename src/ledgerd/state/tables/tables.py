"""Declarations: the tables of the state and their indexes. No objects are kept here."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import cached_property, lru_cache
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Generic, Protocol, Self, TypeVar

import msgspec

from ledgerd.codec import codec_of
from ledgerd.codec.types.numbers import Int64
from ledgerd.state.errors import StoreMisuse
from ledgerd.state.tables.keys import MAX_KEY_BYTES, OWN_ID, Order, key_encoder

ObjectId = Int64

RANK_BYTES = 8
"""The width of a rank, which follows the key in each entry of an ordered index."""

Key = tuple[Any, ...]

Ranks = tuple[int, ...]
"""The ranks of an object, one for each ordered index of its table: the lesser rank comes first among equal keys."""


class Entity(msgspec.Struct, gc=False):
    """An object of the state. Its id comes first, and is given by `create`. Fetch it again after a commit.

    Change the fields of an object inside `editing`, or behind `remember` those of which no key is made. A field that
    holds a container is replaced, never changed in place: the value before a change is kept by a shallow copy of the
    object.
    """

    id: ObjectId = 0

    if TYPE_CHECKING:

        def __copy__(self) -> Self: ...


E = TypeVar("E", bound=Entity)


class RecordCodec(Protocol[E]):
    """Turns objects of one type into bytes and back."""

    def encode(self, value: E, /) -> bytes: ...
    def decode(self, data: bytes, /) -> E: ...


class Table(Generic[E]):
    """All objects of one type, by id."""

    def __init__(self, record: type[E], number: int, codec: RecordCodec[E] | None = None) -> None:
        if record.__struct_fields__[:1] != ("id",):
            raise TypeError(f"{record.__name__} does not begin with its id")
        self.record = record
        self.number = number
        self.title = record.__name__
        self.indexes: list[Index[E]] = []
        self.ordered_indexes: list[Index[E]] = []
        """Those with equal keys, in the order in which an object's ranks are kept."""
        self._codec = codec
        self.by_id: Index[E] = Index(self, "by_id", lambda each: (each.id,), (OWN_ID,), is_unique=True)

    @cached_property
    def name(self) -> str:
        """The reference's name: that of the record in lower case with underscores, unless the record has a `NAME`."""
        return getattr(self.record, "NAME", "") or re.sub(r"(?<=[a-z])(?=[A-Z])", "_", self.title).lower()

    @cached_property
    def codec(self) -> RecordCodec[E]:
        return self._codec or codec_of(self.record)

    @cached_property
    def fields(self) -> str:
        found: dict[str, str] = {}
        for base in reversed(self.record.__mro__):
            for name, kind in inspect.get_annotations(base).items():
                found[name] = kind if isinstance(kind, str) else getattr(kind, "__name__", "?")
        return ", ".join(f"{name}: {found[name]}" for name in self.record.__struct_fields__)

    def __repr__(self) -> str:
        return f"<table {self.title}>"


class Index(Generic[E]):
    """An order of a table's objects, by a key that is made from their fields."""

    def __init__(
        self,
        table: Table[E],
        name: str,
        key: Callable[[E], Key],
        order: tuple[Order, ...],
        *,
        is_unique: bool,
        is_certain: bool = False,
        is_fixed: bool = False,
    ) -> None:
        self.table = table
        self.title = f"{table.title}.{name}"
        self.key = key
        self.order = order
        self.is_unique = is_unique
        self.can_collide = is_unique and not order[-1].is_own_id
        """Whether two objects could claim one key: not where it ends with the object's own id."""
        self.is_certain = is_certain
        """Whether no two objects ever claim one key, for how they are made: it is not looked for then."""
        self.is_fixed = is_fixed
        """Whether an object keeps its key, which has one part, for as long as it exists."""
        self._are_whole = [(place, each.is_whole) for place, each in enumerate(order) if not each.is_exact]
        self.natural_parts = sum(1 for _ in takewhile(lambda each: each.is_natural, order))
        """So many first parts of two keys can be compared as they are, without their bytes."""
        self.encode_key = key_encoder(order)
        self._longest = MAX_KEY_BYTES if is_unique else MAX_KEY_BYTES - RANK_BYTES

    def entry_key(self, entity: E) -> bytes:
        raw = self.encode_key(self.key(entity))
        if len(raw) > self._longest:
            raise StoreMisuse(f"a key of {len(raw)} bytes in {self.title}: more than {self._longest}")
        return raw

    def is_whole(self, key: Key) -> bool:
        """Whether all of a key is in its bytes: two such keys that differ have bytes that differ."""
        for place, is_whole in self._are_whole:  # noqa: SIM110 - half the time of `all`
            if is_whole is None or not is_whole(key[place]):
                return False
        return True

    def __repr__(self) -> str:
        return f"<index {self.title}>"


def unique(
    table: Table[E],
    name: str,
    key: Callable[[E], Key],
    order: tuple[Order, ...],
    *,
    is_certain: bool = False,
    is_fixed: bool = False,
) -> Index[E]:
    """Declare an index in which every key stands once. Where the key ends with the object's own id, say `OWN_ID`."""
    return _declare(Index(table, name, key, order, is_unique=True, is_certain=is_certain, is_fixed=is_fixed))


def ordered(table: Table[E], name: str, key: Callable[[E], Key], order: tuple[Order, ...]) -> Index[E]:
    """Declare an index with equal keys; which of them comes first is in spec 02, section 2.3."""
    return _declare(Index(table, name, key, order, is_unique=False))


def _declare(index: Index[E]) -> Index[E]:
    if any(each.title == index.title for each in index.table.indexes):
        raise TypeError(f"{index.title} is declared twice")
    index.table.indexes.append(index)
    if not index.is_unique:
        index.table.ordered_indexes.append(index)
    return index


@lru_cache(maxsize=16)
def layout(tables: tuple[Table[Any], ...]) -> str:
    """The tables, fields and indexes as a text: a file written with another text cannot be read. All indexes of the
    tables are declared by then.
    """
    lines = []
    for table in sorted(tables, key=lambda each: each.number):
        lines.append(f"{table.number} {table.title}({table.fields})")
        lines += [
            f"  {index.title} {'unique' if index.is_unique else 'ordered'}"
            f"({', '.join(order.title for order in index.order)})"
            for index in table.indexes
        ]
    return "\n".join(lines)
