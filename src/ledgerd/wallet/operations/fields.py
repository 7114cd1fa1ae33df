"""The fields of an operation as arguments of a command: which are asked for, and which may be left out."""

from __future__ import annotations

from functools import cache

from ledgerd.codec import record_kind
from ledgerd.codec.kinds import Kind
from ledgerd.codec.types.containers import Optional, SortedSet, Vector
from ledgerd.codec.types.numbers import Boolean
from ledgerd.codec.types.records import Field, RecordKind
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.roles import Meaning
from ledgerd.protocol.types.assets import Asset
from ledgerd.protocol.types.authority import Authority
from ledgerd.protocol.types.names import NameKind

EXTENSIONS = "extensions"
"""Always empty, so that nobody has to write them."""


@cache
def fields_of_operation(operation: type[Operation]) -> tuple[Field, ...]:
    return tuple(field for field in record_kind(operation).fields if field.name != EXTENSIONS)


def is_asked(field: Field) -> bool:
    """Whether a command needs the field; the others are options with the protocol's defaults."""
    if Meaning.OPTIONAL in field.marks:
        return False
    has_own_default = field.default != field.kind.default
    return not (has_own_default or isinstance(field.kind, Optional | Boolean | Vector | SortedSet))


def is_secret(field: Field) -> bool:
    """Whether a field holds a private key: it is never an argument, and is read as passwords are."""
    return Meaning.SECRET in field.marks


def is_asset(kind: Kind) -> bool:
    return isinstance(kind, RecordKind) and kind.record is Asset


def is_authority(kind: Kind) -> bool:
    return isinstance(kind, RecordKind) and kind.record is Authority


def is_name(kind: Kind) -> bool:
    return isinstance(kind, NameKind)


def inner_of(kind: Kind) -> Kind:
    return kind.inner if isinstance(kind, Optional) else kind
