"""From annotations to kinds: how `amount: Asset` or `Annotated[tuple[...], sorted_by(...)]` is encoded."""

from __future__ import annotations

import types
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import msgspec

from ledgerd.codec.kinds import Kind
from ledgerd.codec.types.containers import FixedArray, Optional, SortedMap, SortedSet, SortKey, Vector
from ledgerd.codec.types.numbers import Boolean
from ledgerd.codec.types.records import Field, RecordKind
from ledgerd.codec.types.strings import ByteVector, Text
from ledgerd.codec.types.variants import Variant

_declared: dict[Any, Kind] = {str: Text(), bytes: ByteVector(), bool: Boolean()}


class sorted_by:  # noqa: N801 - reads as a word in annotations
    """Marks a tuple as a set, or a dict as a map, that is kept in the order of this key."""

    def __init__(self, order: SortKey) -> None:
        self.order = order


class array_of:  # noqa: N801 - reads as a word in annotations
    """Marks a tuple as an array of a set number of elements."""

    def __init__(self, size: int) -> None:
        self.size = size


class missing:  # noqa: N801 - reads as a word in annotations
    """Marks a field with the value that it takes when JSON leaves it out, where that is not the type's own."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def default(self) -> Any:
        return self.value


class missing_by(missing):  # noqa: N801 - reads as a word in annotations
    """Marks a field whose value, when JSON leaves it out, is the result of this function."""

    def __init__(self, default: Callable[[], Any]) -> None:
        super().__init__(default)

    def default(self) -> Any:
        return self.value()


class one_of:  # noqa: N801 - reads as a word in annotations
    """Marks a union of records as a variant: a tag, which is the place in the union, then the record."""

    def __init__(self, memory: int = 8) -> None:
        self.memory = memory


def declare(annotation: Any, kind: Kind) -> None:
    """Register the kind of a named type, or of a family of records."""
    _declared[annotation] = kind


def kind_of(annotation: Any) -> Kind:
    """The kind of an annotation; a `TypeError` names an unknown one."""
    try:
        return _declared[annotation]
    except (KeyError, TypeError):
        pass
    if get_origin(annotation) is Annotated:
        return _annotated(*get_args(annotation))
    if get_origin(annotation) in (Union, types.UnionType):
        inner = [each for each in get_args(annotation) if each is not type(None)]
        if len(inner) == 1:
            return Optional(kind_of(inner[0]))
    if get_origin(annotation) is tuple and get_args(annotation)[1:] == (...,):
        return Vector(kind_of(get_args(annotation)[0]))
    if isinstance(annotation, type) and issubclass(annotation, msgspec.Struct):
        declare(annotation, RecordKind(annotation, partial(fields_of, annotation)))
        return _declared[annotation]
    raise TypeError(f"no codec for {annotation!r}: annotate it with its kind")


def _annotated(base: Any, *marks: Any) -> Kind:
    for mark in marks:
        if isinstance(mark, Kind):
            return mark
        if isinstance(mark, sorted_by):
            inner = get_args(base)
            if get_origin(base) is dict:
                return SortedMap(kind_of(inner[0]), kind_of(inner[1]), mark.order)
            return SortedSet(kind_of(inner[0]), mark.order)
        if isinstance(mark, one_of):
            return Variant(partial(_numbered, get_args(base) or (base,)), mark.memory)
        if isinstance(mark, array_of):
            return FixedArray(kind_of(get_args(base)[0]), mark.size)
    return kind_of(base)


def _numbered(alternatives: tuple[type[msgspec.Struct], ...]) -> dict[int, RecordKind]:
    return dict(enumerate(map(record_kind, alternatives)))


def record_kind(record: type[msgspec.Struct]) -> RecordKind:
    kind = kind_of(record)
    if not isinstance(kind, RecordKind):
        raise TypeError(f"{record.__name__} is not a record")
    return kind


def fields_of(record: type[msgspec.Struct]) -> list[Field]:
    """The fields of a record in the order of the wire, which is that of its declaration."""
    hints = get_type_hints(record, include_extras=True)
    pairs = zip(record.__struct_fields__, record.__struct_encode_fields__, strict=True)
    return [_field(attribute, name, hints[attribute]) for attribute, name in pairs]


def _field(attribute: str, name: str, annotation: Any) -> Field:
    kind = kind_of(annotation)
    marks = get_args(annotation)[1:] if get_origin(annotation) is Annotated else ()
    default = next((mark.default for mark in marks if isinstance(mark, missing)), kind.default)
    return Field(attribute, name, kind, default, marks or _marks_of_value(annotation))


def _marks_of_value(annotation: Any) -> tuple[object, ...]:
    """The marks of the value of an optional field."""
    alternatives = get_args(annotation) if get_origin(annotation) in (Union, types.UnionType) else ()
    return next((get_args(each)[1:] for each in alternatives if get_origin(each) is Annotated), ())
