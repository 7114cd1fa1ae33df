"""Selects stored operations by a filter; most are decided without decoding them."""

from __future__ import annotations

from ledgerd.chain.log.histories import Direction, OperationPlace, Wanted
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
        self._asks_accounts = wanted.direction is not Direction.ANY or bool(wanted.accounts and account is None)
        self.needs_operations = self._asks_accounts or wanted.picks is not None
        """Whether operations have to be decoded."""

    def may_take(self, piece: Piece, row: OperationRow) -> bool:
        tags, wanted = self._tags, self._wanted
        return (tags is None or row[0] in tags) and wanted.since <= piece.timestamp(row) < wanted.until

    def takes(self, operation: Operation, place: OperationPlace) -> bool:
        wanted = self._wanted
        if self._asks_accounts and self._accounts.isdisjoint(concerned(operation, wanted.direction)):
            return False
        return wanted.picks is None or wanted.picks(operation, place)
