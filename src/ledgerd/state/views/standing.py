"""How a followed data directory stands: a small file in it, which the process that follows writes and API nodes read.

It says that the state is not to be served now, and why; and how far it is behind the node that is followed. A directory
without this file is that of a node.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

STANDING_FILE = "following.json"
MOST_BYTES = 4_096

UNREADABLE = "the file that says how the state stands cannot be read"


class FollowedStanding(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a followed state stands."""

    reason: str = ""
    """Why it is not to be served now, for clients to read; empty where it is."""
    behind: int = 0
    """Blocks that the followed node has and the state has not."""


def write_standing(data_dir: Path, standing: FollowedStanding) -> None:
    """Replace the file, so that a reader finds the former one or this one."""
    new = data_dir / f"{STANDING_FILE}.new"
    new.write_bytes(msgspec.json.encode(standing))
    new.replace(data_dir / STANDING_FILE)


class StandingFile:
    """The file as it is read, again only when it is another one."""

    def __init__(self, data_dir: Path) -> None:
        self._path = data_dir / STANDING_FILE
        self._read = (0, 0)
        self._standing: FollowedStanding | None = None

    def look(self) -> FollowedStanding | None:
        try:
            found = self._path.stat()
        except OSError:
            self._read, self._standing = (0, 0), None
            return None
        if (found.st_ino, found.st_mtime_ns) != self._read:
            self._read, self._standing = (found.st_ino, found.st_mtime_ns), self._parsed()
        return self._standing

    def _parsed(self) -> FollowedStanding:
        try:
            with self._path.open("rb") as file:
                return msgspec.json.decode(file.read(MOST_BYTES), type=FollowedStanding)
        except (OSError, msgspec.DecodeError):
            return FollowedStanding(UNREADABLE)
