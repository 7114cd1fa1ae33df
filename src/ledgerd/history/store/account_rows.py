"""The histories of accounts: for each its range, and chunks of references to operations, each with a checksum. The
sequence number of an entry is stored nowhere: it says in which chunk the entry is, and where in it.
"""

from __future__ import annotations

import struct
import zlib
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import chain

from ledgerd.chain.log.histories import SequenceRange
from ledgerd.history.errors import HistoryDamaged
from ledgerd.history.store.checksums import INTACT, SUM
from ledgerd.state.files.disk import Database, LmdbTransaction

_REFERENCE = struct.Struct(">IBH")
REFERENCE_BYTES = _REFERENCE.size
"""Bytes of an entry of an account."""
ENTRIES_A_CHUNK = 582
"""So many that a full chunk and its checksum fill a page of their own, and none is left half empty."""

_RANGE = struct.Struct("<II")
_CHUNK = struct.Struct(">I")

Reference = tuple[int, int, int]
"""A block, and the high and low part of an operation's place there; references grow with time."""


def reference(block: int, place: int) -> Reference:
    return block, place >> 16, place & 0xFFFF


class AccountRows:
    """The two tables of a transaction that holds them."""

    def __init__(self, transaction: LmdbTransaction, ranges: Database, chunks: Database) -> None:
        self._transaction = transaction
        self._ranges = ranges
        self._chunks = chunks

    def range_of(self, account: str) -> SequenceRange | None:
        key = key_of(account)
        first, following = self._range(key)
        if following:
            return SequenceRange(first, following - 1)
        cursor = self._transaction.cursor(self._chunks)
        if cursor.set_range(key) and cursor.key().startswith(key):
            raise HistoryDamaged(f"there are entries of {account}, but not how many")
        return None

    def references(self, account: str, first: int, last: int) -> Iterator[Reference]:
        return chain.from_iterable(self._parts(account, first, last))

    def _parts(self, account: str, first: int, last: int) -> Iterator[Iterator[Reference]]:
        key = key_of(account)
        for number in range(first // ENTRIES_A_CHUNK, last // ENTRIES_A_CHUNK + 1):
            base = number * ENTRIES_A_CHUNK
            end = min(last - base + 1, ENTRIES_A_CHUNK) * REFERENCE_BYTES
            chunk = self._chunk(key, number)[:end]
            if len(chunk) < end:
                raise HistoryDamaged(f"entries of {account} are missing from {base + len(chunk) // REFERENCE_BYTES} on")
            yield _REFERENCE.iter_unpack(chunk[max(0, first - base) * REFERENCE_BYTES :])

    def first_since(self, account: str, block: int) -> int:
        """The number of the first entry of a block or a later one; one more than the last entry if there is none."""
        entries = self.range_of(account)
        if entries is None:
            return 0
        numbers = range(entries.first, entries.last + 1)
        return numbers.start + bisect_left(numbers, block, key=lambda at: next(self.references(account, at, at))[0])

    def append(self, account: str, references: Sequence[Reference]) -> None:
        key = key_of(account)
        first, following = self._range(key)
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
        self._put_range(key, first, following)

    def drop_last(self, account: str, wanted: Reference) -> None:
        entries = self.range_of(account)
        if entries is None or next(self.references(account, entries.last, entries.last), None) != wanted:
            return
        key = key_of(account)
        number, place = divmod(entries.last, ENTRIES_A_CHUNK)
        self._put_chunk(key, number, self._chunk(key, number)[: place * REFERENCE_BYTES])
        self._put_range(key, entries.first, entries.last)

    def drop_first(self, account: str, last_block: int) -> None:
        entries = self.range_of(account)
        if entries is None:
            return
        key, first, limit = key_of(account), entries.first, reference(last_block + 1, 0)
        for each in self.references(account, entries.first, entries.last):
            if each >= limit:
                break
            first += 1
        emptied = first if first <= entries.last else first + ENTRIES_A_CHUNK - 1
        for number in range(entries.first // ENTRIES_A_CHUNK, emptied // ENTRIES_A_CHUNK):
            self._transaction.delete(key + _CHUNK.pack(number), db=self._chunks)
        self._put_range(key, first, entries.last + 1)

    def _range(self, key: bytes) -> tuple[int, int]:
        """The first entry and one more than the last; zeros for an account without entries."""
        raw = self._transaction.get(key, db=self._ranges)
        if raw is None:
            return 0, 0
        if len(raw) != _RANGE.size + SUM.size or zlib.crc32(raw) != INTACT:
            raise HistoryDamaged(f"the number of entries of {_name(key)} has another checksum than when it was written")
        first, following = _RANGE.unpack_from(raw)
        return first, following

    def _chunk(self, key: bytes, number: int) -> bytes:
        stored: bytes | None = self._transaction.get(key + _CHUNK.pack(number), db=self._chunks)
        if stored is None:
            return b""
        if len(stored) % REFERENCE_BYTES != SUM.size or zlib.crc32(stored) != INTACT:
            raise HistoryDamaged(
                f"the entries of {_name(key)} from {number * ENTRIES_A_CHUNK} on have another checksum"
            )
        return stored[: -SUM.size]

    def _put_chunk(self, key: bytes, number: int, chunk: bytes) -> None:
        if chunk:
            stored = chunk + SUM.pack(zlib.crc32(chunk))
            self._transaction.put(key + _CHUNK.pack(number), stored, db=self._chunks)
        else:
            self._transaction.delete(key + _CHUNK.pack(number), db=self._chunks)

    def _put_range(self, key: bytes, first: int, following: int) -> None:
        """An account without entries has no range: new entries count from zero."""
        if first < following:
            packed = _RANGE.pack(first, following)
            self._transaction.put(key, packed + SUM.pack(zlib.crc32(packed)), db=self._ranges)
        else:
            self._transaction.delete(key, db=self._ranges)


def key_of(account: str) -> bytes:
    """The name with a terminator, so that no key is a prefix of another."""
    return account.encode("utf-8", "surrogateescape") + b"\0"


def name_of_chunk(key: bytes) -> str:
    return _name(key[: -_CHUNK.size])


def _name(key: bytes) -> str:
    return key[:-1].decode("utf-8", "surrogateescape")
