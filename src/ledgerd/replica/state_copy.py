"""The state of a replica: the entries of a node's state, byte for byte, and the digest of what was written here."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import lmdb
import msgspec

from ledgerd.chain.chain import CHAIN_ID
from ledgerd.replica.digest import MODULUS, hash_of, packed_digest, read_digest
from ledgerd.replica.ownership import MARK, refuse_state_of_node
from ledgerd.replica.source import NAMES
from ledgerd.state.change_frames import ChangeFault
from ledgerd.state.change_log import POSITION_VALUE
from ledgerd.state.disk import NEARLY_FULL, Disk, Space
from ledgerd.state.errors import StoreFull
from ledgerd.state.header import BEING_LOADED, FORMAT, FORMAT_KEY, LAYOUT_KEY, VALUE, read_revision, read_value
from ledgerd.state.lock import lock_writer
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.tables import layout

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ledgerd.state.change_frames import ChangedEntries, ChangedPart
    from ledgerd.state.disk import LmdbTransaction

OWN = "replica"
"""A database that the node's state does not have."""
DIGEST_KEY = b"digest"

POSITION_KEY = VALUE + POSITION_VALUE.encode()
LOADED_AT_ONCE = 8 << 20
APPLIED_AT_ONCE = 4 << 20
KEPT_BESIDE = 100
"""What an entry takes in memory besides its key and value, about."""
MOST_HEADER = 1 << 20
"""The header is in memory until the other rows are there; it has some hundreds of entries."""
LARGEST_REVISION = (1 << 32) - 1
PAGE = 4096
ENTRY_BESIDE, PAGE_BESIDE = 10, 16
"""What LMDB writes besides the key and the value of an entry, and on a page of its own for a large value."""


class StateCopy:
    """The state of a replica, open for writing."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        refuse_state_of_node(folder)
        (folder / MARK).touch()
        self._lock = lock_writer(folder)
        try:
            self._disk = Disk(folder, Space())
            databases = self._disk.open_databases((*NAMES, OWN))
            self._disk.commit()
        except BaseException:
            self._lock.close()
            raise
        self._own = databases[OWN]
        self._databases = [databases[name] for name in NAMES]
        self._layout = layout(STORED_TABLES).encode()
        self._pending: ChangedPart = {}
        self._pending_bytes = 0
        self._header: ChangedEntries = {}
        self._total = 0
        self._loaded_bytes = 0
        self._read()

    def _read(self) -> None:
        """Take what the last commit says; no write transaction is begun, which would belong to this thread."""
        header = self._databases[0]
        with self._disk.environment.begin() as transaction:
            digest = transaction.get(DIGEST_KEY, db=self._own)
            is_whole = (
                digest is not None
                and transaction.get(FORMAT_KEY, db=header) == FORMAT
                and transaction.get(LAYOUT_KEY, db=header) == self._layout
            )
            self.position = (read_value(transaction, header, POSITION_VALUE) or b"") if is_whole else b""
            """That of its last commit; empty where it has no whole state."""
            self.chain_id = (read_value(transaction, header, CHAIN_ID) or b"") if is_whole else b""
            self.head = read_revision(transaction, header) if is_whole else 0
        self._total = 0 if digest is None else read_digest(digest)

    # -- changes

    def add(self, part: ChangedPart) -> None:
        """Add changes; of one entry, the last one counts."""
        for number, entries in part.items():
            if not 0 <= number < len(NAMES):
                raise ChangeFault(f"changes of a database {number}")
            self._pending.setdefault(number, {}).update(entries)
            self._pending_bytes += sum([KEPT_BESIDE + len(key) + len(value or b"") for key, value in entries.items()])
        if self._pending_bytes > APPLIED_AT_ONCE:
            require_room(self.folder)
            self.apply()

    def apply(self) -> None:
        """Write what was added; the digest is that of what is there then."""
        try:
            self._apply()
        except lmdb.BadValsizeError as fault:
            raise ChangeFault(f"an entry that no state has: {fault}") from fault

    def _apply(self) -> None:
        pending, self._pending, self._pending_bytes = self._pending, {}, 0
        total = self._total
        for number, entries in pending.items():
            database = self._databases[number]
            transaction = self._disk.transaction
            for key, value in sorted(entries.items()):
                before = transaction.get(key, db=database)
                if before == value:
                    continue
                if before is not None:
                    total -= hash_of(number, key, before)
                if value is None:
                    transaction.delete(key, db=database)
                else:
                    transaction.put(key, value, db=database)
                    total += hash_of(number, key, value)
        self._total = total % MODULUS

    def commit(self, position: bytes, chain_id: bytes) -> None:
        """Make what was added durable, which leads to a position of a chain.

        Raises:
            ChangeFault: It leads elsewhere, or its header is none: with that, no new start would find a state.
        """
        require_room(self.folder)
        self.apply()
        transaction, header = self._disk.transaction, self._databases[0]
        if read_value(transaction, header, POSITION_VALUE) != position:
            raise ChangeFault("changes that lead elsewhere than they say")
        self._check_header(transaction, chain_id)
        transaction.put(DIGEST_KEY, packed_digest(self._total), db=self._own)
        self._disk.commit()
        self._read()

    def _check_header(self, transaction: LmdbTransaction, chain_id: bytes) -> None:
        header = self._databases[0]
        try:
            revision = read_revision(transaction, header)
        except msgspec.MsgspecError as fault:
            raise ChangeFault(f"a header with a revision that is none: {fault}") from fault
        if not 0 <= revision <= LARGEST_REVISION:
            raise ChangeFault(f"a header with the revision {revision}")
        if transaction.get(FORMAT_KEY, db=header) != FORMAT or transaction.get(LAYOUT_KEY, db=header) != self._layout:
            raise ChangeFault("a header of another version")
        if read_value(transaction, header, CHAIN_ID) != chain_id:
            raise ChangeFault("a header of another chain")

    @property
    def digest(self) -> bytes:
        """The digest of all that was added."""
        self.apply()
        return packed_digest(self._total)

    def abandon(self) -> None:
        """Forget what was not committed."""
        self._pending, self._pending_bytes, self._header = {}, 0, {}
        self._disk.abort()
        self._read()

    # -- a whole state

    def begin_loading(self) -> None:
        """Drop everything; until the end of the load nobody can take this for a state."""
        self.abandon()
        transaction = self._disk.transaction
        for database in (*self._databases, self._own):
            transaction.drop(database, delete=False)
        transaction.put(LAYOUT_KEY, BEING_LOADED.encode() + self._layout, db=self._databases[0])
        self._disk.commit()
        self._read()
        self._total = self._loaded_bytes = 0

    def load(self, rows: Mapping[int, Mapping[bytes, bytes | None]]) -> int:
        """Take rows of a whole state, which come in order; returns the bytes that they need in the file, about."""
        needed = 0
        for number, entries in rows.items():
            if not 0 <= number < len(NAMES) or None in entries.values():
                raise ChangeFault(f"rows of a database {number}")
            items = [(key, value) for key, value in entries.items() if value is not None]
            self._total += sum([hash_of(number, key, value) for key, value in items])
            needed += sum([stored_bytes(key, value) for key, value in items])
            if number == 0:
                self._write_header(items)
                continue
            try:
                _, added = self._disk.transaction.cursor(self._databases[number]).putmulti(items, append=True)
            except lmdb.BadValsizeError as fault:
                raise ChangeFault(f"a row that no state has: {fault}") from fault
            if added != len(items):
                raise ChangeFault(f"rows of {NAMES[number]} out of order")
            self._loaded_bytes += sum([len(key) + len(value) for key, value in items])
        if self._loaded_bytes > LOADED_AT_ONCE:
            self._disk.commit()
            self._loaded_bytes = 0
        return needed

    def _write_header(self, items: list[tuple[bytes, bytes]]) -> None:
        self._header.update(items)
        size = sum([len(key) + len(value or b"") for key, value in self._header.items()])
        if size > MOST_HEADER:
            raise ChangeFault(f"a header of {size} bytes")

    def end_loading(self, position: bytes, chain_id: bytes) -> None:
        """The state is whole: the header comes last, in one commit with the digest."""
        header, self._header = self._header, {}
        if LAYOUT_KEY not in header or header.get(POSITION_KEY) != position:
            raise ChangeFault("a whole state that is another than it was said to be")
        for key, value in header.items():
            self._disk.transaction.put(key, value or b"", db=self._databases[0])
        self._total %= MODULUS
        self.commit(position, chain_id)

    def forget(self) -> None:
        """This is no state of the node's: the next conversation begins with a whole one, after a restart too."""
        self.abandon()
        self._disk.transaction.delete(DIGEST_KEY, db=self._own)
        self._disk.commit()
        self._read()

    def grow(self) -> None:
        """Enlarge the map of the file; what was not committed is lost."""
        self._disk.grow()
        self.abandon()

    def close(self) -> None:
        """Close the file; what was not committed is lost."""
        self._disk.close()
        self._lock.close()


def stored_bytes(key: bytes, value: bytes) -> int:
    """What LMDB needs for an entry, at least: a large value has pages of its own."""
    needed = ENTRY_BESIDE + len(key)
    if needed + len(value) <= PAGE // 2:
        return needed + len(value)
    return needed - -(PAGE_BESIDE + len(value)) // PAGE * PAGE


def require_room(folder: Path) -> None:
    """Have a node fill the disk no further than this.

    Raises:
        StoreFull: Little is free.
    """
    free = shutil.disk_usage(folder).free
    if free < NEARLY_FULL:
        raise StoreFull(f"{free >> 20} MiB are free in {folder}, and what the node sends is not kept: free some space")
