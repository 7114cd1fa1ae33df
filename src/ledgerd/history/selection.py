"""Selects stored operations by a filter; most are decided without decoding them."""

from __future__ import annotations

from ledgerd.chain.log.histories import Direction, Wanted
from ledgerd.history.directions import concerned
from ledgerd.history.pieces import OperationRow, Piece
from ledgerd.protocol.names import AccountName
from ledgerd.protocol.operations import Operation


class Selection:
    """Decides whether an operation passes a filter, for one account if it is named."""

    def __init__(self, wanted: Wanted, account: AccountName | None = None) -> None:
        self._wanted = wanted
        self._tags = wanted.tags
        self._accounts = wanted.accounts if account is None else frozenset((account,))
        self.needs_operations = wanted.direction is not Direction.ANY or bool(wanted.accounts and account is None)
        """Whether operations have to be decoded."""

    def may_take(self, piece: Piece, row: OperationRow) -> bool:
        """Whether an operation may pass, by its row."""
        tags, wanted = self._tags, self._wanted
        return (tags is None or row[0] in tags) and wanted.since <= piece.timestamp(row) < wanted.until

    def takes(self, operation: Operation) -> bool:
        """Whether an operation passes, by its decoded fields."""
        return not self._accounts.isdisjoint(concerned(operation, self._wanted.direction))
