"""The embedded history at one commit: queries for blocks, transactions and accounts."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ledgerd.chain.log.histories import FoundOperations, HistoryView, SequenceRange, TransactionPlace, Wanted
from ledgerd.history.account_rows import AccountRows, Reference
from ledgerd.history.block_rows import BlockPart, extent, shown
from ledgerd.history.errors import HistoryDamaged
from ledgerd.history.log_bytes import LogBytes, Span
from ledgerd.history.pieces import OPERATIONS_A_PIECE, PIECE_KEY, VIRTUAL, OperationRow, Piece
from ledgerd.history.selection import Selection
from ledgerd.history.tables import (
    BLOCK_KEY,
    Tables,
    Watermarks,
    block_behind,
    pieces_at,
    possible_blocks,
    read_watermarks,
)
from ledgerd.history.text_cache import TextCache
from ledgerd.protocol.identifiers import TransactionId
from ledgerd.protocol.names import AccountName
from ledgerd.state.disk import LmdbTransaction

MARK_BYTES = 96
"""The first bytes of a block: previous id, time, merkle root and the start of the signature. No block is shorter."""


class ShownTexts:
    """The cache of texts of irreversible blocks."""

    def __init__(self) -> None:
        self.blocks = TextCache[int, list[str]]()
        self.operations = TextCache[Reference, str]()

    def clear(self) -> None:
        """Drop everything."""
        self.blocks.clear()
        self.operations.clear()


PieceRows = tuple[int, Piece, list[OperationRow]]
"""A block, one of its pieces, and at least one row of that."""


class EmbeddedView(HistoryView):
    """The history of one commit."""

    def __init__(self, transaction: LmdbTransaction, tables: Tables, log: LogBytes, known: ShownTexts) -> None:
        self._transaction = transaction
        self._tables = tables
        self._log = log
        self._shown = known
        self._watermarks = read_watermarks(transaction, tables) or Watermarks()
        self._accounts = AccountRows(transaction, tables.ranges, tables.chunks)
        cursor = transaction.cursor(tables.blocks)
        self._kept_from = BLOCK_KEY.unpack(cursor.key())[0] if cursor.first() else self._watermarks.head + 1
        """The first block whose bytes are in this store."""

    @property
    def head_number(self) -> int:
        return self._watermarks.head

    @property
    def irreversible_number(self) -> int:
        return self._watermarks.irreversible

    def mark_of(self, block: int) -> bytes:
        kept = self._transaction.get(BLOCK_KEY.pack(block), db=self._tables.blocks)
        return self._log.read([(block, 0, MARK_BYTES)])[0] if kept is None else kept[:MARK_BYTES]

    # -- blocks

    def operations_of(self, block: int, *, only_virtual: bool = False) -> list[str]:
        known = self._shown.blocks.find(block)
        if known is not None and not only_virtual:
            return known
        parts = [(block, piece, piece.rows()) for piece in self._pieces_at(block)]
        if only_virtual:
            parts = _thinned(parts, lambda _, row: bool(row[3] & VIRTUAL))
        texts = self._texts(parts)
        if block <= self._watermarks.irreversible and not only_virtual:
            self._shown.blocks.keep(block, texts, sum(map(len, texts)))
        return texts

    def place_of(self, transaction: TransactionId) -> TransactionPlace | None:
        for block in possible_blocks(self._transaction, self._tables, transaction):
            for piece in self._pieces_at(block):
                for number, identifier in piece.transactions():
                    if identifier == transaction:
                        return TransactionPlace(block, number)
        return None

    # -- accounts

    def range_of(self, account: AccountName) -> SequenceRange | None:
        return self._accounts.range_of(account)

    def entries_of(self, account: AccountName, first: int, last: int) -> list[str]:
        references = list(self._accounts.references(account, first, last))
        known = self._shown.operations.find_all(references)
        missing = [reference for reference, text in zip(references, known, strict=True) if text is None]
        texts = self._texts(self._parts(missing)) if missing else []
        if missing and missing[-1][0] <= self._watermarks.irreversible:
            self._shown.operations.keep_all(zip(missing, texts, strict=True), sum(map(len, texts)))
        if len(missing) == len(references):
            return texts
        read = iter(texts)
        return [next(read) if text is None else text for text in known]

    # -- queries with a filter

    def first_block_since(self, time: int) -> int:
        low, high = 1, self._watermarks.head + 1
        while low < high:
            middle = (low + high) // 2
            block = block_behind(self._transaction, self._tables, middle - 1)
            if block is None or self._pieces_at(block)[0].late >= time:
                high = middle
            else:
                low = block + 1
        return block_behind(self._transaction, self._tables, low - 1) or self._watermarks.head + 1

    def first_entry_since(self, account: AccountName, block: int) -> int:
        return self._accounts.first_since(account, block)

    def find_operations(self, first: int, last: int, wanted: Wanted, most: int) -> FoundOperations:
        cursor = self._transaction.cursor(self._tables.operations)
        is_forward, looked_at, reached = first <= last, 0, last
        parts: list[PieceRows] = []
        found = cursor.set_range(PIECE_KEY.pack(first + (not is_forward), 0))
        if not is_forward:
            found = cursor.prev() if found else cursor.last()
        while found:
            block = PIECE_KEY.unpack(cursor.key())[0]
            if block > last if is_forward else block < last:
                break
            if looked_at >= most and block != parts[-1][0]:
                reached = block - 1 if is_forward else block + 1
                break
            piece = Piece(cursor.value(), block, block >= self._watermarks.sums_from)
            parts.append((block, piece, piece.rows()))
            looked_at += piece.count
            found = cursor.next() if is_forward else cursor.prev()
        if not is_forward:
            parts.reverse()
        return FoundOperations(self._texts(self._selected(parts, Selection(wanted))), reached)

    def find_entries(self, account: AccountName, first: int, last: int, wanted: Wanted) -> list[tuple[int, str]]:
        selection = Selection(wanted, account)
        references = list(self._accounts.references(account, first, last))
        parts, numbers = [], []
        sequence = iter(range(first, last + 1))
        for block, piece, rows in self._parts(references):
            own = [(next(sequence), row) for row in rows]
            chosen = [(number, row) for number, row in own if selection.may_take(piece, row)]
            if chosen and selection.needs_operations:
                [bytes_] = self._bytes([(block, piece, [row for _, row in chosen])])
                chosen = [
                    each
                    for each in chosen
                    if selection.takes(bytes_.operation(piece, each[1]), piece.position(each[1], block))
                ]
            if chosen:
                numbers += [number for number, _ in chosen]
                parts.append((block, piece, [row for _, row in chosen]))
        return list(zip(numbers, self._texts(parts), strict=True))

    def _selected(self, parts: list[PieceRows], selection: Selection) -> list[PieceRows]:
        chosen = _thinned(parts, selection.may_take)
        if not selection.needs_operations:
            return chosen
        bytes_ = iter(self._bytes(chosen))
        kept = []
        for block, piece, rows in chosen:
            own = next(bytes_)
            taken = [row for row in rows if selection.takes(own.operation(piece, row), piece.position(row, block))]
            if taken:
                kept.append((block, piece, taken))
        return kept

    # -- pieces, and the bytes that they refer to

    def _pieces_at(self, block: int) -> list[Piece]:
        return pieces_at(self._transaction, self._tables, block, self._watermarks.sums_from)

    def _parts(self, references: Sequence[Reference]) -> list[PieceRows]:
        """Operations by where they are stored, those of one piece together as long as they follow one another."""
        keys, blocks, places = [], [], []
        last, inside = (0, 0), [0]
        for block, high, low in references:
            number, place = divmod((high << 16) + low, OPERATIONS_A_PIECE)
            if (block, number) == last:
                inside.append(place)
            else:
                last, inside = (block, number), [place]
                keys.append(PIECE_KEY.pack(block, number))
                blocks.append(block)
                places.append(inside)
        found = self._transaction.cursor(self._tables.operations).getmulti(keys)
        if len(found) != len(keys):
            raise HistoryDamaged(f"operations of blocks {blocks[0]} to {blocks[-1]} are missing")
        parts, sums_from = [], self._watermarks.sums_from
        for block, wanted, (_, raw) in zip(blocks, places, found, strict=True):
            piece = Piece(raw, block, block >= sums_from)
            try:
                parts.append((block, piece, piece.rows_at(wanted)))
            except IndexError as problem:
                raise HistoryDamaged(f"operation {problem} of a piece of block {block} is missing") from problem
        return parts

    def _bytes(self, parts: Sequence[PieceRows]) -> list[BlockPart]:
        """The bytes of the blocks of operations; those from the log are read together."""
        found: list[BlockPart] = []
        from_log: list[tuple[BlockPart, Span]] = []
        for block, _, rows in parts:
            begin, end = extent(rows)
            if from_log and from_log[-1][0].number == block:
                bytes_, span = from_log[-1]
                from_log[-1] = bytes_, (block, span[1], max(span[2], end))
            elif found and found[-1].number == block and (found[-1].data or not end):
                bytes_ = found[-1]
            else:
                bytes_ = BlockPart(block)
                kept = None
                if end and block >= self._kept_from:
                    kept = self._transaction.get(BLOCK_KEY.pack(block), db=self._tables.blocks)
                if kept is not None:
                    bytes_.data = kept
                elif end:
                    bytes_.begin = begin
                    from_log.append((bytes_, (block, begin, end)))
            found.append(bytes_)
        for (bytes_, _), data in zip(from_log, self._log.read([span for _, span in from_log]), strict=True):
            bytes_.data = data
        return found

    def _texts(self, parts: Sequence[PieceRows]) -> list[str]:
        """The JSON texts of operations."""
        return shown((bytes_, part[1], part[2]) for part, bytes_ in zip(parts, self._bytes(parts), strict=True))


def _thinned(parts: list[PieceRows], is_wanted: Callable[[Piece, OperationRow], bool]) -> list[PieceRows]:
    """Only the selected rows; groups without any are left out."""
    thinned = ((block, piece, [row for row in rows if is_wanted(piece, row)]) for block, piece, rows in parts)
    return [part for part in thinned if part[2]]
