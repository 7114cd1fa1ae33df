"""The embedded history as the node writes it: a database of its own beside the block log.

Operations of transactions are not copied: they are read from the log, and until the log has them, the block is kept
here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, Self

import lmdb

from ledgerd.chain.events import (
    AFTER_TRANSACTIONS,
    AccountImage,
    Amounts,
    AppliedOperation,
    BlockApplied,
    BlocksUndone,
    Event,
    PenaltyChange,
)
from ledgerd.history.account_rows import AccountRows, Reference, reference
from ledgerd.history.balances import Balances, KeptChanges
from ledgerd.history.block_rows import BlockPart
from ledgerd.history.errors import HistoryDamaged
from ledgerd.history.filters import AccountFilter, OperationFilter
from ledgerd.history.interface import BlockBytes
from ledgerd.history.journal import journal_of
from ledgerd.history.kept_facts import KeptFacts, ReadLoggedBlock
from ledgerd.history.missed import MissedSlots
from ledgerd.history.pieces import PIECE_KEY, Piece, pieces_of, shown_order
from ledgerd.history.settings import HistorySettings
from ledgerd.history.tables import (
    BLOCK_KEY,
    Tables,
    Watermarks,
    block_behind,
    last_block,
    pieces_at,
    read_watermarks,
    transaction_entry,
    write_watermarks,
)
from ledgerd.history.touched import touched
from ledgerd.protocol.block import Block
from ledgerd.protocol.operations import Operation
from ledgerd.state.disk import Disk, LmdbTransaction, Space, failure
from ledgerd.state.errors import StoreCorrupt
from ledgerd.state.lock import lock_writer


class CopiedBlock(NamedTuple):
    """A block of another history."""

    event: BlockApplied
    """With the operations that were recorded, and without balances and images."""
    changes: KeptChanges
    images: Sequence[AccountImage]


class EmbeddedStore:
    """A history, open for writing."""

    def __init__(
        self,
        folder: Path,
        settings: HistorySettings,
        log: BlockBytes,
        space: Space = Space(),  # noqa: B008 - immutable
    ) -> None:
        self._settings = settings
        self._log = log
        self._operations = OperationFilter(settings)
        self._accounts = AccountFilter(settings.account_ranges)
        self._folder, self._space = folder, space
        self._purged_at = 0
        """The block of the last purge since the start."""
        self._open()

    def _open(self) -> None:
        folder = self._folder
        folder.mkdir(parents=True, exist_ok=True)
        self._lock = lock_writer(folder)
        try:
            self._disk = Disk(folder, self._space)
            self._tables = Tables.open(self._disk.environment, self._disk.transaction, create=True)
            self._watermarks = read_watermarks(self._disk.transaction, self._tables) or Watermarks()
            write_watermarks(self._disk.transaction, self._tables, self._watermarks)
            MissedSlots(self._disk.transaction, self._tables.header, self._tables.missed).begin(
                self._watermarks.head + 1
            )
            self._disk.commit()
        except StoreCorrupt as problem:
            self._lock.close()
            raise HistoryDamaged(str(folder)) from problem
        except lmdb.Error as problem:
            self._lock.close()
            raise HistoryDamaged(f"{folder}: {problem}") from problem
        except BaseException:
            self._lock.close()
            raise

    @property
    def head_number(self) -> int:
        return self._watermarks.head

    @property
    def environment(self) -> lmdb.Environment:
        """For readers in this process, since a process may open a database only once."""
        return self._disk.environment

    def record(self, events: Sequence[Event]) -> None:
        self._change(lambda commit: commit.take(events))

    def copy(self, blocks: Sequence[CopiedBlock], irreversible: int) -> None:
        self._change(lambda commit: commit.copy(blocks, irreversible))

    def truncate(self, number: int) -> None:
        if number < self.head_number:
            self._change(lambda commit: commit.truncate(number))

    def block(self, number: int) -> bytes | None:
        kept = self._disk.transaction.get(BLOCK_KEY.pack(number), db=self._tables.blocks)
        self._disk.abort()
        return self._log.read(number) if kept is None else kept

    @contextmanager
    def keeping(self, logged: ReadLoggedBlock) -> Iterator[KeptFacts]:
        with self._disk.environment.begin() as transaction:
            yield KeptFacts(transaction, self._tables, logged)

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
            commit = HistoryCommit(
                self._disk.transaction,
                self._tables,
                self._settings,
                (self._operations, self._accounts),
                self._log,
                self._watermarks,
                self._purged_at,
            )
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
            self._watermarks, self._purged_at = commit.watermarks, commit.purged_at
            return

    @property
    def balances_stand_at(self) -> int | None:
        """The block behind which changes of balances are recorded, if they are."""
        try:
            return Balances(self._disk.transaction, self._tables.header, self._tables.balances).standing_at
        finally:
            self._disk.abort()

    def stand(self, block: int, balances: Sequence[tuple[str, Amounts]], penalties: Sequence[PenaltyChange]) -> None:
        self._change(lambda commit: commit.stand(block, balances, penalties))

    @property
    def accounts_begin(self) -> int | None:
        """The block behind which the journal of accounts is recorded, if it is."""
        try:
            return journal_of(self._disk.transaction, self._tables).begins
        finally:
            self._disk.abort()

    def begin_journal(self, block: int, images: Callable[[], Iterable[AccountImage]]) -> None:
        self._change(lambda commit: commit.begin_journal(block, images()))

    def close(self) -> None:
        self._disk.close()
        self._lock.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class HistoryCommit:
    """What one commit changes."""

    def __init__(
        self,
        transaction: LmdbTransaction,
        tables: Tables,
        settings: HistorySettings,
        filters: tuple[OperationFilter, AccountFilter],
        log: BlockBytes,
        watermarks: Watermarks,
        purged_at: int,
    ) -> None:
        self.watermarks = watermarks
        self.purged_at = purged_at
        self._transaction = transaction
        self._tables = tables
        self._settings = settings
        self._operations, self._accounts = filters
        self._log = log
        self._rows = AccountRows(transaction, tables.ranges, tables.chunks)
        self._missed = MissedSlots(transaction, tables.header, tables.missed)
        self._balances = Balances(transaction, tables.header, tables.balances)
        self._journal = journal_of(transaction, tables)
        self._references: dict[str, list[Reference]] = defaultdict(list)
        self._places: set[tuple[bytes, bytes]] = set()

    def take(self, events: Sequence[Event]) -> None:
        irreversible = self.watermarks.irreversible
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
        irreversible = max(irreversible, self.watermarks.irreversible)
        for event, changes, images in blocks:
            self._record(event, list(event.operations), irreversible)
            self._balances.copy(event.block.number, changes)
            self._journal.copy(event.block.number, images)
        self._advance_irreversible(irreversible)

    def stand(self, block: int, balances: Sequence[tuple[str, Amounts]], penalties: Sequence[PenaltyChange]) -> None:
        self._balances.stand(block, balances, penalties)

    def begin_journal(self, block: int, images: Iterable[AccountImage]) -> None:
        self._journal.stand(block, images)

    def finish(self) -> None:
        self._write_gathered()
        write_watermarks(self._transaction, self._tables, self.watermarks)

    # -- applied blocks

    def _apply(self, event: BlockApplied, irreversible: int) -> None:
        number = event.block.number
        if number <= self.watermarks.head:
            self.truncate(number - 1)
        kept = self._operations.kept(event)
        self._record(event, kept, irreversible)
        self._balances.record(event, kept)
        self._journal.record(event)

    def _record(self, event: BlockApplied, kept: list[AppliedOperation], irreversible: int) -> None:
        number = event.block.number
        if kept:
            self._put_operations(event.block, kept)
        self._missed.record(event)
        if number > irreversible or self._settings.keep_blocks:
            self._transaction.put(BLOCK_KEY.pack(number), event.block.packed, db=self._tables.blocks)
        self.watermarks = self.watermarks._replace(head=number)
        if number - self.purged_at >= self._settings.purge_interval:
            self.purged_at = number
            self._purge()

    def _put_operations(self, block: Block, kept: list[AppliedOperation]) -> None:
        number, tables = block.number, self._tables
        kept.sort(key=shown_order)  # the numbering counts as things happen: it is the order that they have already
        for place, piece in enumerate(pieces_of(block, kept, self.watermarks.last)):
            self._transaction.put(PIECE_KEY.pack(number, place), piece, db=tables.operations, append=True)
        self.watermarks = self.watermarks._replace(last=number)
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
            self._rows.append(name, references)
        self._places.clear()
        self._references.clear()

    def _advance_irreversible(self, number: int) -> None:
        """The log has the blocks up to this one: delete their copies here."""
        self.watermarks = self.watermarks._replace(irreversible=min(number, self.watermarks.head))
        if not self._settings.keep_blocks:
            self._forget_blocks(self.watermarks.irreversible)

    def _forget_blocks(self, last: int) -> None:
        cursor = self._transaction.cursor(self._tables.blocks)
        found = cursor.first()
        while found and cursor.key() <= BLOCK_KEY.pack(last):
            found = cursor.delete()

    # -- undone blocks

    def truncate(self, number: int) -> None:
        self._write_gathered()
        tables = self._tables
        if number == 0:
            for table in tables[1:]:
                self._transaction.drop(table, delete=False)
            self._missed.truncate(0)
            self._balances.truncate(0)
            self._journal.truncate(0)
            self.watermarks = Watermarks()
            return
        cursor = self._transaction.cursor(tables.operations)
        while cursor.last():
            block = PIECE_KEY.unpack(cursor.key())[0]
            if block <= number:
                break
            self._forget_entries(block)
            self._forget_operations(block)
        cursor = self._transaction.cursor(tables.blocks)
        while cursor.last() and cursor.key() > BLOCK_KEY.pack(number):
            cursor.delete()
        self._missed.truncate(number)
        self._balances.truncate(number)
        self._journal.truncate(number)
        self.watermarks = self.watermarks.cut(number, last_block(self._transaction, tables))

    def _forget_entries(self, block: int) -> None:
        for place, operation in reversed(self._operations_of(block)):
            for name in touched(operation):
                self._rows.drop_last(name, reference(block, place))

    def _forget_operations(self, block: int) -> None:
        for place, piece in enumerate(self._pieces_at(block)):
            for _, identifier in piece.transactions():
                key, value = transaction_entry(identifier, block)
                self._transaction.delete(key, value, db=self._tables.transactions)
            self._transaction.delete(PIECE_KEY.pack(block, place), db=self._tables.operations)

    def _operations_of(self, block: int) -> list[tuple[int, Operation]]:
        kept = self._transaction.get(BLOCK_KEY.pack(block), db=self._tables.blocks)
        part = BlockPart(block, (self._log.read(block) if kept is None else kept) or b"")
        pieces = self._pieces_at(block)
        return list(enumerate(each for piece in pieces for each in part.operations(piece, piece.rows())))

    def _pieces_at(self, block: int) -> list[Piece]:
        return pieces_at(self._transaction, self._tables, block, self.watermarks)

    def _block_behind(self, number: int) -> int | None:
        return block_behind(self._transaction, self._tables, number, self.watermarks)

    # -- what has become too old (spec 05, sections 12.5 and 13.3)

    def _purge(self) -> None:
        settings, head = self._settings, self.watermarks.head
        keep = head - settings.count_blocks
        first = self._block_behind(0)
        if keep <= 0 or first is None:
            return
        self._write_gathered()
        ceiling = min(keep, first + settings.purge_interval)
        self._purge_accounts(keep)
        block: int | None = first
        while block is not None and block <= ceiling:
            self._forget_operations(block)
            self.watermarks = self.watermarks._replace(forgotten=block)
            block = self._block_behind(block)
        self._forget_blocks(min(ceiling, self.watermarks.irreversible))
        self._missed.purge(ceiling)
        self._journal.purge(ceiling)

    def _purge_accounts(self, keep: int) -> None:
        """The limit counts from the first block that is in the history of an account, which others may precede."""
        ceiling, names = 0, set()
        block = self._block_behind(self.watermarks.purged)
        while block is not None and block <= (ceiling or keep):
            found = {
                name for _, each in self._operations_of(block) for name in touched(each) if self._accounts.tracks(name)
            }
            if found and not ceiling:
                ceiling = min(keep, block + self._settings.purge_interval)
            names |= found
            block = self._block_behind(block)
        ceiling = ceiling or keep
        for name in sorted(names):
            self._rows.drop_first(name, ceiling)
        self.watermarks = self.watermarks._replace(purged=ceiling)
