"""Two snapshots of one chain, an older and a newer one, and data directories that begin with them."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import NamedTuple

from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.protocol.networks.parameters import TESTNET
from ledgerd.snapshot.file.directory import name_of
from ledgerd.snapshot.file.export import create
from ledgerd.snapshot.file.read import Snapshot
from ledgerd.snapshot.importing.build import build_state, read_snapshot
from tests.chain.networks import SMALL, Network


class Made(NamedTuple):
    """Snapshots of one chain, and its network."""

    older: Path
    newer: Path
    source: Network

    def heads(self) -> tuple[int, int]:
        return Snapshot.from_path(self.older).head_number, Snapshot.from_path(self.newer).head_number


def written(network: Network, folder: Path) -> Path:
    path = folder / name_of(network.chain.head_number)
    network.chain.close()
    folder = network.folder / STATE_FOLDER
    create(folder, folder, network.chain.network, path, 0)
    network.reopen()
    return path


def begun_with(data: Path, file: Path) -> None:
    """A data directory with the state of a snapshot, which is built once."""
    built = file.parent.with_name(f"{file.parent.name}-built")
    if not built.exists():
        build_state(built, read_snapshot(file), TESTNET, SMALL)
    shutil.copytree(built, data / STATE_FOLDER)
