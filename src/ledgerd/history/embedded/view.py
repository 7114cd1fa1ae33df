"""The embedded history at one commit: queries for blocks, transactions and accounts."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Generic, TypeVar, cast

from ledgerd.chain.log import histories
from ledgerd.history.embedded.log_bytes import LogBytes, Span
from ledgerd.history.errors import HistoryDamaged
from ledgerd.history.filters.selection import Selection
from ledgerd.history.store.account_rows import Reference
from ledgerd.history.store.block_rows import BlockPart, shown
from ledgerd.history.store.checksums import BLOCK_KEY
from ledgerd.history.store.pieces import OPERATIONS_A_PIECE, PIECE_KEY, PLACE, VIRTUAL, OperationRow, Piece
from ledgerd.history.store.stored import StoredHistory
from ledgerd.history.store.tables import Tables, read_watermarks
from ledgerd.projections.accounts.balances import NOTHING, Amounts
from ledgerd.protocol.types.identifiers import TransactionId
from ledgerd.protocol.types.names import AccountName
from ledgerd.state.files.disk import LmdbTransaction

MARK_BYTES = 96
"""The first bytes of a block: previous id, time, merkle root and the start of the signature. No block is shorter."""


K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

CHARACTERS = 16 * 1024 * 1024


class TextCache(Generic[K, V]):
    """A cache of two generations: when the young one is full, it replaces the old one. So a lookup changes nothing, and
    the cache has at most twice its limit of characters.
    """

    def __init__(self, characters: int = CHARACTERS) -> None:
        self._most = characters
        self._young: dict[K, V] = {}
        self._old: dict[K, V] = {}
        self._characters = 0

    def find(self, key: K) -> V | None:
        known = self._young.get(key)
        return self._old.get(key) if known is None else known

    def find_all(self, keys: Sequence[K]) -> list[V | None]:
        found = list(map(self._young.get, keys))
        if not self._old or all(found):
            return found
        return [text or self._old.get(key) for key, text in zip(keys, found, strict=True)]

    def keep(self, key: K, value: V, characters: int) -> None:
        self.keep_all(((key, value),), characters)

    def keep_all(self, pairs: Iterable[tuple[K, V]], characters: int) -> None:
        if self._characters + characters > self._most:
            self._old, self._young, self._characters = self._young, {}, 0
            if characters > self._most:
                return
        self._young.update(pairs)
        self._characters += characters

    def clear(self) -> None:
        self._young, self._old, self._characters = {}, {}, 0

    def __len__(self) -> int:
        return len(self._young) + len(self._old)


class ShownTexts:
    """The cache of texts of irreversible blocks."""

    def __init__(self) -> None:
        self.blocks = TextCache[int, list[str]]()
        self.operations = TextCache[Reference, str]()

    def clear(self) -> None:
        self.blocks.clear()
        self.operations.clear()


PieceRows = tuple[Piece, list[OperationRow]]


class EmbeddedView(histories.HistoryView):
    """The history of one commit."""

    def __init__(self, transaction: LmdbTransaction, tables: Tables, log: LogBytes, known: ShownTexts) -> None:
        watermarks = read_watermarks(transaction, tables)
        if watermarks is None:
            raise HistoryDamaged("its header is missing")
        self._stored = StoredHistory(transaction, tables, watermarks)
        self._watermarks = watermarks
        self._log = log
        self._shown = known
        cursor = transaction.cursor(tables.blocks)
        self._kept_from = BLOCK_KEY.unpack(cursor.key())[0] if cursor.first() else watermarks.head + 1
        """The first block whose bytes are in this store."""

    @property
    def head_number(self) -> int:
        return self._watermarks.head

    @property
    def irreversible_number(self) -> int:
        return self._watermarks.irreversible

    def mark_of(self, block: int) -> bytes:
        kept = self._stored.packed(block)
        return self._log.read([(block, 0, MARK_BYTES)])[0] if kept is None else kept[:MARK_BYTES]

    # -- what accounts were

    @property
    def accounts_begin(self) -> int | None:
        return self._stored.journal.begins

    balances_begin = accounts_begin

    def account_at(self, account: AccountName, block: int) -> histories.PastAccount | None:
        return self._stored.journal.account_at(account, block)

    def balances_at(self, account: AccountName, block: int) -> Amounts:
        return self._stored.journal.amounts_at(account, block) or NOTHING

    # -- blocks

    def operations_of(self, block: int, *, only_virtual: bool = False) -> list[str]:
        known = self._shown.blocks.find(block)
        if known is not None and not only_virtual:
            return known
        parts = [(piece, piece.rows()) for piece in self._stored.pieces_at(block)]
        if only_virtual:
            parts = _thinned(parts, lambda _, row: bool(row[3] & VIRTUAL))
        texts = self._texts(parts)
        if block <= self._watermarks.irreversible and not only_virtual:
            self._shown.blocks.keep(block, texts, sum(map(len, texts)))
        return texts

    def part_of(self, block: int, first: int, most: int) -> list[str]:
        known = self._shown.blocks.find(block)
        if known is not None:
            return known[first : first + most]
        parts, passed = [], 0
        for piece in self._stored.pieces_at(block):
            low, high = max(0, first - passed), min(piece.count, first + most - passed)
            if low < high:
                parts.append((piece, piece.rows_at(range(low, high))))
            passed += piece.count
        return self._texts(parts)

    def kinds_of(self, block: int) -> list[histories.KindCount]:
        return self._stored.kinds_at(block)

    def offsets_of(self, place: histories.TransactionPlace) -> list[int]:
        rows = (row for _, rows in self._rows_of(place) for row in rows)
        return [row[3] & PLACE for row in rows if not row[3] & VIRTUAL]

    def followed_from(self, place: histories.TransactionPlace, most: int) -> list[str]:
        parts = []
        for piece, rows in self._rows_of(place):
            virtual = [row for row in rows if row[3] & VIRTUAL]
            if virtual and most > 0:
                parts.append((piece, virtual[:most]))
                most -= len(virtual)
        return self._texts(parts)

    def _rows_of(self, place: histories.TransactionPlace) -> Iterator[PieceRows]:
        for piece in self._stored.pieces_at(place.block):
            owners = [index for index, (number, _) in enumerate(piece.transactions()) if number == place[1]]
            rows = [row for row in piece.rows() if row[1] in owners] if owners else []
            if rows:
                yield piece, rows

    def place_of(self, transaction: TransactionId) -> histories.TransactionPlace | None:
        for block in self._stored.possible_blocks(transaction):
            for piece in self._stored.pieces_at(block):
                for number, identifier in piece.transactions():
                    if identifier == transaction:
                        return histories.TransactionPlace(block, number)
        return None

    # -- accounts

    def range_of(self, account: AccountName) -> histories.SequenceRange | None:
        return self._stored.accounts.range_of(account)

    def entries_of(self, account: AccountName, first: int, last: int) -> list[str]:
        references = list(self._stored.accounts.references(account, first, last))
        known = self._shown.operations.find_all(references)
        if all(known):
            return cast("list[str]", known)
        missing = references
        if any(known):
            missing = [reference for reference, text in zip(references, known, strict=True) if not text]
        texts = self._texts(self._parts(missing))
        if missing[-1][0] <= self._watermarks.irreversible:
            self._shown.operations.keep_all(zip(missing, texts, strict=True), sum(map(len, texts)))
        if missing is references:
            return texts
        read = iter(texts)
        return [text or next(read) for text in known]

    # -- queries with a filter

    def first_block_since(self, time: int) -> int:
        def time_from(number: int) -> int:
            block = self._stored.block_behind(number - 1)
            return time if block is None else self._stored.pieces_at(block)[0].late

        head = self._watermarks.head
        return self._stored.block_behind(bisect_left(range(1, head + 1), time, key=time_from)) or head + 1

    def first_entry_since(self, account: AccountName, block: int) -> int:
        return self._stored.accounts.first_since(account, block)

    def find_operations(self, first: int, last: int, wanted: histories.Wanted, most: int) -> histories.FoundOperations:
        is_forward, examined, reached = first <= last, 0, last
        found: list[list[Piece]] = []
        for pieces in (self._stored.upwards if is_forward else self._stored.downwards)(first, last):
            if examined >= most:
                block = pieces[0].block
                reached = block - 1 if is_forward else block + 1
                break
            found.append(pieces)
            examined += sum(piece.count for piece in pieces)
        parts = [(piece, piece.rows()) for pieces in (found if is_forward else reversed(found)) for piece in pieces]
        return histories.FoundOperations(self._texts(self._selected(parts, Selection(wanted))), reached)

    def find_entries(
        self, account: AccountName, first: int, last: int, wanted: histories.Wanted
    ) -> list[tuple[int, str]]:
        selection = Selection(wanted, account)
        references = list(self._stored.accounts.references(account, first, last))
        parts, numbers = [], []
        sequence = iter(range(first, last + 1))
        for piece, rows in self._parts(references):
            numbered = [(next(sequence), row) for row in rows]
            chosen = [(number, row) for number, row in numbered if selection.may_match(piece, row)]
            if chosen and selection.needs_operations:
                [bytes_] = self._bytes([(piece, [row for _, row in chosen])])
                chosen = [each for each in chosen if _matches(selection, bytes_, piece, each[1])]
            if chosen:
                numbers += [number for number, _ in chosen]
                parts.append((piece, [row for _, row in chosen]))
        return list(zip(numbers, self._texts(parts), strict=True))

    def _selected(self, parts: list[PieceRows], selection: Selection) -> list[PieceRows]:
        chosen = _thinned(parts, selection.may_match)
        if not selection.needs_operations:
            return chosen
        matching = (
            (piece, [row for row in rows if _matches(selection, block, piece, row)])
            for (piece, rows), block in zip(chosen, self._bytes(chosen), strict=True)
        )
        return [part for part in matching if part[1]]

    # -- pieces, and the bytes that they refer to

    def _parts(self, references: Sequence[Reference]) -> list[PieceRows]:
        """Operations by where they are stored, those of one piece together as long as they follow one another."""
        keys: list[bytes] = []
        wanted: list[tuple[int, int, list[int]]] = []
        last_block, last_number, inside = 0, 0, list[int]()
        for block, high, low in references:
            number = (high << 16 | low) // OPERATIONS_A_PIECE
            if block != last_block or number != last_number:
                last_block, last_number, inside = block, number, []
                keys.append(PIECE_KEY.pack(block, number))
                wanted.append((block, number, inside))
            inside.append(low % OPERATIONS_A_PIECE)
        found = self._stored.transaction.cursor(self._stored.tables.operations).getmulti(keys)
        if len(found) != len(keys):
            raise HistoryDamaged(f"operations of blocks {wanted[0][0]} to {wanted[-1][0]} are missing")
        parts = []
        for (block, number, places), (_, raw) in zip(wanted, found, strict=True):
            piece = Piece(raw, block, number)
            try:
                parts.append((piece, piece.rows_at(places)))
            except IndexError as problem:
                raise HistoryDamaged(f"operation {problem} of a piece of block {block} is missing") from problem
        return parts

    def _bytes(self, parts: Sequence[PieceRows]) -> list[BlockPart]:
        """The bytes of the blocks of operations, compared with the checksums; those from the log are read together."""
        found: list[BlockPart] = []
        real: list[tuple[Piece, BlockPart]] = []
        from_log: list[tuple[BlockPart, Span]] = []
        last: BlockPart | None = None
        for piece, rows in parts:
            block = piece.block
            begin, end = piece.extent(rows)
            if not end:
                found.append(BlockPart(block))
                continue
            if last is None or last.number != block:
                last = BlockPart(block)
                kept = self._stored.packed(block) if block >= self._kept_from else None
                if kept is not None:
                    last.data = kept
                else:
                    last.begin = begin
                    from_log.append((last, (block, begin, end)))
            elif from_log and from_log[-1][0] is last:
                _, (_, begin, before) = from_log[-1]
                from_log[-1] = last, (block, begin, max(before, end))
            found.append(last)
            real.append((piece, last))
        for (bytes_, _), data in zip(from_log, self._log.read([span for _, span in from_log]), strict=True):
            bytes_.data = data
        for piece, bytes_ in real:
            piece.require_sound(bytes_.data, bytes_.begin)
        return found

    def _texts(self, parts: Sequence[PieceRows]) -> list[str]:
        return shown((bytes_, *part) for part, bytes_ in zip(parts, self._bytes(parts), strict=True))


def _thinned(parts: list[PieceRows], is_wanted: Callable[[Piece, OperationRow], bool]) -> list[PieceRows]:
    thinned = ((piece, [row for row in rows if is_wanted(piece, row)]) for piece, rows in parts)
    return [part for part in thinned if part[1]]


def _matches(selection: Selection, bytes_: BlockPart, piece: Piece, row: OperationRow) -> bool:
    return selection.matches(bytes_.operation(piece, row), piece.position(row))
