"""Builds the state of a snapshot in a folder of its own. The node then replaces its state by it."""

from __future__ import annotations

import shutil
from pathlib import Path

from ledgerd.protocol.parameters import ChainParameters
from ledgerd.snapshot.errors import SnapshotError
from ledgerd.snapshot.load import load
from ledgerd.snapshot.read import Snapshot
from ledgerd.state import Store
from ledgerd.state.disk import Space
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.objects.reversible import REVERSIBLE_BLOCKS, ReversibleBlock


def read_snapshot(file: Path) -> Snapshot:
    """The snapshot in a file; raises `SnapshotError` if it is invalid."""
    try:
        return Snapshot.from_path(file)
    except OSError as problem:
        raise SnapshotError(f"{file} cannot be read: {problem.strerror}") from problem


def build_state(
    folder: Path,
    snapshot: Snapshot,
    network: ChainParameters,
    space: Space,
    residual: int = 0,
    *,
    with_metadata: bool = False,
) -> None:
    """Build the state in an empty folder; `residual` and `with_metadata` are those of `load`.

    Raises:
        SnapshotError: The snapshot cannot be imported; the folder is removed.
    """
    try:
        with Store.open(folder, STORED_TABLES, space=space) as store:
            head = load(store, snapshot, network, residual, with_metadata=with_metadata)
            if head is not None:
                store.create(REVERSIBLE_BLOCKS, ReversibleBlock(number=head.number, packed=head.packed))
            store.commit()
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
