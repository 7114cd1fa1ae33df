"""Data directories of recorded chains, and states of their past blocks, for tests."""

from __future__ import annotations

import zlib
from collections.abc import Container, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import cast

from ledgerd.chain.chain import Chain
from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.node.config.configuration import read_configuration
from ledgerd.node.datadir.directory_blocks import DirectoryBlocks, directory_blocks
from ledgerd.node.datadir.past_state import UNFINISHED, MadeState, PastState
from ledgerd.protocol.types.identifiers import BlockId
from ledgerd.snapshot.file.directory import name_of
from tests.chain.networks import SMALL
from tests.chain.recorded_chains import network_of
from tests.recorded import recorded_snapshot

SETTINGS = {"chain": ["testnet"], "shared-file-size": ["64M"], "plugin": ["account_by_key database_api"]}
ARCHIVE = "block-archive"


@contextmanager
def blocks_of(data: Path) -> Iterator[DirectoryBlocks]:
    """The blocks of a data directory."""
    with directory_blocks(data / STATE_FOLDER, data / STATE_FOLDER, data / ARCHIVE) as blocks:
        yield blocks


class Interrupted(Exception):
    """A run ends here."""


class OtherBranch:
    """Blocks of a directory whose node has left some of those that it had."""

    def __init__(self, blocks: DirectoryBlocks, left: Container[int]) -> None:
        self.head_number, self.missing, self.scan = blocks.head_number, blocks.missing, blocks.scan
        self._blocks = blocks
        self._left = left

    def id_at(self, number: int) -> BlockId | None:
        """The id of a block, which is another one where the block was left."""
        return BlockId(bytes(20)) if number in self._left else self._blocks.id_at(number)


@contextmanager
def past_of(name: str, data: Path, at: int, target: Path, left: Container[int] = ()) -> Iterator[PastState]:
    """What makes the state at a block of a recorded chain."""
    configuration = read_configuration({**SETTINGS, "data-dir": [str(data)]}, data)
    with blocks_of(data) as blocks:
        yield PastState(configuration, network_of(name), cast("DirectoryBlocks", OtherBranch(blocks, left)), at, target)


def interrupted(name: str, data: Path, at: int, target: Path) -> None:
    """Begin to make a state, and end before the first block."""

    def interrupt(_: int) -> None:
        raise Interrupted

    with past_of(name, data, at, target) as past, suppress(Interrupted):
        past.begin()
        past.replay(interrupt)


def made(
    name: str, data: Path, at: int, target: Path, given: Path | None = None, *, with_genesis: bool = False
) -> MadeState:
    """The state at a block, made in one run."""
    with past_of(name, data, at, target) as past:
        past.begin(given, with_genesis=with_genesis)
        return past.replay()


def unfinished(name: str, target: Path) -> Chain:
    """The chain of a state that is not complete."""
    folder = target.with_name(target.name + UNFINISHED)
    return Chain.open_unlogged(folder, network_of(name), clock=lambda: 0.0, space=SMALL)


def written(folder: Path) -> dict[Path, int]:
    """When each file was written last, but for LMDB's list of readers, which it makes where there is none."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != "lock.mdb")
    return {path: path.stat().st_mtime_ns for path in files}


def keep_snapshot(name: str, data: Path, height: int) -> Path:
    """Lay a snapshot that the reference has written into the directory of the node's."""
    path = data / "snapshots" / name_of(height)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(zlib.compress(recorded_snapshot(f"{name}/state-{height}"), 1))
    return path
