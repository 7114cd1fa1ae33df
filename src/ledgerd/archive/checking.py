"""Proves every file of an archive again, by the blocks that follow it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from ledgerd.archive.errors import ArchiveRefused
from ledgerd.archive.known import KnownBlocks
from ledgerd.archive.proof import Proven, prove
from ledgerd.archive.sealed import SealedFile, sealed_files
from ledgerd.chain.log.files import OFFSET, paths_of


def check_archive(folder: Path, known: KnownBlocks, said: Callable[[int], None] = lambda _: None) -> Iterator[str]:
    """What is wrong, a line for each file, from the newest down; `said` is called with how many blocks were read."""
    read = 0
    for file in reversed(sealed_files(folder)):
        fault = _fault_of(folder, file, known)
        if fault:
            yield fault
        read += file.last - file.first + 1
        said(read)


def _fault_of(folder: Path, file: SealedFile, known: KnownBlocks) -> str:
    last_id = known.id_at(file.last)
    if last_id is None:
        return f"{file.name} cannot be proven: the block behind it is missing"
    try:
        proven = prove(folder / file.name, file, last_id)
    except ArchiveRefused as problem:
        return str(problem)
    return "" if _has_index(folder, file, proven) else f"the index of {file.name} is wrong: delete both, and fetch them"


def _has_index(folder: Path, file: SealedFile, proven: Proven) -> bool:
    index = paths_of(folder, file.kind)[1]
    wanted = OFFSET.pack(file.first) + b"".join(map(OFFSET.pack, proven.offsets))
    return index.is_file() and index.read_bytes() == wanted
