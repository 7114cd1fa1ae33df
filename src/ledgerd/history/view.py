"""The embedded history at one commit: blocks, transactions and accounts as clients ask for them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from ledgerd.chain.histories import FoundOperations, HistoryView, SequenceRange, TransactionPlace, Wanted
from ledgerd.history.account_rows import AccountRows, Reference
from ledgerd.history.block_rows import BlockPart, extent
from ledgerd.history.errors import HistoryDamaged
from ledgerd.history.log_bytes import LogBytes, Span
from ledgerd.history.pieces import OPERATIONS_A_PIECE, PIECE_KEY, VIRTUAL, Piece, Row
from ledgerd.history.remembered import Remembered
from ledgerd.history.selection import Selection
from ledgerd.history.tables import BLOCK_KEY, Progress, Tables, block_behind, pieces_at, possible_blocks, read_progress
from ledgerd.protocol.identifiers import TransactionId
from ledgerd.protocol.names import AccountName
from ledgerd.state.disk import Transaction

MARK_BYTES = 96
"""No block is shorter, and these hold whom it follows, its time, its transactions and the start of its signature."""


class Shown:
    """What clients were shown of blocks that the chain never takes back."""

    def __init__(self) -> None:
        self.blocks = Remembered[int, list[str]]()
        self.operations = Remembered[Reference, str]()

    def clear(self) -> None:
        """Forget it."""
        self.blocks.clear()
        self.operations.clear()


class Part(NamedTuple):
    """Some operations of one piece."""

    block: int
    piece: Piece
    rows: Sequence[Row]


class EmbeddedView(HistoryView):
    """The history of one commit."""

    def __init__(self, transaction: Transaction, tables: Tables, log: LogBytes, shown: Shown) -> None:
        self._transaction = transaction
        self._tables = tables
        self._log = log
        self._shown = shown
        self._progress = read_progress(transaction, tables) or Progress()
        self._accounts = AccountRows(transaction, tables.ranges, tables.chunks)
        cursor = transaction.cursor(tables.blocks)
        self._kept_from = BLOCK_KEY.unpack(cursor.key())[0] if cursor.first() else self._progress.head + 1
        """The first block whose bytes are here, and not in the log alone."""

    @property
    def head_number(self) -> int:
        return self._progress.head

    @property
    def irreversible_number(self) -> int:
        return self._progress.settled

    def mark_of(self, block: int) -> bytes:
        kept = self._transaction.get(BLOCK_KEY.pack(block), db=self._tables.blocks)
        return self._log.read([Span(block, 0, MARK_BYTES)])[0] if kept is None else kept[:MARK_BYTES]

    # -- blocks

    def operations_of(self, block: int, *, only_virtual: bool = False) -> list[str]:
        known = self._shown.blocks.find(block)
        if known is not None and not only_virtual:
            return known
        parts = [Part(block, piece, piece.rows()) for piece in pieces_at(self._transaction, self._tables, block)]
        if only_virtual:
            parts = [part._replace(rows=[row for row in part.rows if row[3] & VIRTUAL]) for part in parts]
        texts = self._texts(parts)
        if block <= self._progress.settled and not only_virtual:
            self._shown.blocks.keep(block, texts, sum(map(len, texts)))
        return texts

    def place_of(self, transaction: TransactionId) -> TransactionPlace | None:
        for block in possible_blocks(self._transaction, self._tables, transaction):
            for piece in pieces_at(self._transaction, self._tables, block):
                for number, identifier in piece.transactions():
                    if identifier == transaction:
                        return TransactionPlace(block, number)
        return None

    # -- accounts

    def range_of(self, account: AccountName) -> SequenceRange | None:
        return self._accounts.range_of(account)

    def entries_of(self, account: AccountName, first: int, last: int) -> list[str]:
        references = list(self._accounts.references(account, first, last))
        known = [self._shown.operations.find(each) for each in references]
        missing = [reference for reference, text in zip(references, known, strict=True) if text is None]
        if not missing:
            return [text for text in known if text is not None]
        read = iter(self._texts(self._parts(missing)))
        settled, keep, texts = self._progress.settled, self._shown.operations.keep, []
        for reference, text in zip(references, known, strict=True):
            shown = next(read) if text is None else text
            if text is None and reference[0] <= settled:
                keep(reference, shown, len(shown))
            texts.append(shown)
        return texts

    # -- looking for some among many

    def first_block_since(self, time: int) -> int:
        low, high = 1, self._progress.head + 1
        while low < high:
            middle = (low + high) // 2
            block = block_behind(self._transaction, self._tables, middle - 1)
            if block is None or pieces_at(self._transaction, self._tables, block)[0].times[1] >= time:
                high = middle
            else:
                low = block + 1
        return block_behind(self._transaction, self._tables, low - 1) or self._progress.head + 1

    def first_entry_since(self, account: AccountName, block: int) -> int:
        return self._accounts.first_since(account, block)

    def find_operations(self, first: int, last: int, wanted: Wanted, most: int) -> FoundOperations:
        cursor = self._transaction.cursor(self._tables.operations)
        is_forward, looked_at, reached = first <= last, 0, last
        parts: list[Part] = []
        found = cursor.set_range(PIECE_KEY.pack(first + (not is_forward), 0))
        if not is_forward:
            found = cursor.prev() if found else cursor.last()
        while found:
            block = PIECE_KEY.unpack(cursor.key())[0]
            if block > last if is_forward else block < last:
                break
            if looked_at >= most and block != parts[-1].block:
                reached = block - 1 if is_forward else block + 1
                break
            piece = Piece(cursor.value())
            parts.append(Part(block, piece, piece.rows()))
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
        for part in self._parts(references):
            own = [(next(sequence), row) for row in part.rows]
            chosen = [(number, row) for number, row in own if selection.may_take(part.piece, row)]
            if chosen and selection.needs_operations:
                [bytes_] = self._bytes([part._replace(rows=[row for _, row in chosen])])
                chosen = [each for each in chosen if selection.takes(bytes_.operation(part.piece, each[1]))]
            numbers += [number for number, _ in chosen]
            parts.append(part._replace(rows=[row for _, row in chosen]))
        return list(zip(numbers, self._texts(parts), strict=True))

    def _selected(self, parts: list[Part], selection: Selection) -> list[Part]:
        chosen = [
            part._replace(rows=[row for row in part.rows if selection.may_take(part.piece, row)]) for part in parts
        ]
        chosen = [part for part in chosen if part.rows]
        if not selection.needs_operations:
            return chosen
        return [
            part._replace(rows=[row for row in part.rows if selection.takes(bytes_.operation(part.piece, row))])
            for part, bytes_ in zip(chosen, self._bytes(chosen), strict=True)
        ]

    # -- pieces, and the bytes that they refer to

    def _parts(self, references: Sequence[Reference]) -> list[Part]:
        """Operations by where they are stored, those of one piece together as long as they follow one another."""
        places = [(block, (high << 16) + low) for block, high, low in references]
        grouped = [
            (PIECE_KEY.pack(block, number), [place % OPERATIONS_A_PIECE for _, place in group])
            for (block, number), group in groupby(places, lambda each: (each[0], each[1] // OPERATIONS_A_PIECE))
        ]
        found = dict(self._transaction.cursor(self._tables.operations).getmulti([key for key, _ in grouped]))
        parts = []
        for key, inside in grouped:
            block = PIECE_KEY.unpack(key)[0]
            if key not in found:
                raise HistoryDamaged(f"operations of block {block} are missing")
            piece = Piece(found[key])
            rows = piece.rows()
            if inside[-1] >= len(rows):
                raise HistoryDamaged(f"operation {inside[-1]} of a piece of block {block} is missing")
            parts.append(Part(block, piece, [rows[place] for place in inside]))
        return parts

    def _bytes(self, parts: Sequence[Part]) -> list[BlockPart]:
        """The bytes of the blocks that operations stand in; all that the log has of them is read together."""
        found: list[BlockPart | None] = []
        spans: list[Span] = []
        for block, _, rows in parts:
            first, end = extent(rows)
            if not end:
                found.append(BlockPart(block))
                continue
            kept = None
            if block >= self._kept_from:
                kept = self._transaction.get(BLOCK_KEY.pack(block), db=self._tables.blocks)
            if kept is None:
                spans.append(Span(block, first, end))
                found.append(None)
            else:
                found.append(BlockPart(block, kept))
        read = (
            BlockPart(span.block, data, span.first) for span, data in zip(spans, self._log.read(spans), strict=True)
        )
        return [next(read) if each is None else each for each in found]

    def _texts(self, parts: Sequence[Part]) -> list[str]:
        texts: list[str] = []
        for part, bytes_ in zip(parts, self._bytes(parts), strict=True):
            texts += bytes_.shown(part.piece, part.rows)
        return texts
