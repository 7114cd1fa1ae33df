"""Selects stored operations by a filter, mostly without decoding them, and by their direction for an account."""

from __future__ import annotations

from functools import cache

from ledgerd.chain.log.histories import Direction, OperationPlace, Wanted
from ledgerd.history.store.pieces import OperationRow, Piece
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.roles import Role, field_marked
from ledgerd.protocol.operations.touched import actor_of, touched
from ledgerd.protocol.types.names import AccountName


class Selection:
    """Decides whether an operation passes a filter, for one account if it is named."""

    def __init__(self, wanted: Wanted, account: AccountName | None = None) -> None:
        self._wanted = wanted
        self._tags = wanted.tags
        self._accounts = wanted.accounts if account is None else frozenset((account,))
        self._asks_accounts = wanted.direction is not Direction.ANY or bool(wanted.accounts and account is None)
        self.needs_operations = self._asks_accounts or wanted.picks is not None
        """Whether operations have to be decoded."""

    def may_match(self, piece: Piece, row: OperationRow) -> bool:
        tags, wanted = self._tags, self._wanted
        return (tags is None or row[0] in tags) and wanted.since <= piece.timestamp(row) < wanted.until

    def matches(self, operation: Operation, place: OperationPlace) -> bool:
        wanted = self._wanted
        if self._asks_accounts and self._accounts.isdisjoint(concerned(operation, wanted.direction)):
            return False
        return wanted.picks is None or wanted.picks(operation, place)


def outgoing(operation: Operation) -> set[AccountName]:
    actor = actor_of(type(operation))
    return set(operation.authorities().names) if actor is None else {getattr(operation, actor)}


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
    """The account that receives what it may have sent itself, and the field for when that is empty."""
    taker, sender = field_marked(kind, Role.TAKER), field_marked(kind, Role.SENDER)
    return () if taker is None else tuple(each.attribute for each in (taker, sender) if each is not None)


def concerned(operation: Operation, direction: Direction) -> set[AccountName]:
    if direction is Direction.INCOMING:
        return incoming(operation)
    names = set(touched(operation))
    return names & outgoing(operation) if direction is Direction.OUTGOING else names
