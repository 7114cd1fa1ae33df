"""The history in PostgreSQL at one commit: queries for blocks, transactions and accounts, from packed operations."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

from psycopg import Cursor

from ledgerd.chain.ledger.events import NO_TRANSACTION
from ledgerd.chain.log import histories
from ledgerd.codec import codec_of
from ledgerd.codec.errors import DecodeError
from ledgerd.codec.kinds import Reading
from ledgerd.history.columns.rows import BLOCKS_A_RANGE, ENTRY
from ledgerd.history.columns.typed_columns import name_text, units_of
from ledgerd.history.errors import HistoryDamaged
from ledgerd.history.filters.selection import Selection
from ledgerd.history.postgres.queries import QUERIES
from ledgerd.history.postgres.status import PostgresUnavailable
from ledgerd.history.store.block_rows import TRANSCRIBERS, members_of, without_fields
from ledgerd.projections.accounts.balances import Amounts, Held
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.types.identifiers import TransactionId
from ledgerd.protocol.types.names import AccountName
from ledgerd.protocol.types.time_text import time_text

BEGIN = f"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; {QUERIES['feed']}"
END = "ROLLBACK"
NEWEST = (1 << 63) - 1


class StoredOperation(NamedTuple):
    """An operation with its numbers."""

    block: int
    trx_in_block: int
    op_in_trx: int
    virtual_op: int
    time: int
    transaction_id: bytes
    packed: bytes

    @classmethod
    def of_entry(cls, raw: bytes) -> StoredOperation:
        return cls._make((*ENTRY.unpack_from(raw), raw[ENTRY.size :]))

    @property
    def place(self) -> histories.OperationPlace:
        return histories.OperationPlace(*self[:4])


class PostgresView(histories.HistoryView):
    """The history of one commit: a transaction, which the first query begins that is not all that is asked."""

    def __init__(self, cursor: Cursor[Any]) -> None:
        self._cursor = cursor
        self._reached: tuple[int, int] | None = None
        self._ranges: dict[str, tuple[int, int]] = {}

    def _begun(self) -> tuple[int, int]:
        if self._reached is None:
            self._cursor.execute(BEGIN, binary=False)  # both at once: a command costs as much as ten entries
            self._cursor.nextset()
            row = self._cursor.fetchone()
            if row is None:
                raise _empty()
            self._reached = row[:2]
            _require_indexed(row[2], row[0])
        return self._reached

    def end(self) -> None:
        if self._reached is not None:
            self._cursor.execute(END)

    def _rows(self, query: str, *given: object) -> list[tuple[Any, ...]]:
        self._begun()
        return self._cursor.execute(QUERIES[query], given).fetchall()

    @property
    def head_number(self) -> int:
        return self._begun()[0]

    @property
    def irreversible_number(self) -> int:
        return self._begun()[1]

    def _rows_at(self, query: str, block: int, *more: object) -> list[tuple[Any, ...]]:
        name = f"{query}, reversible" if block > self.irreversible_number else query
        return self._rows(name, block // BLOCKS_A_RANGE, block, *more)

    @property
    def balances_begin(self) -> int | None:
        for (block,) in self._rows("balances begin"):
            return None if block is None else int(block)
        return None

    def balances_at(self, account: AccountName, block: int) -> Amounts:
        self._begun()
        given = {"account": name_text(account), "block": block}
        row = self._cursor.execute(QUERIES["balances"], given).fetchone() or ()
        return tuple(units_of(amount, held.symbol) for held, amount in zip(Held, row, strict=True))

    def mark_of(self, block: int) -> bytes:
        found = self._rows_at("mark", block)
        return found[0][0] if found else b""

    # -- blocks

    def operations_of(self, block: int, *, only_virtual: bool = False) -> list[str]:
        return texts_of(each for each in self._stored(block) if each.virtual_op or not only_virtual)

    def _stored(self, block: int) -> list[StoredOperation]:
        return [StoredOperation._make(row) for row in self._rows_at("operations", block)]

    def part_of(self, block: int, first: int, most: int) -> list[str]:
        return texts_of(map(StoredOperation._make, self._rows_at("some operations", block, first, most)))

    def kinds_of(self, block: int) -> list[histories.KindCount]:
        return [histories.KindCount(*row) for row in self._rows_at("kinds", block)]

    def followed_from(self, place: histories.TransactionPlace, most: int) -> list[str]:
        own = [each for each in self._stored(place.block) if each.virtual_op and each.trx_in_block == place[1]]
        return texts_of(own[:most])

    def place_of(self, transaction: TransactionId) -> histories.TransactionPlace | None:
        for query in ("transaction", "transaction, reversible"):
            for block, number in self._rows(query, transaction):
                return histories.TransactionPlace(block, number)
        return None

    # -- accounts

    def range_of(self, account: AccountName) -> histories.SequenceRange | None:
        _, following = self._range(account)
        return histories.SequenceRange(0, following - 1) if following else None

    def _range(self, account: str) -> tuple[int, int]:
        known = self._ranges.get(account)
        if known is None:
            name = name_text(account)
            ((final, following),) = self._rows("range", name, name)
            known = self._ranges[account] = final or 0, following or final or 0
        return known

    def entries_of(self, account: AccountName, first: int, last: int) -> list[str]:
        return texts_of_entries(self._whole([raw for _, raw in self._entries(account, first, last, None)]))

    def page_of(self, account: AccountName, last: int | None, more: int) -> histories.EntryPage | None:
        given = {"account": name_text(account), "last": NEWEST if last is None else last, "more": more}
        row = self._cursor.execute(QUERIES["page"], given).fetchone()
        if row is None:
            raise _empty()
        is_indexed, head, following, found = row
        _require_indexed(is_indexed, head)
        if not following:
            return None
        known, end = histories.SequenceRange(0, following - 1), following - 1 if last is None else last
        first = max(0, end - more)
        if end > known.last:
            return histories.EntryPage(known, first, [])
        _require_all(account, first, end, len(found))
        return histories.EntryPage(known, first, texts_of_entries(self._whole(found)))

    def _entries(self, account: str, first: int, last: int, tags: Sequence[int] | None) -> list[tuple[Any, ...]]:
        final, _ = self._range(account)
        name, found = name_text(account), list[tuple[Any, ...]]()
        kind = "entries" if tags is None else "entries of kinds"
        chosen = () if tags is None else (list(tags),)
        if first < final:
            found += self._rows(kind, name, first, min(last, final - 1), *chosen)
        if last >= final:
            found += self._rows(f"{kind}, reversible", name, max(first, final), last, *chosen)
        if tags is None:
            _require_all(account, first, last, len(found))
        return found

    def _whole(self, entries: list[bytes]) -> list[bytes]:
        """Entries with their operations; those of operations that touch very many accounts do not repeat them."""
        if not entries or min(map(len, entries)) > ENTRY.size:
            return entries
        return [raw if len(raw) > ENTRY.size else raw + self._packed(raw) for raw in entries]

    def _packed(self, entry: bytes) -> bytes:
        block, *numbers = ENTRY.unpack(entry)[:4]
        found = self._rows_at("packed", block, *numbers)
        if not found:
            raise PostgresUnavailable(f"block {block} was undone while its operations were asked for")
        packed: bytes = found[0][0]
        return packed

    # -- queries with a filter

    def first_block_since(self, time: int) -> int:
        for query in ("since", "since, reversible"):
            for (block,) in self._rows(query, time):
                first: int = block
                return first
        return self.head_number + 1

    def first_entry_since(self, account: AccountName, block: int) -> int:
        final, following = self._range(account)
        if block > self.irreversible_number:
            for (number,) in self._rows("first entry, reversible", name_text(account), block):
                return following if number is None else int(number)
        return bisect_left(range(final), block, key=partial(self._block_of_entry, account))

    def _block_of_entry(self, account: str, number: int) -> int:
        ((_, raw),) = self._entries(account, number, number, None)
        return StoredOperation.of_entry(raw).block

    def find_operations(self, first: int, last: int, wanted: histories.Wanted, most: int) -> histories.FoundOperations:
        is_forward, low, high = first <= last, min(first, last), max(first, last)
        counts = self._rows("counts up" if is_forward else "counts down", low, high, low, high, most + 1)
        examined, reached = 0, last
        for block, count in counts:
            if examined >= most:
                reached = block - 1 if is_forward else block + 1
                break
            examined += count
        low, high = (first, reached) if is_forward else (reached, first)
        tags = None if wanted.tags is None else list(wanted.tags)
        found = map(StoredOperation._make, self._rows("between", low, high, tags, tags, low, high, tags, tags))
        return histories.FoundOperations(texts_of(_matching(found, Selection(wanted), wanted)), reached)

    def find_entries(
        self, account: AccountName, first: int, last: int, wanted: histories.Wanted
    ) -> list[tuple[int, str]]:
        tags = None if wanted.tags is None else list(wanted.tags)
        entries = self._entries(account, first, last, tags)
        whole = self._whole([raw for _, raw in entries])
        rows = {StoredOperation.of_entry(raw): number for raw, (number, _) in zip(whole, entries, strict=True)}
        matching = list(_matching(rows, Selection(wanted, account), wanted))
        return list(zip([rows[each] for each in matching], texts_of(matching), strict=True))


def _empty() -> PostgresUnavailable:
    return PostgresUnavailable("the history in PostgreSQL is empty: nothing has been fed to it yet")


def _require_indexed(is_indexed: bool, head: int) -> None:
    if not is_indexed:
        raise PostgresUnavailable(f"the history in PostgreSQL is being loaded, and has reached block {head}")


def _require_all(account: str, first: int, last: int, found: int) -> None:
    if found != last - first + 1:
        raise HistoryDamaged(f"entries of {account} are missing in PostgreSQL")


def _matching(
    operations: Iterable[StoredOperation], selection: Selection, wanted: histories.Wanted
) -> Iterable[StoredOperation]:
    decode = codec_of(Operation).decode_exactly
    for each in operations:
        if wanted.since <= each.time < wanted.until and (
            not selection.needs_operations or selection.matches(decode(each.packed), each.place)
        ):
            yield each


def texts_of(operations: Iterable[StoredOperation]) -> list[str]:
    transcribers, reading, nobody = TRANSCRIBERS, Reading(), NO_TRANSACTION
    found = []
    for block, transaction, number, virtual, time, identifier, packed in operations:
        owner = (identifier or nobody).hex()
        opening = f'{{"trx_id":"{owner}","block":{block},"trx_in_block":{transaction},"op_in_trx":'
        members = members_of(number, virtual, time)
        try:
            found.append(transcribers[packed[0]](packed, 1, reading, opening, members)[0])
        except DecodeError:
            found.append(without_fields(packed, 0, opening, members))
    return found


def texts_of_entries(entries: Sequence[bytes]) -> list[str]:
    """The same texts as `texts_of`, for entries of an account. They are asked for most: half of the time of a page is
    spent here.
    """
    transcribers, reading, numbers_of, start = TRANSCRIBERS, Reading(), ENTRY.unpack_from, ENTRY.size
    found, known, clock = [], -1, ""
    for raw in entries:
        block, transaction, number, virtual, time, identifier = numbers_of(raw)
        if time != known:
            known, clock = time, time_text(time)
        opening = f'{{"trx_id":"{identifier.hex()}","block":{block},"trx_in_block":{transaction},"op_in_trx":'
        members = f'{number},"virtual_op":{virtual},"timestamp":"{clock}","op":["'
        try:
            found.append(transcribers[raw[start]](raw, start + 1, reading, opening, members)[0])
        except DecodeError:
            found.append(without_fields(raw, start, opening, members))
    return found
