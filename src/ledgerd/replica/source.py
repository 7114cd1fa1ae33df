"""The state of a node as its server of changes reads it: commits as bytes, the log of changes, blocks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path

from ledgerd.archive.sealed import ArchivedBlocks
from ledgerd.basics.closing import Closing
from ledgerd.chain.log.block_log import BlockLogReader
from ledgerd.chain.log.rolling import RollingBlockLogReader
from ledgerd.chain.log.state_blocks import CHAIN_ID
from ledgerd.projections.kept import FOLDER
from ledgerd.projections.reading import NotOfOneCommit, ProjectionReader, both_of_one_commit
from ledgerd.projections.tables import PROJECTED_TABLES
from ledgerd.rpc.blocks.kept_blocks import KeptBlocks
from ledgerd.rpc.blocks.records import BlockRecords
from ledgerd.state.files import change_log
from ledgerd.state.files.disk import DATA_FILE, Database, LmdbTransaction
from ledgerd.state.files.header import database_names
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.objects.globals import DYNAMIC_GLOBAL_PROPERTIES
from ledgerd.state.tables.tables import layout
from ledgerd.state.views.reader import CommitView, StateReader

NAMES: Mapping[int, str] = {
    **dict(enumerate(database_names(STORED_TABLES))),
    **dict(enumerate(database_names(PROJECTED_TABLES), change_log.FIRST_BESIDE)),
}
"""The databases of a state, of which the first is the header, and those of its projections."""

HEADER_NUMBER = 0
LAYOUT = change_log.digest_of_layout(layout((*STORED_TABLES, *PROJECTED_TABLES)))


class HeldCommit(Closing):
    """One commit, as bytes. While it is open, the node's file cannot use the room again that commits free."""

    def __init__(self, reader: StateReader, projections: ProjectionReader) -> None:
        self._stack = ExitStack()
        self.view, kept = self._stack.enter_context(both_of_one_commit(reader, projections))
        self._databases: dict[int, tuple[LmdbTransaction, Database]] = {}
        for number, name in NAMES.items():
            view = self.view if number < change_log.FIRST_BESIDE else kept
            if isinstance(view, CommitView):
                transaction, databases, *_ = view.parts
                self._databases[number] = transaction, databases[name]
        self.position = self.view.meta(change_log.POSITION_VALUE) or b""
        self.chain_id = self.view.meta(CHAIN_ID) or b""
        self.revision = self.view.revision

    @property
    def irreversible(self) -> int:
        found = self.view.find(DYNAMIC_GLOBAL_PROPERTIES, 0)
        return 0 if found is None else found.last_irreversible_block_num

    def get(self, number: int, key: bytes) -> bytes | None:
        if number not in self._databases:
            return None
        transaction, database = self._databases[number]
        return transaction.get(key, db=database)

    def rows(self, number: int) -> Iterator[tuple[bytes, bytes]]:
        if number not in self._databases:
            return iter(())
        transaction, database = self._databases[number]
        return iter(transaction.cursor(database))

    def close(self) -> None:
        self._stack.close()


class NodeFiles:
    """The files of a node, read while it goes on writing."""

    def __init__(self, state: Path, logs: Path, archive: Path) -> None:
        self.state = state
        self.reader, self.projections = StateReader.open(state, STORED_TABLES), ProjectionReader(state)
        self.changes = change_log.ChangeLogReader(
            logs / change_log.CHANGES_FOLDER, change_log.digest_of_layout(layout(STORED_TABLES))
        )
        rolling = RollingBlockLogReader.open(logs)
        rolling.earlier = ArchivedBlocks(archive)
        self.blocks = KeptBlocks(BlockLogReader.open(logs), rolling)
        self.records = BlockRecords(logs)

    def snapshot(self) -> HeldCommit:
        """The last commit. `LogGap`: its projections are those of another one."""
        try:
            return HeldCommit(self.reader, self.projections)
        except NotOfOneCommit as problem:
            raise change_log.LogGap(str(problem)) from problem

    @property
    def size(self) -> int:
        files = (self.state / DATA_FILE, self.state / FOLDER / DATA_FILE)
        return sum(file.stat().st_size for file in files if file.exists())

    def close(self) -> None:
        self.reader.close()
        self.projections.close()
        self.changes.close()
