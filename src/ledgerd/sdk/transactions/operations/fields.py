"""Operations by the names of their commands, and their fields as arguments: those asked for, and others."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from ledgerd.codec import record_kind
from ledgerd.codec.kinds import Kind
from ledgerd.codec.types.containers import Optional, SortedSet, Vector
from ledgerd.codec.types.numbers import Boolean
from ledgerd.codec.types.records import Field, RecordKind
from ledgerd.protocol.operations import OPERATIONS, Operation
from ledgerd.protocol.operations.base import name_of
from ledgerd.protocol.operations.roles import Meaning
from ledgerd.protocol.operations.variant import OLD_NAMES
from ledgerd.protocol.types.assets import Asset
from ledgerd.protocol.types.authority import Authority
from ledgerd.protocol.types.names import NameKind

OTHER_NAMES = {name_of(each): each.COMMAND for each in OPERATIONS if each.COMMAND}
"""Plain names of operations whose own ones are long or obscure; both are commands."""

VIRTUAL_RULE = "false: This is a virtual operation"

EXTENSIONS = "extensions"
"""A field that is always empty, so nobody has to write it."""


def command_of(operation: type[Operation]) -> str:
    return name_of(operation).replace("_", "-")


def rule_against(operation: type[Operation]) -> str | None:
    if operation.VIRTUAL:
        return VIRTUAL_RULE
    return f"{name_of(operation)} is deprecated as of HF 4" if operation.DEPRECATED else None


SENDABLE: tuple[type[Operation], ...] = tuple(each for each in OPERATIONS if rule_against(each) is None)

UNSENDABLE: Mapping[str, str] = {name_of(each): rule for each in OPERATIONS if (rule := rule_against(each)) is not None}

_BY_NAME = {name_of(each): each for each in OPERATIONS}


def operation_named(name: str) -> type[Operation] | None:
    """An operation by its name on the wire, a former one, or the name of its command."""
    known = {plain: wire for wire, plain in OTHER_NAMES.items()}
    wire = known.get(name, name.replace("-", "_"))
    return _BY_NAME.get(OLD_NAMES.get(wire, wire))


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
