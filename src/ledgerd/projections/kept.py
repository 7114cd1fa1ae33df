"""The store of the projections of a state, in a folder of its own beside it, with what it says of itself."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import NamedTuple

import lmdb

from ledgerd.basics.closing import Closing
from ledgerd.basics.durable import sync_folder
from ledgerd.projections.projection import Projection
from ledgerd.projections.tables import PROJECTED_BLOCK, PROJECTED_TABLES, ProjectedBlock
from ledgerd.protocol.types.identifiers import NO_BLOCK, BlockId, ChainId
from ledgerd.state.conversion import Conversion, convert_store
from ledgerd.state.errors import StoreCorrupt, StoreOutdated
from ledgerd.state.files.disk import DATA_FILE, LOCKS, Space, failure
from ledgerd.state.files.header import STATE
from ledgerd.state.files.lock import swapping
from ledgerd.state.store import Store
from ledgerd.state.tables.tables import layout
from ledgerd.state.views.view import View

FOLDER = "projections"
"""The folder of the projections, inside the folder of the state."""

POSITION = "position"
"""The named value that no two commits of any store have in common. The state has that of the commit which belongs to
it, under the name `PROJECTIONS`.
"""
PROJECTIONS = "projections"
TOKEN_BYTES = COUNT_BYTES = 8

PROJECTION_STEPS: tuple[Conversion, ...] = ()
"""The conversions of this store, one for each format after that of version 1.0.0; the formats are those of
the state.
"""

NAMES, BEGUN, CHAIN = "names", "begun", "chain id"


def replace_projections(folder: Path, source: Path) -> None:
    """Put those of a state in another folder, if it has any, in the place of those of the one in this."""
    present, fresh = folder / FOLDER, source / FOLDER / DATA_FILE
    if fresh.exists():
        present.mkdir(exist_ok=True)
        with swapping(present):
            (present / LOCKS).unlink(missing_ok=True)
            fresh.replace(present / DATA_FILE)
        sync_folder(present)


class Beginning(NamedTuple):
    """The block behind which projections begin: the head of a state."""

    number: int
    block_id: BlockId
    chain_id: ChainId


class KeptProjections(Closing):
    """The tables, open for writing. Each block that changes something is one session, whose revision is its number."""

    def __init__(self, state_folder: Path, space: Space = Space()) -> None:  # noqa: B008 - immutable
        """The sizes are those of the state, and its log of changes has the changes of this too."""
        self.folder = state_folder / FOLDER
        self._space = space._replace(folder=None, is_beside=True)
        convert_store(self.folder, STATE, PROJECTION_STEPS, layout(PROJECTED_TABLES).encode())
        self.fault = ""
        """Why they are empty, where they are not those of before."""
        try:
            is_there = (self.folder / DATA_FILE).exists()
            self.store = self._opened() if is_there else self._emptied("there are none beside this state yet")
        except (StoreCorrupt, StoreOutdated) as problem:
            self.store = self._emptied(f"those that are there cannot be read ({problem})")

    def _opened(self) -> Store:
        try:
            return Store.open(self.folder, PROJECTED_TABLES, space=self._space)
        except lmdb.Error as problem:
            raise failure(self.folder, problem) from problem

    def _emptied(self, fault: str) -> Store:
        self.fault = fault
        self.leave_changes()
        with swapping(self.folder):
            for name in (DATA_FILE, LOCKS):
                (self.folder / name).unlink(missing_ok=True)
        return self._opened()

    def clear(self, fault: str) -> None:
        self.store.close()
        self.store = self._emptied(fault)

    def leave_changes(self) -> None:
        """Break with the log of changes: the projections were replaced, and what the log has does not lead to the new
        ones.
        """
        if self._space.changes is not None:
            self._space.changes.cut()

    @property
    def position(self) -> bytes:
        return self.store.meta(POSITION) or b""

    @property
    def names(self) -> frozenset[str]:
        """The projections that are kept without a gap since they were begun."""
        return frozenset(filter(None, (self.store.meta(NAMES) or b"").decode().split(",")))

    def set_names(self, names: Iterable[str]) -> None:
        self.store.set_meta(NAMES, ",".join(sorted(names)).encode())

    @property
    def begun(self) -> int:
        """The block behind which one of them was begun last."""
        return int(self.store.meta(BEGUN) or 0)

    @property
    def chain_id(self) -> bytes:
        return self.store.meta(CHAIN) or b""

    @property
    def last_block(self) -> BlockId:
        """The last block that has changed something; zeros if there is none."""
        found = self.store.find(PROJECTED_BLOCK, 0)
        return NO_BLOCK if found is None else found.block_id

    def set_last_block(self, block_id: BlockId) -> None:
        found = self.store.find(PROJECTED_BLOCK, 0) or self.store.create(PROJECTED_BLOCK, ProjectedBlock())
        with self.store.editing(found):
            found.block_id = block_id

    def begin(self, projections: Collection[Projection], state: View, head: Beginning) -> None:
        """Begin some of them after the head of a state. It is undone if that block is."""
        is_of_head = self.store.undoable > 0 and self.store.revision == head.number
        with self.store.begin(revision=head.number) as session:
            for projection in projections:
                projection.begin(state, self.store, head.number)
            self.set_last_block(head.block_id)
            if is_of_head:
                session.squash()
            else:
                session.push()
        self.store.set_meta(BEGUN, str(head.number).encode())
        self.store.set_meta(CHAIN, head.chain_id)
        self.set_names(self.names | {each.name for each in projections})

    def commit(self) -> bytes:
        """Make all durable; returns the position, which is to become durable with the state."""
        token, count = self.position[:TOKEN_BYTES], self.position[TOKEN_BYTES:]
        following = (int.from_bytes(count, "big") + 1).to_bytes(COUNT_BYTES, "big")
        position = (token or os.urandom(TOKEN_BYTES)) + following
        self.store.set_meta(POSITION, position)
        self.store.commit()
        return position

    def close(self) -> None:
        self.store.close()
