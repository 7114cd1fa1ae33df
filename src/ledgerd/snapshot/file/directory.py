"""The directory of the snapshots (spec 06, sections 8.1, 12.5 and 13). Other files in it are never touched."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ledgerd.basics.durations import DAY

NAMED = re.compile(r"snapshot-block-([0-9]+)")
SUFFIXES = (".vizjson", ".json")
PARTIAL = ".part"
DOWNLOAD = "snapshot-download-temp.vizjson"
LARGEST_NUMBER = (1 << 32) - 1
"""The highest number of a block."""


class StoredSnapshot(NamedTuple):
    """A snapshot in the directory."""

    number: int
    path: Path


def name_of(number: int) -> str:
    return f"snapshot-block-{number}.vizjson"


def number_in(name: str) -> int:
    """The block in the name of a snapshot; 0 for other names."""
    found = NAMED.search(name)
    if found is None or not name.endswith(SUFFIXES) or len(found[1]) > 10:
        return 0
    number = int(found[1])
    return number if number <= LARGEST_NUMBER else 0


def kept_in(folder: Path) -> Iterator[StoredSnapshot]:
    try:
        entries = sorted(folder.iterdir())
    except OSError:
        return
    for path in entries:
        number = number_in(path.name)
        if number and path.is_file():
            yield StoredSnapshot(number, path)


def newest_in(folder: Path, *, below: int | None = None) -> StoredSnapshot | None:
    fitting = (each for each in kept_in(folder) if below is None or each.number < below)
    return max(fitting, key=lambda each: each.number, default=None)


def make_directory(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / DOWNLOAD).unlink(missing_ok=True)
    for path in folder.glob(f"snapshot-block-*{PARTIAL}"):
        path.unlink(missing_ok=True)


def drop_old(folder: Path, now: float, days: int) -> list[Path]:
    """Except the newest; returns the deleted ones."""
    newest = newest_in(folder)
    gone = []
    for each in kept_in(folder) if days else ():
        if each != newest and each.path.stat().st_mtime < now - days * DAY:
            each.path.unlink(missing_ok=True)
            gone.append(each.path)
    return gone
