"""The accounts that an operation touches, whose histories have it (spec 05, section 13.1; spec 07, section 13)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from functools import cache
from operator import attrgetter
from typing import Any

from ledgerd.protocol.operations.base import Operation
from ledgerd.protocol.operations.roles import Role, field_marked, fields_marked
from ledgerd.protocol.types.names import AccountName

AccountNames = Iterable[AccountName]


def touched(operation: Operation) -> Collection[AccountName]:
    return dict.fromkeys(_rule_of(type(operation))(operation))


@cache
def _rule_of(kind: type[Operation]) -> Callable[[Any], AccountNames]:
    """The accounts of its fields; where it has none, those who are asked to sign."""
    fields = [field for field in fields_marked(kind, *Role) if Role.ABSENT not in field.marks]
    if not fields:
        return lambda operation: operation.authorities().names
    always = [field.attribute for field in fields if Role.TOUCHED_IF_NAMED not in field.marks]
    if_named = [field.attribute for field in fields if Role.TOUCHED_IF_NAMED in field.marks]
    if not if_named:
        names_of: Callable[[Any], Any] = attrgetter(*always)
        return names_of if len(always) > 1 else lambda operation: (names_of(operation),)
    return lambda operation: [
        *[getattr(operation, each) for each in always],
        *[name for each in if_named if (name := getattr(operation, each))],
    ]


@cache
def actor_of(kind: type[Operation]) -> str | None:
    """The field of the account that acts, where none is asked to sign."""
    field = field_marked(kind, Role.ACTOR)
    return None if field is None else field.attribute
