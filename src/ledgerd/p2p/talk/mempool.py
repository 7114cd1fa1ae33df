"""Transactions that are relayed: each once, none that the chain refuses, and a limited number (spec 04, section 14)."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from enum import Enum, auto
from typing import NamedTuple

from msgspec.structs import replace

from ledgerd.p2p.shared.settings import Settings
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.types.identifiers import TransactionId

REMEMBERED = 50_000
"""The number of ids of refused and included transactions that are remembered."""

REFUSED_SECONDS = 30


class Admitted(Enum):
    """The result of the checks before the chain's own."""

    YES = auto()
    NO = auto()
    """Known, of another branch, or above the limits: dropped without a strike."""
    UNFIT = auto()
    """Expired, expiring too late, or too large: a strike for the sender."""


class MempoolEntry(NamedTuple):
    """A transaction that was relayed."""

    reference: Transaction
    """The transaction without its operations, which take many times their bytes in memory: its reference block and
    expiration are left.
    """
    size: int
    is_provisional: bool


class Mempool:
    """Relayed transactions that are in no block yet, and ids of refused and included ones."""

    def __init__(self, settings: Settings, is_anchored: Callable[[Transaction], bool]) -> None:
        self._settings = settings
        self._is_anchored = is_anchored
        self._entries: dict[TransactionId, MempoolEntry] = {}
        self.size = 0
        self._done: dict[TransactionId, int] = {}
        self._expiring: list[tuple[int, TransactionId]] = []

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, transaction_id: TransactionId) -> bool:
        return transaction_id in self._entries

    @property
    def remembered(self) -> int:
        return len(self._done)

    def judge(self, transaction: Transaction, now: float) -> Admitted:
        """The checks of spec 04, section 14.1, in their order."""
        seconds = int(now)
        if transaction.id in self._entries or transaction.id in self._done or _signed_id(transaction) in self._done:
            return Admitted.NO
        if transaction.expiration < seconds:
            return Admitted.UNFIT
        if transaction.expiration > seconds + self._settings.mempool_max_expiration_hours * 3600:
            return Admitted.UNFIT
        if len(transaction.packed) > self._settings.mempool_max_tx_size:
            return Admitted.UNFIT
        if not self._is_anchored(transaction) or not self._has_room(transaction):
            return Admitted.NO
        return Admitted.YES

    def add(self, transaction: Transaction, *, is_provisional: bool) -> None:
        if not self._has_room(transaction) or transaction.id in self._entries:
            return
        size = len(transaction.packed)
        reference = replace(transaction, operations=(), signatures=())
        self._entries[transaction.id] = MempoolEntry(reference, size, is_provisional)
        self.size += size

    def include(self, transaction: Transaction) -> None:
        """A transaction was included in a block: later copies are not relayed (the reference relays them once more)."""
        self._drop(transaction.id)
        self._remember(transaction.id, transaction.expiration)

    def refuse(self, transaction: Transaction, now: float) -> None:
        """Remember a refused transaction together with its signatures: with other ones, or later, it may be valid."""
        self._remember(_signed_id(transaction), min(transaction.expiration, int(now) + REFUSED_SECONDS))

    def clean(self, now: float, *, drops_unanchored: bool) -> None:
        seconds = int(now)
        for key, entry in list(self._entries.items()):
            is_lost = drops_unanchored and not self._is_anchored(entry.reference)
            if entry.reference.expiration < seconds or is_lost:
                self._drop(key)
        while self._expiring and (self._expiring[0][0] < seconds or len(self._expiring) > 2 * REMEMBERED):
            self._done.pop(heapq.heappop(self._expiring)[1], None)

    def confirm(self) -> None:
        """The sync has ended: drop transactions that do not refer to our chain."""
        for key, entry in list(self._entries.items()):
            if not entry.is_provisional:
                continue
            if self._is_anchored(entry.reference):
                self._entries[key] = entry._replace(is_provisional=False)
            else:
                self._drop(key)

    def _has_room(self, transaction: Transaction) -> bool:
        settings = self._settings
        is_fitting = self.size + len(transaction.packed) <= settings.mempool_max_bytes
        return len(self._entries) < settings.mempool_max_tx and is_fitting

    def _remember(self, transaction_id: TransactionId, until: int) -> None:
        if transaction_id not in self._done:
            if len(self._done) >= REMEMBERED:
                self._done.pop(next(iter(self._done)))
            self._done[transaction_id] = until
            heapq.heappush(self._expiring, (until, transaction_id))

    def _drop(self, transaction_id: TransactionId) -> None:
        entry = self._entries.pop(transaction_id, None)
        if entry is not None:
            self.size -= entry.size


def _signed_id(transaction: Transaction) -> TransactionId:
    return TransactionId(transaction.merkle_digest[:20])
