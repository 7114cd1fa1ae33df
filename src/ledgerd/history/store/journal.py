"""The journal of accounts: images of their parts after each block that changed them, from a block on. An image is
stored under kind, account and block, so that the one of any block is found by one search.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from zlib import crc32

from ledgerd.chain.ledger.events import BlockApplied
from ledgerd.chain.log.histories import PastAccount
from ledgerd.codec import codec_of
from ledgerd.history.errors import HistoryDamaged
from ledgerd.history.store.checksums import BLOCK_KEY, SUM, CheckedTable, with_sum
from ledgerd.projections.accounts.balances import Amounts, amounts_of
from ledgerd.projections.accounts.images import GONE, IMAGE_LAYOUT, IMAGES, AccountImage, ImageKind, VotedNames
from ledgerd.protocol.types.names import AccountName
from ledgerd.state.files.disk import Database, LmdbTransaction
from ledgerd.state.objects.accounts.accounts import ACCOUNTS

_KINDS = tuple(bytes((kind,)) for kind in ImageKind)
_END = b"\0"
"""Ends a name: no name has a zero byte."""
_LENGTH = struct.Struct(">H")


class AccountJournal(CheckedTable):
    """The images by kind, account and block, and in `changed` which of them each block has."""

    NAME = "accounts"
    FROM = b"accounts from"

    def __init__(self, transaction: LmdbTransaction, header: Database, images: Database, changed: Database) -> None:
        super().__init__(transaction, header, images)
        self._changed = changed

    @property
    def begins(self) -> int | None:
        """The block after which all accounts were written down: it, and those after it, can be asked for."""
        value = self._header_value()
        if value is None or value[BLOCK_KEY.size :] != IMAGE_LAYOUT:
            return None
        return int(BLOCK_KEY.unpack_from(value)[0])

    def begin(self, block: int, images: Iterable[AccountImage]) -> None:
        """Begin after a block, with the images that all accounts have after it; what was there before is removed."""
        self.forget()
        for kind, account, row in images:
            key = _name_of(kind, account) + BLOCK_KEY.pack(block)
            self._transaction.put(key, with_sum(key, row), db=self._table)
        self._begin_at(block, IMAGE_LAYOUT)

    def forget(self) -> None:
        for table in (self._table, self._changed):
            self._transaction.drop(table, delete=False)
        self._transaction.delete(self.FROM, db=self._header)

    def record(self, event: BlockApplied) -> None:
        """Record the images of a block. Where nobody gathers them, it is not known any more what accounts are."""
        images = event.found(IMAGES)
        if images is None:
            if self._transaction.get(self.FROM, db=self._header) is not None:
                self.forget()
        elif images and self.begins is not None:
            self._put(event.block.number, images)

    def copy(self, number: int, images: Iterable[AccountImage]) -> None:
        if self.begins is not None:
            self._put(number, images)

    def _put(self, number: int, images: Iterable[AccountImage]) -> None:
        block, entries, listed = BLOCK_KEY.pack(number), [], b""
        length, pack_sum = _LENGTH.pack, SUM.pack
        for kind, account, row in images:
            name = _KINDS[kind] + account.encode("utf-8", "surrogateescape") + _END
            listed += length(len(name)) + name
            key = name + block
            entries.append((key, row + pack_sum(crc32(row, crc32(key)))))
        if entries:
            # Together: one by one they take twice as long, and a node spends this time on every block.
            self._transaction.cursor(self._table).putmulti(entries)
            self._transaction.put(block, with_sum(block, listed), db=self._changed)

    def truncate(self, number: int) -> None:
        """Remove what is of blocks above this one; all of it, if what accounts were there is not known."""
        begins = self.begins
        if begins is None or number < begins:
            self.forget()
            return
        cursor = self._transaction.cursor(self._changed)
        while cursor.last() and cursor.key() > BLOCK_KEY.pack(number):
            block = cursor.key()
            for name in self._listed(block, cursor.value()):
                self._transaction.delete(name + block, db=self._table)
            cursor.delete()

    def purge(self, last: int) -> None:
        """Begin with this block: of each account only the newest image up to it stays, and those after it."""
        begins = self.begins
        if begins is None or last <= begins:
            return
        images = self._transaction.cursor(self._table)
        changed = self._transaction.cursor(self._changed)
        found = changed.set_range(BLOCK_KEY.pack(begins + 1))
        while found and b"" < changed.key() <= BLOCK_KEY.pack(last):
            block = changed.key()
            for name in self._listed(block, changed.value()):
                if images.set_key(name + block) and images.prev() and images.key()[: -BLOCK_KEY.size] == name:
                    images.delete()
            found = changed.delete()
        self._begin_at(last, IMAGE_LAYOUT)

    def account_at(self, account: AccountName, block: int) -> PastAccount | None:
        row = self._image(ImageKind.ACCOUNT, account, block)
        authority = self._image(ImageKind.AUTHORITY, account, block)
        metadata = self._image(ImageKind.METADATA, account, block)
        if row in {None, GONE}:
            return None
        if row is None or authority is None or metadata is None:
            raise HistoryDamaged(f"the journal lacks parts of {account}")
        votes = self._image(ImageKind.VOTES, account, block)
        names = codec_of(VotedNames).decode_exactly(votes) if votes else ()
        return PastAccount(row, authority, metadata, names)

    def amounts_at(self, account: AccountName, block: int) -> Amounts | None:
        row = self._image(ImageKind.ACCOUNT, account, block)
        return amounts_of(ACCOUNTS.codec.decode(row)) if row else None

    def images_of(self, number: int) -> list[AccountImage]:
        block = BLOCK_KEY.pack(number)
        raw = self._transaction.get(block, db=self._changed)
        if raw is None:
            return []
        return [AccountImage(*_kind_and_account(name), self._row(name + block)) for name in self._listed(block, raw)]

    def require_sound(self) -> None:
        if self.begins is None:
            return
        count = 0
        for key, raw in self._transaction.cursor(self._table):
            self._without_sum(key, raw)
            count += key[-BLOCK_KEY.size :] > BLOCK_KEY.pack(self.begins or 0)
        for block, raw in self._transaction.cursor(self._changed):
            if block > BLOCK_KEY.pack(self.begins or 0):
                for name in self._listed(block, raw):
                    self._row(name + block)
                    count -= 1
        if count:
            raise HistoryDamaged("the journal of accounts has images that no block has")

    def _image(self, kind: ImageKind, account: AccountName, block: int) -> bytes | None:
        name = _name_of(kind, account)
        wanted, cursor = name + BLOCK_KEY.pack(block), self._transaction.cursor(self._table)
        found = cursor.set_range(wanted)
        if not found or cursor.key() != wanted:
            found = cursor.prev() if found else cursor.last()
        if not found or cursor.key()[: -BLOCK_KEY.size] != name:
            return None
        return self._without_sum(cursor.key(), cursor.value())

    def _listed(self, block: bytes, raw: bytes) -> Iterator[bytes]:
        listed, place = self._without_sum(block, raw), 0
        while place < len(listed):
            end = place + _LENGTH.size + _LENGTH.unpack_from(listed, place)[0]
            yield listed[place + _LENGTH.size : end]
            place = end

    def _row(self, key: bytes) -> bytes:
        raw = self._transaction.get(key, db=self._table)
        if raw is None:
            raise HistoryDamaged("an image of an account is missing in the journal")
        return self._without_sum(key, raw)


def _name_of(kind: ImageKind, account: AccountName) -> bytes:
    return _KINDS[kind] + account.encode("utf-8", "surrogateescape") + _END


def _kind_and_account(name: bytes) -> tuple[ImageKind, AccountName]:
    return ImageKind(name[0]), AccountName(name[1:-1].decode("utf-8", "surrogateescape"))
