"""The options of a shadow, and what its process is told. Loaded with every configuration, they know nothing of what is
compared.
"""

from __future__ import annotations

from pathlib import Path

import msgspec

from ledgerd.protocol.errors import OperatorError
from ledgerd.protocol.types.endpoint import LARGEST_PORT, Endpoint

DEFAULT_RATE = 10
LEAST_RATE = 5
"""With fewer requests a second, the questions of each block and round take longer than blocks and rounds."""
DEFAULT_PROCESSOR = 20
DEFAULT_SNAPSHOT_HOURS = 24
DEFAULT_SNAPSHOT_MIB = 2_048
MEBIBYTE = 1 << 20
FOLDER = "shadow"
"""The folder in the data directory with the record and the differences that were found."""


SnapshotPlace = Endpoint | Path
"""Where a node serves its snapshots, or the folder or file where it writes them."""


def read_snapshot_place(text: str) -> SnapshotPlace:
    """HOST:PORT, or a path. `OperatorError`: it is neither."""
    host, colon, port = text.rpartition(":")
    if not colon or "/" in text:
        if not text:
            raise OperatorError("there is no HOST:PORT, and no path of a folder or of a file")
        return Path(text)
    if not port.isascii() or not port.isdecimal() or not 0 < int(port[:6]) <= LARGEST_PORT or not host.strip("[]"):
        raise OperatorError(f"{text} is no HOST:PORT, and no path of a folder or of a file: a path needs a /")
    return Endpoint(host.removeprefix("[").removesuffix("]"), int(port))


class ShadowSettings(msgspec.Struct, frozen=True):
    """The node that is compared with this one, and what may be spent on that; without one there is no shadow."""

    url: str | None = None
    rate: int = DEFAULT_RATE
    """Requests a second to each of both nodes."""
    processor: int = DEFAULT_PROCESSOR
    """Percent of one core that the comparison takes at most."""
    snapshots: str | None = None
    """The place where the other node serves or writes its snapshots."""
    snapshots_hours: int = DEFAULT_SNAPSHOT_HOURS
    """Hours between two compared snapshots."""
    snapshots_most_mib: int = DEFAULT_SNAPSHOT_MIB
    """The most MiB of a fetched snapshot file."""
    required: bool = False
    most_behind: int = 0
    """Blocks by which our head may be above the block at which both were last found equal, for a block to be signed."""


class SnapshotTask(msgspec.Struct, frozen=True):
    """The places of the snapshots that are compared, how often, and the limits."""

    theirs: str
    """The place of those of the other node."""
    ours: str = ""
    """The place of our own; empty if there is none."""
    node: dict[str, list[str]] = {}
    """The options by which the configuration of our node is read, where its directory is on this machine: states of
    which it has written no snapshot are made from its blocks.
    """
    seconds: int = DEFAULT_SNAPSHOT_HOURS * 3_600
    """Seconds between two comparisons of snapshots."""
    most_bytes: int = DEFAULT_SNAPSHOT_MIB * MEBIBYTE
    processor: float = DEFAULT_PROCESSOR
    """Percent of one core."""


class ShadowOrder(msgspec.Struct, frozen=True):
    """The first message to the process of a shadow."""

    ours: str
    theirs: str
    folder: str
    rate: float
    processor: float
    """Percent of one core."""
    configuration: dict[str, str] = {}
    """Options of our node that a bundle may show."""
    snapshots: SnapshotTask | None = None
