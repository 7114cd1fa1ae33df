"""Pending transactions: applied on top of the head, in a session that is never committed (spec 03, section 11)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Protocol

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.chain.ledger.skip import SkipFlags
from ledgerd.chain.pending.room import PendingRoom
from ledgerd.chain.pending.simulation import SimulatedEffects, simulate
from ledgerd.chain.rules.transactions.bounds import (
    TRANSACTION_SECONDS,
    BeyondMemberBound,
    bounding_members,
    bounding_time,
    require_usable,
)
from ledgerd.chain.rules.transactions.transactions import apply_transaction, require_new, require_timely
from ledgerd.chain.rules.validators.slots import slot_time
from ledgerd.protocol.authorities.authority_web import MOST_MEMBERS
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.errors import RuleViolation, require
from ledgerd.protocol.types.identifiers import TransactionId
from ledgerd.protocol.types.names import AccountName
from ledgerd.state.objects.validators import VALIDATORS, Validator
from ledgerd.state.sessions.sessions import Session
from ledgerd.state.tables.records import Row

Clock = Callable[[], float]
"""Seconds that only move forward; handed in, as the chain reads no clock."""

ROOM_BESIDE_TRANSACTION = 256
"""A transaction must leave this much of a block to the rest of it."""

REAPPLICATION_SECONDS = 0.05
"""Applying pending transactions again after a block takes so long at most. The reference has 0.2 s (spec 03, section
11), which is time that the next block waits.
"""

SIMULATION_SECONDS = 0.05
"""Trying a transaction out takes so long at most, and the time of one operation more."""

SWEEP_SECONDS = 0.02
"""Looking through those that were not applied again."""

MEMBERS_OF_REFUSED = 100
"""Keys and members that are looked at for a transaction that is refused in any case: the reference says first whose
authority is missing, and so do we where that is soon found out.
"""


class PendingObserver(Protocol):
    """Learns how pending transactions change the state."""

    def pending_changed(self, rows: list[Row]) -> None: ...

    def pending_dropped(self) -> None: ...


class Pending:
    """The list of waiting transactions, and what the state would be with them."""

    def __init__(self, ledger: Ledger, clock: Clock) -> None:
        self.transactions: list[Transaction] = []
        self.observers: list[PendingObserver] = []
        self.members_checked = 0
        """Keys and members of authorities, for the latest transaction that was pushed."""
        self.seconds_spent = 0.0
        """On that transaction."""
        self._ledger = ledger
        self._clock = clock
        self._room = PendingRoom()
        self._session: Session | None = None
        self._requeued: list[Transaction] = []
        """Transactions of blocks that were taken off the trunk, in the order of the chain."""
        self._may_undo = False
        self._undone: list[Transaction] | None = None
        """Those that are undone until the trunk is what it will be."""
        self._unapplied: set[TransactionId] = set()
        """Those that wait without being in the state, where a second copy would be noticed."""

    def push(self, transaction: Transaction, skip: SkipFlags) -> None:
        self.members_checked, self.seconds_spent = 0, 0.0
        self._require_fitting(transaction)
        self._room.require(transaction)
        require_usable(self._ledger, transaction)
        refusal = self._refusal_of_time(transaction, skip)
        self._ledger.is_producing = True
        began = self._clock()
        try:
            self._add(transaction, skip, MOST_MEMBERS if refusal is None else MEMBERS_OF_REFUSED)
            self._room.take(transaction)
        except BeyondMemberBound as beyond:
            raise refusal or beyond from None
        finally:
            self._ledger.is_producing = False
            self.members_checked = self._ledger.lookups.checked
            self.seconds_spent = self._clock() - began

    def _refusal_of_time(self, transaction: Transaction, skip: SkipFlags) -> RuleViolation | None:
        try:
            require_timely(self._ledger, transaction, skip)
        except RuleViolation as refusal:
            return refusal
        return None

    def simulate(self, transaction: Transaction) -> SimulatedEffects:
        """What a transaction would do if it were pushed now, or the rule that it breaks; nothing of it stays."""
        self._require_fitting(transaction)
        with bounding_members(self._ledger):
            return simulate(self._ledger, transaction, self.deadline(SIMULATION_SECONDS))

    def _require_fitting(self, transaction: Transaction) -> None:
        limit = self._ledger.globals.maximum_block_size - ROOM_BESIDE_TRANSACTION
        require(
            len(transaction.packed) <= limit,
            "trx_size <= (get_dynamic_global_properties().maximum_block_size - 256): ",
        )
        require_new(transaction.id not in self._unapplied)

    def find_validator(self, name: AccountName) -> Validator | None:
        """A validator as the head block has left it.

        A new signing key that waits is not the one that the next block is signed with.
        """
        found, store = self._ledger.find_validator(name), self._ledger.store
        if found is None or self._session is None:
            return found
        return store.find_at(VALIDATORS, found.id, self._session.revision - 1)

    def requeue(self, transactions: Iterable[Transaction]) -> None:
        self._requeued[:0] = transactions

    def copy_signers(self, transactions: Iterable[Transaction]) -> None:
        """Copy the recovered keys of pending transactions to the same ones in a block, to recover none twice."""
        waiting = {transaction.id: transaction for transaction in self.transactions}
        chain_id = self._ledger.network.chain_id
        for transaction in transactions:
            known = waiting.get(transaction.id)
            signers = None if known is None else known.known_signers(chain_id)
            if known is not None and signers is not None and known.packed == transaction.packed:
                transaction.remember_signers(chain_id, signers)

    @property
    def is_empty(self) -> bool:
        return not self.transactions and not self._requeued and self._session is None

    def drop_session(self) -> None:
        if self._session is not None:
            self._session.undo()
            self._session = None
            for observer in self.observers:
                observer.pending_dropped()

    def clear(self) -> None:
        self.drop_session()
        self.transactions.clear()
        self._room.count_again(())
        self._unapplied.clear()

    @contextmanager
    def set_aside(self, skip: SkipFlags) -> Iterator[None]:
        """Undo all pending transactions, and apply them again behind the block of `with`."""
        self.allow_undo()
        try:
            self.undo()
            yield
        finally:
            self.apply_again(skip)

    def allow_undo(self) -> None:
        """From here to `apply_again`, `undo` undoes all pending transactions.

        Where it is not called they stay as they are: whoever sends blocks that change nothing must not cost us as much
        as all that waits.
        """
        self._may_undo = True

    def apply_again(self, skip: SkipFlags) -> None:
        """Apply what was undone, behind the transactions of blocks that were taken off."""
        self._may_undo = False
        saved, self._undone = self._undone, None
        requeued, self._requeued = self._requeued, []
        if saved is not None:
            self._try_again([*requeued, *saved], skip)
            self._room.count_again(self.transactions)

    def undo(self) -> None:
        """Undo all pending transactions: to be called before the trunk is changed, or committed."""
        if self._may_undo and self._undone is None:
            self._undone, self.transactions = self.transactions, []
            self.drop_session()
            self._unapplied.clear()

    def _try_again(self, transactions: list[Transaction], skip: SkipFlags) -> None:
        """Invalid ones are dropped; those for which time is too short wait unapplied."""
        is_late = self.deadline(REAPPLICATION_SECONDS)
        for place, transaction in enumerate(transactions):
            if is_late():
                applied = len(self.transactions)
                self._keep_unapplied(transactions[place:])
                self._unapplied.update(each.id for each in self.transactions[applied:])
                return
            if self._ledger.known.find(transaction.id) is None:
                try:
                    self._add(transaction, skip, MOST_MEMBERS)
                except RuleViolation:
                    continue

    def _keep_unapplied(self, transactions: list[Transaction]) -> None:
        """Without its turn goes what has expired or is in a block: in a flood the list would only grow."""
        is_late, now = self.deadline(SWEEP_SECONDS), self._ledger.globals.time
        for place, transaction in enumerate(transactions):
            if is_late():
                self.transactions.extend(transactions[place:])
                return
            if now < transaction.expiration and self._ledger.known.find(transaction.id) is None:
                self.transactions.append(transaction)

    def deadline(self, seconds: float) -> Callable[[], bool]:
        until = self._clock() + seconds
        return lambda: self._clock() > until

    def _add(self, transaction: Transaction, skip: SkipFlags, members: int) -> None:
        ledger = self._ledger
        if self._session is None:
            self._session = ledger.store.begin()
        ledger.is_reporting = False
        ledger.cursor.time = slot_time(ledger, 1)
        try:
            with ledger.store.begin() as session:
                with bounding_members(ledger, members), bounding_time(ledger, self.deadline(TRANSACTION_SECONDS)):
                    apply_transaction(ledger, transaction, skip)
                if self.observers:
                    rows = ledger.store.changed_rows(session)
                    for observer in self.observers:
                        observer.pending_changed(rows)
                session.squash()
        finally:
            ledger.is_reporting = True
        self.transactions.append(transaction)
