"""How many bytes of transactions may wait: of all, and of each account that has to sign them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.types.names import AccountName

MAX_PENDING = 20_000
"""Transactions that may wait; the reference has no limit here."""

MAX_PENDING_BYTES = 16 << 20
"""Bytes of them as they are in blocks, of which these fill 256; decoded they take up to twenty times as many."""

MAX_BYTES_OF_ACCOUNT = 2 << 20
"""Of those that one account has to sign: whoever has much bandwidth must not use up what waits for others."""


class PendingFull(RuleViolation):
    """Too many transactions wait already."""


class PendingRoom:
    """What waits, in number and bytes. A transaction counts for each account that has to sign it, as it does for
    bandwidth.
    """

    def __init__(self) -> None:
        self._count = self._bytes = 0
        self._of_account: Counter[AccountName] = Counter()

    def require(self, transaction: Transaction) -> None:
        """Refuse a transaction for which there is no room."""
        size = len(transaction.packed)
        if self._count >= MAX_PENDING:
            raise PendingFull(f"{MAX_PENDING} transactions are waiting already")
        if self._bytes + size > MAX_PENDING_BYTES:
            raise PendingFull(f"{MAX_PENDING_BYTES} bytes of transactions are waiting already")
        for name in _signers(transaction):
            if self._of_account[name] + size > MAX_BYTES_OF_ACCOUNT:
                raise PendingFull(f"{MAX_BYTES_OF_ACCOUNT} bytes of transactions of {name} are waiting already")

    def take(self, transaction: Transaction) -> None:
        size = len(transaction.packed)
        self._count += 1
        self._bytes += size
        for name in _signers(transaction):
            self._of_account[name] += size

    def count_again(self, transactions: Iterable[Transaction]) -> None:
        """What waits has changed as a whole."""
        self._count = self._bytes = 0
        self._of_account.clear()
        for each in transactions:
            self.take(each)


def _signers(transaction: Transaction) -> set[AccountName]:
    required = transaction.required
    return {*required.active, *required.master, *required.regular}
