"""Whether a followed data directory can be served: a small file in it, which whoever follows writes and API nodes read.

It says that the state is not to be served now, and why; and how far it is behind the node that is followed. A directory
without this file is that of a node.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

SERVING_STATUS_FILE = "following.json"
MOST_BYTES = 4_096

UNREADABLE = "the file that says how the state stands cannot be read"


class ServingStatus(msgspec.Struct, frozen=True, omit_defaults=True):
    """Whether a followed state can be served, and how far it is behind."""

    reason: str = ""
    """Why it is not to be served now, for clients to read; empty where it is."""
    behind: int = 0
    """Blocks that the followed node has and the state has not."""


def write_serving_status(data_dir: Path, status: ServingStatus) -> None:
    """Replace the file, so that a reader finds the former one or this one."""
    new = data_dir / f"{SERVING_STATUS_FILE}.new"
    new.write_bytes(msgspec.json.encode(status))
    new.replace(data_dir / SERVING_STATUS_FILE)


class ServingStatusFile:
    """The file as it is read, again only when it is another one."""

    def __init__(self, data_dir: Path) -> None:
        self._path = data_dir / SERVING_STATUS_FILE
        self._version = (0, 0)
        self._status: ServingStatus | None = None

    def read(self) -> ServingStatus | None:
        try:
            found = self._path.stat()
        except OSError:
            self._version, self._status = (0, 0), None
            return None
        if (found.st_ino, found.st_mtime_ns) != self._version:
            self._version, self._status = (found.st_ino, found.st_mtime_ns), self._parsed()
        return self._status

    def _parsed(self) -> ServingStatus:
        try:
            with self._path.open("rb") as file:
                return msgspec.json.decode(file.read(MOST_BYTES), type=ServingStatus)
        except (OSError, msgspec.DecodeError, UnicodeDecodeError):
            return ServingStatus(UNREADABLE)
