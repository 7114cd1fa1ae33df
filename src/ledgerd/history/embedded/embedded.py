"""The embedded history as the node writes it, beside the block log. Operations of transactions are read from the log,
and until the log has them, the block is kept here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

import lmdb

from ledgerd.basics.closing import Closing, on_error
from ledgerd.chain.ledger.events import AFTER_TRANSACTIONS, AppliedOperation, BlockApplied, BlocksUndone, Event
from ledgerd.history.embedded.kept_facts import KeptFacts, ReadLoggedBlock
from ledgerd.history.errors import HistoryDamaged, HistoryNewer
from ledgerd.history.filters.filters import AccountFilter, OperationFilter
from ledgerd.history.settings import HistorySettings
from ledgerd.history.store.account_rows import Reference, reference
from ledgerd.history.store.balances import KeptChanges
from ledgerd.history.store.block_rows import BlockPart
from ledgerd.history.store.checksums import BLOCK_KEY
from ledgerd.history.store.pieces import PIECE_KEY, pieces_of, shown_order
from ledgerd.history.store.stored import StoredHistory
from ledgerd.history.store.tables import Tables, transaction_entry, write_watermarks
from ledgerd.projections.accounts.balances import Amounts, PenaltyChange
from ledgerd.projections.accounts.images import AccountImage
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.touched import touched
from ledgerd.state.errors import StoreCorrupt
from ledgerd.state.files.disk import Disk, Space, failure
from ledgerd.state.files.lock import lock_writer

T = TypeVar("T")


class BlockBytes(Protocol):
    """The log of irreversible blocks; blocks are in it before the history gets the event."""

    def read(self, number: int, /) -> bytes | None: ...


class HistoryScope(NamedTuple):
    """The operations that are recorded, and where the blocks are."""

    settings: HistorySettings
    operations: OperationFilter
    accounts: AccountFilter
    log: BlockBytes


class CopiedBlock(NamedTuple):
    """A block of another history."""

    event: BlockApplied
    """The event of this block as it was recorded: its operations, without balances and images of accounts."""
    changes: KeptChanges
    images: Sequence[AccountImage]


class EmbeddedStore(Closing):
    """A history, open for writing."""

    def __init__(
        self,
        folder: Path,
        settings: HistorySettings,
        log: BlockBytes,
        space: Space = Space(),  # noqa: B008 - immutable
    ) -> None:
        self._scope = HistoryScope(settings, OperationFilter(settings), AccountFilter(settings.account_ranges), log)
        self._folder, self._space = folder, space
        self._purged_at = 0
        self._open()

    def _open(self) -> None:
        folder = self._folder
        folder.mkdir(parents=True, exist_ok=True)
        self._lock = lock_writer(folder)
        try:
            with on_error(self._lock.close):
                self._disk = Disk(folder, self._space)
                with on_error(self._disk.close):
                    self._begin()
        except HistoryNewer as problem:
            raise HistoryNewer(f"{folder}: {problem}") from problem
        except StoreCorrupt as problem:
            raise HistoryDamaged(str(folder)) from problem
        except lmdb.Error as problem:
            raise HistoryDamaged(f"{folder}: {problem}") from problem

    def _begin(self) -> None:
        self._tables = Tables.open(self._disk.environment, self._disk.transaction, create=True)
        stored = StoredHistory(self._disk.transaction, self._tables)
        self._watermarks = stored.watermarks
        write_watermarks(self._disk.transaction, self._tables, self._watermarks)
        stored.missed.begin(self._watermarks.head + 1)
        self._disk.commit()

    @property
    def head_number(self) -> int:
        return self._watermarks.head

    @property
    def environment(self) -> lmdb.Environment:
        """The open database, for readers in this process: a process may open it only once."""
        return self._disk.environment

    def record(self, events: Sequence[Event]) -> None:
        self._change(lambda commit: commit.record(events))

    def copy(self, blocks: Sequence[CopiedBlock], irreversible: int) -> None:
        self._change(lambda commit: commit.copy(blocks, irreversible))

    def truncate(self, number: int) -> None:
        if number < self.head_number:
            self._change(lambda commit: commit.truncate(number))

    def block(self, number: int) -> bytes | None:
        kept = self._read(lambda stored: stored.packed(number))
        return self._scope.log.read(number) if kept is None else kept

    @contextmanager
    def keeping(self, logged: ReadLoggedBlock) -> Iterator[KeptFacts]:
        with self._disk.environment.begin() as transaction:
            yield KeptFacts(StoredHistory(transaction, self._tables), logged)

    def replace_with(self, folder: Path, aside: Path) -> None:
        """Go on with the history in another folder, and move these files aside; on a failure, with this one."""
        self.close()
        try:
            self._folder.rename(aside)
            try:
                folder.rename(self._folder)
            except OSError:
                aside.rename(self._folder)
                raise
        finally:
            self._open()

    def _change(self, change: Callable[[HistoryCommit], None]) -> None:
        while True:
            stored = StoredHistory(self._disk.transaction, self._tables, self._watermarks)
            commit = HistoryCommit(stored, self._scope, self._purged_at)
            try:
                change(commit)
                commit.finish()
                self._disk.commit()
            except lmdb.MapFullError:
                self._disk.grow()
                continue
            except lmdb.Error as problem:
                self._disk.abort()
                found = failure(self._disk.folder, problem)
                raise (HistoryDamaged(str(problem)) if isinstance(found, StoreCorrupt) else found) from problem
            except BaseException:
                self._disk.abort()
                raise
            self._watermarks, self._purged_at = stored.watermarks, commit.purged_at
            return

    def _read(self, read: Callable[[StoredHistory], T]) -> T:
        try:
            return read(StoredHistory(self._disk.transaction, self._tables, self._watermarks))
        finally:
            self._disk.abort()

    @property
    def balances_begin(self) -> int | None:
        return self._read(lambda stored: stored.balances.begins)

    def begin_balances(
        self, block: int, balances: Sequence[tuple[str, Amounts]], penalties: Sequence[PenaltyChange]
    ) -> None:
        self._change(lambda commit: commit.stored.balances.begin(block, balances, penalties))

    @property
    def accounts_begin(self) -> int | None:
        return self._read(lambda stored: stored.journal.begins)

    def begin_journal(self, block: int, images: Callable[[], Iterable[AccountImage]]) -> None:
        self._change(lambda commit: commit.stored.journal.begin(block, images()))

    def close(self) -> None:
        self._disk.close()
        self._lock.close()


class HistoryCommit:
    """The changes of one commit."""

    def __init__(self, stored: StoredHistory, scope: HistoryScope, purged_at: int) -> None:
        self.stored = stored
        self.purged_at = purged_at
        self._transaction, self._tables = stored.transaction, stored.tables
        self._settings, self._operations, self._accounts, self._log = scope
        self._references: dict[str, list[Reference]] = defaultdict(list)
        self._places: set[tuple[bytes, bytes]] = set()

    def record(self, events: Sequence[Event]) -> None:
        irreversible = self.stored.watermarks.irreversible
        for event in events:
            if not isinstance(event, BlockApplied | BlocksUndone):
                irreversible = max(irreversible, event.number)
        for event in events:
            if isinstance(event, BlockApplied):
                self._apply(event, irreversible)
            elif isinstance(event, BlocksUndone):
                self.truncate(event.head_number)
        self._advance_irreversible(irreversible)

    def copy(self, blocks: Sequence[CopiedBlock], irreversible: int) -> None:
        irreversible = max(irreversible, self.stored.watermarks.irreversible)
        for event, changes, images in blocks:
            self._record(event, list(event.operations), irreversible)
            self.stored.balances.copy(event.block.number, changes)
            self.stored.journal.copy(event.block.number, images)
        self._advance_irreversible(irreversible)

    def finish(self) -> None:
        self._write_gathered()
        write_watermarks(self._transaction, self._tables, self.stored.watermarks)

    # -- applied blocks

    def _apply(self, event: BlockApplied, irreversible: int) -> None:
        number = event.block.number
        if number <= self.stored.watermarks.head:
            self.truncate(number - 1)
        kept = self._operations.kept(event)
        self._record(event, kept, irreversible)
        self.stored.balances.record(event, kept)
        self.stored.journal.record(event)

    def _record(self, event: BlockApplied, kept: list[AppliedOperation], irreversible: int) -> None:
        number = event.block.number
        if kept:
            self._put_operations(event.block, kept)
        self.stored.missed.record(event)
        if number > irreversible or self._settings.keep_blocks:
            self._transaction.put(BLOCK_KEY.pack(number), event.block.packed, db=self._tables.blocks)
        self.stored.watermarks = self.stored.watermarks._replace(head=number)
        if number - self.purged_at >= self._settings.purge_interval:
            self.purged_at = number
            self._purge()

    def _put_operations(self, block: Block, kept: list[AppliedOperation]) -> None:
        number, tables = block.number, self._tables
        kept.sort(key=shown_order)  # the numbering counts as things happen: it is the order that they have already
        for place, piece in enumerate(pieces_of(block, kept, self.stored.watermarks.last)):
            self._transaction.put(PIECE_KEY.pack(number, place), piece, db=tables.operations, append=True)
        self.stored.watermarks = self.stored.watermarks._replace(last=number)
        for place, applied in enumerate(kept):
            if applied.transaction_in_block != AFTER_TRANSACTIONS:
                self._places.add(transaction_entry(applied.transaction_id, number))
            if self._settings.keep_accounts:
                for name in touched(applied.operation):
                    if self._accounts.tracks(name):
                        self._references[name].append(reference(number, place))

    def _write_gathered(self) -> None:
        for key, value in sorted(self._places):
            self._transaction.put(key, value, db=self._tables.transactions)
        for name, references in sorted(self._references.items()):
            self.stored.accounts.append(name, references)
        self._places.clear()
        self._references.clear()

    def _advance_irreversible(self, number: int) -> None:
        """The log has the blocks up to this one: delete their copies here."""
        self.stored.watermarks = self.stored.watermarks._replace(irreversible=min(number, self.stored.watermarks.head))
        if not self._settings.keep_blocks:
            self._forget_blocks(self.stored.watermarks.irreversible)

    def _forget_blocks(self, last: int) -> None:
        cursor = self._transaction.cursor(self._tables.blocks)
        found = cursor.first()
        while found and cursor.key() <= BLOCK_KEY.pack(last):
            found = cursor.delete()

    # -- undone blocks

    def truncate(self, number: int) -> None:
        self._write_gathered()
        stored = self.stored
        if number == 0:
            for table in self._tables[1:]:
                self._transaction.drop(table, delete=False)
        while (block := stored.last_block) > number:
            self._forget_entries(block)
            self._forget_operations(block)
        cursor = self._transaction.cursor(self._tables.blocks)
        while cursor.last() and cursor.key() > BLOCK_KEY.pack(number):
            cursor.delete()
        for each in (stored.missed, stored.balances, stored.journal):
            each.truncate(number)
        stored.watermarks = stored.watermarks.cut(number, stored.last_block)

    def _forget_entries(self, block: int) -> None:
        for place, operation in reversed(self._operations_of(block)):
            for name in touched(operation):
                self.stored.accounts.drop_last(name, reference(block, place))

    def _forget_operations(self, block: int) -> None:
        for place, piece in enumerate(self.stored.pieces_at(block)):
            for _, identifier in piece.transactions():
                key, value = transaction_entry(identifier, block)
                self._transaction.delete(key, value, db=self._tables.transactions)
            self._transaction.delete(PIECE_KEY.pack(block, place), db=self._tables.operations)

    def _operations_of(self, block: int) -> list[tuple[int, Operation]]:
        kept = self.stored.packed(block)
        part = BlockPart(block, (self._log.read(block) if kept is None else kept) or b"")
        pieces = self.stored.pieces_at(block)
        return list(enumerate(each for piece in pieces for each in part.operations(piece, piece.rows())))

    # -- what has become too old (spec 05, sections 12.5 and 13.3)

    def _purge(self) -> None:
        settings, head = self._settings, self.stored.watermarks.head
        keep = head - settings.count_blocks
        first = self.stored.block_behind(0)
        if keep <= 0 or first is None:
            return
        self._write_gathered()
        ceiling = min(keep, first + settings.purge_interval)
        self._purge_accounts(keep)
        block: int | None = first
        while block is not None and block <= ceiling:
            self._forget_operations(block)
            self.stored.watermarks = self.stored.watermarks._replace(forgotten=block)
            block = self.stored.block_behind(block)
        self._forget_blocks(min(ceiling, self.stored.watermarks.irreversible))
        self.stored.missed.purge(ceiling)
        self.stored.journal.purge(ceiling)

    def _purge_accounts(self, keep: int) -> None:
        """The limit counts from the first block that is in the history of an account, which others may precede."""
        ceiling, names = 0, set()
        block = self.stored.block_behind(self.stored.watermarks.purged)
        while block is not None and block <= (ceiling or keep):
            found = {
                name for _, each in self._operations_of(block) for name in touched(each) if self._accounts.tracks(name)
            }
            if found and not ceiling:
                ceiling = min(keep, block + self._settings.purge_interval)
            names |= found
            block = self.stored.block_behind(block)
        ceiling = ceiling or keep
        for name in sorted(names):
            self.stored.accounts.drop_first(name, ceiling)
        self.stored.watermarks = self.stored.watermarks._replace(purged=ceiling)
