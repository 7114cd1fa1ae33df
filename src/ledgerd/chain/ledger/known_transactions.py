"""The transactions that may not be included again, by their ids (spec 03, section 12).

Nobody asks for a range of them, so the state keeps no index: the ids are in memory, and are read once from the state.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.constants import BLOCK_INTERVAL, MAX_TIME_UNTIL_EXPIRATION
from ledgerd.protocol.types.identifiers import TransactionId
from ledgerd.protocol.types.times import Time
from ledgerd.state.objects.transactions import KNOWN_TRANSACTIONS, KnownTransaction
from ledgerd.state.store import Store

LIFE = MAX_TIME_UNTIL_EXPIRATION // BLOCK_INTERVAL
"""Behind so many blocks a transaction has expired."""

FIELDS = ("id", "trx_id")

KnownIds = dict[TransactionId, int]


class KnownTransactions:
    """Finds the object of a transaction.

    What was undone or removed leaves its id here, so the object is looked at. No id of a transaction that can still be
    included is missing: an undo gives back only objects that were here, and their ids stay for as long as it might.
    """

    def __init__(self, store: Store, trunk: Sequence[KnownIds] = ()) -> None:
        """For the store of a trial, with the ids of the trunk."""
        self._store = store
        self._generations: list[KnownIds] = [{}, *trunk] if trunk else []
        self._begun = store.revision
        """The block at which the newest generation began."""

    @property
    def generations(self) -> list[KnownIds]:
        """The ids, each with that of its object; the newest first."""
        if not self._generations:
            store = self._store
            objects = store.uncached.scan_fields(KNOWN_TRANSACTIONS, *FIELDS)
            removed = store.removed_since(KNOWN_TRANSACTIONS, 0)
            self._generations = [{known.trx_id: known.id for known in chain(removed, objects)}]
            self._begun = store.revision
        return self._generations

    def find(self, transaction_id: TransactionId) -> KnownTransaction | None:
        for ids in self._generations or self.generations:
            object_id = ids.get(transaction_id)
            if object_id is not None:
                known = self._store.find(KNOWN_TRANSACTIONS, object_id)
                if known is not None and known.trx_id == transaction_id:
                    return known
        return None

    def add(self, transaction: Transaction) -> None:
        """A transaction was accepted."""
        trx_id = transaction.id
        known = KnownTransaction(packed_trx=transaction.packed, trx_id=trx_id, expiration=transaction.expiration)
        self.generations[0][trx_id] = self._store.create(KNOWN_TRANSACTIONS, known).id

    def forget(self, now: Time) -> None:
        """Forget expired transactions, the oldest first: they can no longer be included again.

        One that expires before an older one is forgotten later than in the reference, an hour at most; until then it
        counts as forgotten wherever this can be seen, and needs no order of its own. Those of block 1 or of a snapshot
        that may wait for longer than an hour hold up no others.
        """
        store, latest, lasting = self._store, now + MAX_TIME_UNTIL_EXPIRATION, KnownIds()
        oldest = store.remove_oldest(KNOWN_TRANSACTIONS, lambda known: known.expiration < now)
        if oldest is not None and oldest.expiration > latest:
            for known in store.scan(KNOWN_TRANSACTIONS):
                if known.expiration < now:
                    store.remove(known)
                elif known.expiration > latest:
                    lasting[known.trx_id] = known.id
                else:
                    break
        # A generation has expired, at every block that can be gone back to.
        if self._generations and store.oldest_revision > self._begun + LIFE:
            self._generations = [lasting, *self._generations[:1]]
            self._begun = store.revision
