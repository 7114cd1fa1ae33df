"""The histories of accounts as they are stored: for each account its range, and chunks of references to operations.

A reference is the number of the block and the operation's place among the recorded ones of it. The sequence number
of an entry is stored nowhere: it says in which chunk the entry stands, and where in it. A chunk ends with a checksum,
unless an earlier version has written it last: its length tells.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Sequence

from ledgerd.chain.log.histories import SequenceRange
from ledgerd.history.errors import HistoryDamaged
from ledgerd.state.disk import Database, LmdbTransaction

_REFERENCE = struct.Struct(">IBH")
REFERENCE_BYTES = _REFERENCE.size
ENTRIES_A_CHUNK = 582
"""So many that a full chunk and its checksum fill a page of their own, and none is left half empty."""


_RANGE = struct.Struct("<II")
_CHUNK = struct.Struct(">I")
_SUM = struct.Struct("<I")
_INTACT = 0x2144DF1C
"""The checksum of whatever ends with its own."""

Reference = tuple[int, int, int]
"""A block, and the high and low part of an operation's place there; references grow with time."""


def reference(block: int, place: int) -> Reference:
    """Names an operation."""
    return block, place >> 16, place & 0xFFFF


class AccountRows:
    """The two tables of a transaction that holds them."""

    def __init__(self, transaction: LmdbTransaction, ranges: Database, chunks: Database) -> None:
        self._transaction = transaction
        self._ranges = ranges
        self._chunks = chunks

    def range_of(self, account: str) -> SequenceRange | None:
        """The first and the last entry."""
        raw = self._transaction.get(_key(account), db=self._ranges)
        if raw is None:
            return None
        first, following = _RANGE.unpack(raw)
        return SequenceRange(first, following - 1)

    def references(self, account: str, first: int, last: int) -> Iterator[Reference]:
        """The entries from one sequence number to another, in their order."""
        key = _key(account)
        for number in range(first // ENTRIES_A_CHUNK, last // ENTRIES_A_CHUNK + 1):
            chunk = self._chunk(key, number)
            base = number * ENTRIES_A_CHUNK
            begin = max(0, first - base) * REFERENCE_BYTES
            yield from _REFERENCE.iter_unpack(chunk[begin : (last - base + 1) * REFERENCE_BYTES])

    def first_since(self, account: str, block: int) -> int:
        """The number of the first entry of a block or a later one; one more than the last entry if there is none."""
        entries = self.range_of(account)
        if entries is None:
            return 0
        low, high = entries.first, entries.last + 1
        while low < high:
            middle = (low + high) // 2
            if next(self.references(account, middle, middle))[0] < block:
                low = middle + 1
            else:
                high = middle
        return low

    def append(self, account: str, references: Sequence[Reference]) -> None:
        """Append entries."""
        key = _key(account)
        raw = self._transaction.get(key, db=self._ranges)
        first, following = (0, 0) if raw is None else _RANGE.unpack(raw)
        done = 0
        while done < len(references):
            number, filled = divmod(following, ENTRIES_A_CHUNK)
            part = references[done : done + ENTRIES_A_CHUNK - filled]
            added = b"".join([_REFERENCE.pack(*each) for each in part])
            before = self._chunk(key, number) if filled else b""
            if len(before) != filled * REFERENCE_BYTES:
                raise HistoryDamaged(f"entry {following} of {account} does not follow the one before it")
            self._put_chunk(key, number, before + added)
            done += len(part)
            following += len(part)
        self._transaction.put(key, _RANGE.pack(first, following), db=self._ranges)

    def drop_last(self, account: str, wanted: Reference) -> None:
        """Remove the last entry, if it is this reference."""
        entries = self.range_of(account)
        if entries is None or next(self.references(account, entries.last, entries.last), None) != wanted:
            return
        key = _key(account)
        number, place = divmod(entries.last, ENTRIES_A_CHUNK)
        self._put_chunk(key, number, self._chunk(key, number)[: place * REFERENCE_BYTES])
        self._put_range(key, entries.first, entries.last)

    def drop_first(self, account: str, last_block: int) -> None:
        """Remove the entries of all blocks up to this one."""
        entries = self.range_of(account)
        if entries is None:
            return
        key, first, limit = _key(account), entries.first, reference(last_block + 1, 0)
        for each in self.references(account, entries.first, entries.last):
            if each >= limit:
                break
            first += 1
        emptied = first if first <= entries.last else first + ENTRIES_A_CHUNK - 1
        for number in range(entries.first // ENTRIES_A_CHUNK, emptied // ENTRIES_A_CHUNK):
            self._transaction.delete(key + _CHUNK.pack(number), db=self._chunks)
        self._put_range(key, first, entries.last + 1)

    def _chunk(self, key: bytes, number: int) -> bytes:
        stored: bytes = self._transaction.get(key + _CHUNK.pack(number), db=self._chunks) or b""
        if len(stored) % REFERENCE_BYTES == 0:
            return stored
        if zlib.crc32(stored) != _INTACT:
            name = key[:-1].decode("utf-8", "surrogateescape")
            raise HistoryDamaged(f"the entries of {name} from {number * ENTRIES_A_CHUNK} on have another checksum")
        return stored[: -_SUM.size]

    def _put_chunk(self, key: bytes, number: int, chunk: bytes) -> None:
        if chunk:
            stored = chunk + _SUM.pack(zlib.crc32(chunk))
            self._transaction.put(key + _CHUNK.pack(number), stored, db=self._chunks)
        else:
            self._transaction.delete(key + _CHUNK.pack(number), db=self._chunks)

    def _put_range(self, key: bytes, first: int, following: int) -> None:
        """An account without entries has no range: new entries count from zero."""
        if first < following:
            self._transaction.put(key, _RANGE.pack(first, following), db=self._ranges)
        else:
            self._transaction.delete(key, db=self._ranges)


def _key(account: str) -> bytes:
    """The name with a terminator, so that no key is a prefix of another."""
    return account.encode("utf-8", "surrogateescape") + b"\0"
