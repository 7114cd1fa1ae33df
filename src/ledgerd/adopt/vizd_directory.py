"""The data directory of a `vizd`: where its files are (spec 06, section 7), and whether one runs on it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from ledgerd.basics.durable import open_file
from ledgerd.node.config.ini import IniEntry, InvalidLine, parse_ini
from ledgerd.protocol.errors import OperatorError
from ledgerd.snapshot.file.directory import StoredSnapshot, kept_in

LOG_FOLDERS = ("state", "blockchain")
"""Folders with block logs: the first one since 2020, the second in older programs."""

FULL_LOG, ROLLING_LOG = "block_log", "dlt_block_log"
CONFIGURATION = "config.ini"
SNAPSHOTS = "snapshots"
OUR_STATE = Path("state", "data.mdb")

LARGEST_CONFIGURATION = 256 << 10
"""Bytes: the longest that programs have written by themselves has 20 KiB."""

MOST_INVALID = 100
"""Lines of a configuration that are no options."""

MOST_SNAPSHOTS = 8
"""Snapshots that are tried, the newest first: programs keep a few."""

PROCESSES = Path("/proc")
LOCKS = PROCESSES / "locks"


class AdoptionRefused(OperatorError):
    """A directory cannot be adopted; nothing was changed."""


class VizdDirectory(NamedTuple):
    """The contents of a data directory."""

    folder: Path
    configuration: Path | None
    full_log: Path | None
    """A block log that holds something; it need not be whole."""
    rolling_log: Path | None
    snapshots: tuple[StoredSnapshot, ...]
    """The newest first."""

    @property
    def places(self) -> tuple[Path, ...]:
        files = [self.configuration, self.full_log, self.rolling_log, *(each.path for each in self.snapshots)]
        found = {file.resolve().parent for file in files if file is not None}
        return (self.folder.resolve(), *sorted(found - {self.folder.resolve()}))


def configuration_text(path: Path) -> str:
    try:
        with open_file(path) as file:
            raw = file.read(LARGEST_CONFIGURATION + 1)
    except OSError as problem:
        raise AdoptionRefused(f"{path} cannot be read: {problem.strerror}") from problem
    if len(raw) > LARGEST_CONFIGURATION:
        raise AdoptionRefused(
            f"{path} has more than {LARGEST_CONFIGURATION:,} bytes, and is no configuration: shorten it in a copy of "
            "the directory, and adopt that"
        )
    return raw.decode("utf-8", "replace")


def inspect_directory(folder: Path) -> VizdDirectory:
    if not folder.is_dir():
        raise AdoptionRefused(f"{folder} is no directory: name the data directory of a vizd")
    if (folder / OUR_STATE).exists():
        raise AdoptionRefused(f"{folder} is a data directory of ledgerd: it needs no adoption")
    logs = [folder / name for name in LOG_FOLDERS]
    configuration = folder / CONFIGURATION
    found = VizdDirectory(
        folder,
        configuration if configuration.is_file() else None,
        _first_filled(place / FULL_LOG for place in logs),
        _first_filled(place / ROLLING_LOG for place in logs),
        tuple(sorted(_snapshots(folder, configuration), key=lambda each: -each.number)[:MOST_SNAPSHOTS]),
    )
    if found.full_log is None and not found.snapshots:
        rolling = f", and {found.rolling_log} cannot be begun with" if found.rolling_log else ""
        raise AdoptionRefused(
            f"{folder} has no block log with blocks ({' or '.join(str(place / FULL_LOG) for place in logs)}), and no "
            f"snapshot{rolling}: start ledgerd with an empty directory instead, which it fills from trusted peers"
        )
    return found


def _first_filled(paths: Iterable[Path]) -> Path | None:
    """The first file with blocks: one without has a byte, or none."""
    return next((path for path in paths if path.is_file() and path.stat().st_size > 1), None)


def _snapshots(folder: Path, configuration: Path) -> set[StoredSnapshot]:
    places = {folder / SNAPSHOTS}
    if configuration.is_file():
        entries = entries_of(configuration_text(configuration))
        places |= {folder / entry.value for entry in entries if entry.key == "snapshot-dir" and entry.value}
    return {each for place in places for each in kept_in(place)}


def entries_of(text: str) -> Iterator[IniEntry]:
    """A line that is no option does not hide the others, and has no name here."""
    rest = text.split("\n")
    for _ in range(MOST_INVALID):
        try:
            yield from parse_ini("\n".join(rest))
        except InvalidLine as problem:
            yield IniEntry(problem.number, "", "", "")
            rest[problem.number - 1] = ""
        else:
            return
    raise AdoptionRefused(f"{MOST_INVALID} lines of config.ini are no options and no sections: is it a configuration?")


def require_elsewhere(sources: Iterable[Path], target: Path) -> None:
    other = target.resolve()
    for source in sources:
        one = source.resolve()
        if one == other or one in other.parents or other in one.parents:
            raise AdoptionRefused(
                f"{target} and {source} are not apart: nothing is written where the vizd keeps its files"
            )


def require_unused(folder: Path, *more: Path) -> None:
    """Refuse while a process has files of a directory open, or locked; of others too, where links lead there."""
    whole = [each.resolve() for each in (folder, *more)]
    for process, path in _open_files():
        if any(map(path.is_relative_to, whole)) and process != os.getpid():
            raise AdoptionRefused(
                f"process {process} has {path} open: stop the vizd that runs on {folder} (its files change while it "
                "runs), or adopt a copy of the directory"
            )
    locked = _locked_files()
    for path in (path for each in whole for path in each.rglob("*")) if locked else ():
        if path.is_file() and (facts := path.stat()) and (facts.st_dev, facts.st_ino) in locked:
            raise AdoptionRefused(f"{path} is locked by a process: stop the vizd that runs on {folder}")


def _open_files() -> list[tuple[int, Path]]:
    found: list[tuple[int, Path]] = []
    for process in PROCESSES.glob("[0-9]*"):
        try:
            found += [(int(process.name), name.readlink()) for name in (process / "fd").iterdir()]
        except OSError:
            continue  # it has ended, or belongs to somebody else
    return found


def _locked_files() -> set[tuple[int, int]]:
    """Device and inode of every locked file of this machine, by anybody."""
    locked = set()
    try:
        lines = LOCKS.read_text(encoding="ascii").splitlines()
    except OSError:
        return set()
    for line in lines:
        words = [word for word in line.split() if word.count(":") == 2]
        for major, minor, inode in (word.split(":") for word in words):
            locked.add((os.makedev(int(major, 16), int(minor, 16)), int(inode)))
    return locked
