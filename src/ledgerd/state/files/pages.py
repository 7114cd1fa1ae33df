"""The pages of an LMDB file, read without LMDB, which ends the process when it comes to a page that was cut off."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import BinaryIO

META_PAGES = 2
MAIN_DATABASE = 88
"""Where the meta page has the database of all others, behind that of free pages, which is not looked at."""
TRANSACTION_PLACE = 144
NO_PAGE = (1 << 64) - 1

BRANCH, LEAF = 0x01, 0x02
BIG, DATABASE = 0x01, 0x02
"""A node's value is in pages of its own, or is a database."""

_HEADER = struct.Struct("<QHHHH")
_NODE = struct.Struct("<HHHH")
_DATABASE = struct.Struct("<IHHQQQQQ")
_NUMBER = struct.Struct("<Q")
_COUNT = struct.Struct("<I")


def is_whole(file: BinaryIO, length: int, page_size: int) -> bool:
    """Whether all pages with data of the last commit are in a file of this length, and are what they should be."""
    try:
        return _Pages(file, length, page_size).are_there()
    except (struct.error, IndexError):
        return False


class _Pages:
    def __init__(self, file: BinaryIO, length: int, page_size: int) -> None:
        self._file = file
        self._count = length // page_size
        self._size = page_size
        self._roots: list[int] = []

    def are_there(self) -> bool:
        """From the main database of the later meta page on."""
        metas = [self._read(number) for number in range(META_PAGES)]
        meta = max(metas, key=lambda page: int(_NUMBER.unpack_from(page, TRANSACTION_PLACE)[0]))
        self._note_database(meta, MAIN_DATABASE)
        for _ in range(self._count):  # a damaged page may lead back to one above it
            if not self._roots:
                return True
            number = self._roots.pop()
            if number >= self._count or not self._is_sound(number):
                return False
        return False

    def _read(self, number: int) -> bytes:
        self._file.seek(number * self._size)
        return self._file.read(self._size)

    def _note_database(self, page: bytes, place: int) -> None:
        root = _DATABASE.unpack_from(page, place)[-1]
        if root != NO_PAGE:
            self._roots.append(root)

    def _is_sound(self, number: int) -> bool:
        """Whether a page is part of a tree; those below it are noted."""
        page = self._read(number)
        own, _, flags, lower, _ = _HEADER.unpack_from(page)
        if own != number or flags & (BRANCH | LEAF) not in {BRANCH, LEAF}:
            return False
        return all(self._follow(page, place, is_leaf=bool(flags & LEAF)) for place in _places(page, lower))

    def _follow(self, page: bytes, place: int, *, is_leaf: bool) -> bool:
        low, high, flags, key_size = _NODE.unpack_from(page, place)
        value = place + _NODE.size + key_size
        if not is_leaf:
            self._roots.append(low | high << 16 | flags << 32)
        elif flags & BIG:
            return self._has_value(_NUMBER.unpack_from(page, value)[0])
        elif flags & DATABASE:
            self._note_database(page, value)
        return True

    def _has_value(self, number: int) -> bool:
        if number >= self._count:
            return False
        count: int = _COUNT.unpack_from(self._read(number), _HEADER.size - _COUNT.size)[0]
        return 0 < count <= self._count - number


def _places(page: bytes, lower: int) -> Iterator[int]:
    for place in range(_HEADER.size, lower, 2):
        yield page[place] | page[place + 1] << 8
