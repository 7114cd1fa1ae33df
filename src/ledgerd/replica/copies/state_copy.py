"""The state of a replica: the entries of a node's state, byte for byte, and the digest of what was written here."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

import lmdb
import msgspec

from ledgerd.basics.closing import on_error
from ledgerd.chain.log.state_blocks import CHAIN_ID
from ledgerd.projections.kept import FOLDER
from ledgerd.replica.copies.copied_file import CopiedFile
from ledgerd.replica.copies.ownership import MARK, refuse_state_of_node
from ledgerd.replica.digest import packed_digest
from ledgerd.replica.source import HEADER_NUMBER, NAMES
from ledgerd.state.errors import StoreFull
from ledgerd.state.files.change_frames import ChangeFault
from ledgerd.state.files.change_log import FIRST_BESIDE, POSITION_VALUE
from ledgerd.state.files.disk import DATA_FILE, NEARLY_FULL, LmdbTransaction
from ledgerd.state.files.header import BEING_LOADED, FORMAT, FORMAT_KEY, LAYOUT_KEY, VALUE, read_revision, read_value
from ledgerd.state.files.lock import lock_writer
from ledgerd.state.files.recording import ChangedEntries, FileChanges
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.tables.tables import layout

POSITION_KEY = VALUE + POSITION_VALUE.encode()
LOADED_AT_ONCE = 8 << 20
"""Bytes of a whole state that are written in one transaction."""
APPLIED_AT_ONCE = 4 << 20
"""Bytes of changes that wait in memory before they are written."""
KEPT_BESIDE = 100
"""Bytes of memory for an entry besides its key and value, about."""
MOST_HEADER = 1 << 20
"""The header is in memory until the other rows are there; it has some hundreds of entries."""
LARGEST_REVISION = (1 << 32) - 1
"""The highest number of a block."""
PAGE = 4096
ENTRY_BESIDE, PAGE_BESIDE = 10, 16
"""Bytes that LMDB writes besides the key and the value of an entry, and on a page of its own for a large value."""


class StateCopy:
    """The state of a replica and its projections, open for writing. The projections are committed first: what a kill
    leaves of a commit is taken again.
    """

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        refuse_state_of_node(folder)
        (folder / MARK).touch()
        self._lock = lock_writer(folder)
        beside = {number: name for number, name in NAMES.items() if number >= FIRST_BESIDE}
        self._opened = ExitStack()
        with on_error(self.close):
            self._projections = self._open(folder / FOLDER, beside)
            self._state = self._open(folder, {number: NAMES[number] for number in NAMES.keys() - beside.keys()})
        self._layout = layout(STORED_TABLES).encode()
        self._pending: FileChanges = {}
        self._pending_bytes = 0
        self._header: ChangedEntries = {}
        self._loaded_bytes = 0
        self._read()

    def _open(self, folder: Path, names: Mapping[int, str]) -> CopiedFile:
        opened = CopiedFile(folder, names)
        self._opened.callback(opened.close)
        return opened

    def _file_of(self, number: int) -> CopiedFile:
        return self._state if number < FIRST_BESIDE else self._projections

    def _read(self) -> None:
        header = self._state.header
        with self._state.reading() as transaction:
            is_whole = (
                self._state.is_whole
                and self._projections.is_whole
                and transaction.get(FORMAT_KEY, db=header) == FORMAT
                and transaction.get(LAYOUT_KEY, db=header) == self._layout
            )
            self.position = (read_value(transaction, header, POSITION_VALUE) or b"") if is_whole else b""
            """The position of its last commit; empty if it has no complete state."""
            self.chain_id = (read_value(transaction, header, CHAIN_ID) or b"") if is_whole else b""
            self.head = read_revision(transaction, header) if is_whole else 0

    # -- changes

    def add(self, part: FileChanges) -> None:
        """Add changes; of one entry, the last one counts."""
        for number, entries in part.items():
            if number not in NAMES:
                raise ChangeFault(f"changes of a database {number}")
            self._pending.setdefault(number, {}).update(entries)
            self._pending_bytes += sum([KEPT_BESIDE + len(key) + len(value or b"") for key, value in entries.items()])
        if self._pending_bytes > APPLIED_AT_ONCE:
            require_room(self.folder)
            self.apply()

    def apply(self) -> None:
        pending, self._pending, self._pending_bytes = self._pending, {}, 0
        try:
            for number, entries in pending.items():
                self._file_of(number).write(number, entries)
        except lmdb.BadValsizeError as fault:
            raise ChangeFault(f"an entry that no state has: {fault}") from fault

    def commit(self, position: bytes, chain_id: bytes) -> None:
        """Make what was added durable, which leads to a position of a chain. `ChangeFault`: it leads elsewhere, or its
        header is none: with that, no new start would find a state.
        """
        require_room(self.folder)
        self.apply()
        transaction = self._state.transaction
        if read_value(transaction, self._state.header, POSITION_VALUE) != position:
            raise ChangeFault("changes that lead elsewhere than they say")
        self._check_header(transaction, chain_id)
        for file in (self._projections, self._state):
            file.commit()
        self._read()

    def _check_header(self, transaction: LmdbTransaction, chain_id: bytes) -> None:
        header = self._state.header
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
    def size(self) -> int:
        return sum((folder / DATA_FILE).stat().st_size for folder in (self.folder, self.folder / FOLDER))

    @property
    def digest(self) -> bytes:
        self.apply()
        return packed_digest(self._state.total + self._projections.total)

    def abandon(self) -> None:
        self._pending, self._pending_bytes, self._header = {}, 0, {}
        for file in (self._projections, self._state):
            file.abort()
        self._read()

    # -- a whole state

    def begin_loading(self) -> None:
        """Drop everything; until the end of the load nobody can take this for a state."""
        self.abandon()
        for file in (self._state, self._projections):
            file.drop()
        self._state.write(HEADER_NUMBER, {LAYOUT_KEY: BEING_LOADED.encode() + self._layout})
        self._commit_rows()
        self._read()

    def load(self, rows: Mapping[int, Mapping[bytes, bytes | None]]) -> int:
        """Take rows of a whole state, which come in order; returns the bytes that they need in the file, about."""
        needed = 0
        for number, entries in rows.items():
            if number not in NAMES or None in entries.values():
                raise ChangeFault(f"rows of a database {number}")
            items = [(key, value) for key, value in entries.items() if value is not None]
            needed += sum([stored_bytes(key, value) for key, value in items])
            if number == HEADER_NUMBER:
                self._write_header(items)
                continue
            try:
                is_in_order = self._file_of(number).append(number, items)
            except lmdb.BadValsizeError as fault:
                raise ChangeFault(f"a row that no state has: {fault}") from fault
            if not is_in_order:
                raise ChangeFault(f"rows of {NAMES[number]} out of order")
            self._loaded_bytes += sum([len(key) + len(value) for key, value in items])
        if self._loaded_bytes > LOADED_AT_ONCE:
            self._commit_rows()
        return needed

    def _commit_rows(self) -> None:
        for file in (self._state, self._projections):
            file.commit_part()
        self._loaded_bytes = 0

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
        self._state.write(HEADER_NUMBER, header)
        self._projections.touch()
        self.commit(position, chain_id)

    def forget(self) -> None:
        """This is no state of the node's: the next conversation begins with a whole one, after a restart too."""
        self.abandon()
        self._state.forget()
        self._read()

    def grow(self) -> None:
        """Enlarge the maps of the files; what was not committed is lost."""
        for file in (self._state, self._projections):
            file.grow()
        self.abandon()

    def close(self) -> None:
        self._opened.close()
        self._lock.close()


def stored_bytes(key: bytes, value: bytes) -> int:
    """The least bytes that LMDB needs for an entry: a large value has pages of its own."""
    needed = ENTRY_BESIDE + len(key)
    if needed + len(value) <= PAGE // 2:
        return needed + len(value)
    return needed - -(PAGE_BESIDE + len(value)) // PAGE * PAGE


def require_room(folder: Path) -> None:
    """Have a node fill the disk no further than this. `StoreFull`: little is free."""
    free = shutil.disk_usage(folder).free
    if free < NEARLY_FULL:
        raise StoreFull(f"{free >> 20} MiB are free in {folder}, and what the node sends is not kept: free some space")
