"""The archive: irreversible blocks in sealed files by ranges of numbers, and their list (spec 11, section 9.7)."""

from __future__ import annotations

import hashlib
import os
import re
from bisect import bisect_right
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ledgerd.basics.durable import sync_folder
from ledgerd.chain.log.block_log import BlockLogReader
from ledgerd.chain.log.files import LARGEST_ENTRY, OFFSET, LogKind, paths_of, sums_path
from ledgerd.state.files.lock import swapping

SEALED_NAME = re.compile(r"blocks-(\d{10})-(\d{10})\.log", re.ASCII)

LATEST = 0xFFFFFFFF

MOST_OPEN = 4
"""Files that are held open; each takes three descriptors."""

LIST_NAME = "SHA256SUMS"
MOST_BYTES = 16 << 20
"""Bytes of a list, which are enough for a hundred thousand files."""
LIST_LINE = re.compile(r"([0-9a-f]{64}) [ *](\S+)", re.ASCII)


class SealedFile(NamedTuple):
    """A file of the archive, by the numbers of its first and its last block, which are its name."""

    first: int
    last: int

    @property
    def name(self) -> str:
        return f"blocks-{self.first:010}-{self.last:010}.log"

    @property
    def most_bytes(self) -> int:
        return (self.last - self.first + 1) * LARGEST_ENTRY

    @property
    def kind(self) -> LogKind:
        remedy = "delete this file and those beside it that begin with its name, and fetch it again with "
        return LogKind(self.name, OFFSET.size, remedy + "`ledgerd archive fetch`")

    @classmethod
    def named(cls, name: str) -> SealedFile | None:
        found = SEALED_NAME.fullmatch(name)
        if found is None:
            return None
        file = cls(int(found[1]), int(found[2]))
        return file if 0 < file.first <= file.last <= LATEST else None


def sealed_files(folder: Path) -> list[SealedFile]:
    try:
        names = [path.name for path in folder.iterdir()]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(file for name in names if (file := SealedFile.named(name)) is not None)


def seal(source: Path, kind: LogKind, folder: Path, file: SealedFile) -> None:
    """Move a whole log to its place; the blocks come last, so that a file with a name is complete."""
    data, index = paths_of(source, kind)
    sealed_data, sealed_index = paths_of(folder, file.kind)
    index.replace(sealed_index)
    sums = sums_path(source, kind)
    if sums.exists():
        sums.replace(sums_path(folder, file.kind))
    data.replace(sealed_data)
    sync_folder(folder)
    _announce(folder)


def _announce(folder: Path) -> None:
    """Give the folder another time: the system may give two changes that follow one another the same one."""
    now = folder.stat()
    os.utime(folder, ns=(now.st_atime_ns, now.st_mtime_ns + 1))


class ArchivedBlocks:
    """The blocks of an archive, for reading."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._changed = -1
        self._files: list[SealedFile] = []
        self._runs: list[SealedFile] = []
        """The ranges without a gap, in their order."""
        self._open: dict[SealedFile, BlockLogReader] = {}

    def read(self, number: int) -> bytes | None:
        """A block, packed; raises `LogDamaged` where its bytes are not those that were sealed."""
        file = self._file_of(number)
        return None if file is None else self._reader(file).read(number)

    def scan(self, first: int, last: int) -> Iterator[tuple[int, bytes]]:
        while first <= last:
            file = self._file_of(first)
            if file is None:
                return
            begins = first
            for number, packed in self._reader(file).scan(first, min(last, file.last)):
                yield number, packed
                first = number + 1
            if first == begins:
                return

    def first_before(self, number: int) -> int:
        """The first block from which none is missing below a number; that number where its predecessor is missing."""
        self._refresh()
        place = bisect_right(self._runs, (number - 1, LATEST)) - 1
        return self._runs[place].first if place >= 0 and self._runs[place].last >= number - 1 else number

    def _file_of(self, number: int) -> SealedFile | None:
        self._refresh()
        place = bisect_right(self._files, (number, LATEST))
        return next((file for file in reversed(self._files[:place]) if file.last >= number), None)

    def _refresh(self) -> None:
        try:
            changed = self._folder.stat().st_mtime_ns
        except OSError:
            changed = 0
        if changed != self._changed:
            self._changed = changed
            self._files = sealed_files(self._folder)
            self._runs = merged(self._files)
            for file in [each for each in self._open if each not in self._files]:
                self._open.pop(file).close()

    def _reader(self, file: SealedFile) -> BlockLogReader:
        reader = self._open.pop(file, None) or BlockLogReader.open(self._folder, file.kind)
        self._open[file] = reader
        if len(self._open) > MOST_OPEN:
            self._open.pop(next(iter(self._open))).close()
        return reader

    def close(self) -> None:
        while self._open:
            self._open.popitem()[1].close()


def merged(files: list[SealedFile]) -> list[SealedFile]:
    runs: list[SealedFile] = []
    for file in files:
        if runs and file.first <= runs[-1].last + 1:
            runs[-1] = runs[-1]._replace(last=max(runs[-1].last, file.last))
        else:
            runs.append(file)
    return runs


def list_sums(folder: Path) -> None:
    """Write the list again. A node that writes the archive and a process that fetches take turns."""
    path = folder / LIST_NAME
    with swapping(folder):
        known = listed(path.read_text(encoding="utf-8", errors="replace")) if path.exists() else {}
        lines = [f"{known.get(file) or sha256_of(folder / file.name)}  {file.name}\n" for file in sealed_files(folder)]
        new = path.with_name(f"{LIST_NAME}.new")
        new.write_text("".join(lines), encoding="utf-8")
        new.replace(path)
        sync_folder(folder)


def listed(text: str) -> dict[SealedFile, str]:
    found = {}
    for line in text.splitlines():
        match = LIST_LINE.fullmatch(line)
        file = SealedFile.named(match[2]) if match is not None else None
        if match is not None and file is not None:
            found[file] = match[1]
    return found


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
