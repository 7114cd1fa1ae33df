"""The direction of an operation for the accounts that it touches: outgoing or incoming."""

from __future__ import annotations

from functools import cache

from ledgerd.chain.log.histories import Direction
from ledgerd.history.touched import touched
from ledgerd.protocol.names import AccountName
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.roles import Role, field_marked


def outgoing(operation: Operation) -> set[AccountName]:
    actor = actor_of(type(operation))
    return set(operation.authorities().names) if actor is None else {getattr(operation, actor)}


@cache
def actor_of(kind: type[Operation]) -> str | None:
    """The field of the account that acts, where none is asked to sign."""
    field = field_marked(kind, Role.ACTOR)
    return None if field is None else field.attribute


def incoming(operation: Operation) -> set[AccountName]:
    """The accounts for which an operation is incoming: the receiver, and all others that it touches."""
    reached = set(touched(operation)) - outgoing(operation)
    for field in _takers_of(type(operation)):
        name: AccountName = getattr(operation, field)
        if name:
            reached.add(name)
            break
    return reached


@cache
def _takers_of(kind: type[Operation]) -> tuple[str, ...]:
    """The field of the account that takes what it may have sent itself, and the one that is used when that is empty."""
    taker, sender = field_marked(kind, Role.TAKER), field_marked(kind, Role.SENDER)
    return () if taker is None else tuple(each.attribute for each in (taker, sender) if each is not None)


def concerned(operation: Operation, direction: Direction) -> set[AccountName]:
    if direction is Direction.INCOMING:
        return incoming(operation)
    names = set(touched(operation))
    return names & outgoing(operation) if direction is Direction.OUTGOING else names
