"""The state of a node as its server of changes reads it: commits as bytes, the log of changes, blocks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Self

from ledgerd.archive.sealed import ArchivedBlocks
from ledgerd.chain.chain import CHAIN_ID
from ledgerd.chain.log.block_log import BlockLogReader
from ledgerd.chain.log.rolling import RollingBlockLogReader
from ledgerd.rpc.blocks.kept_blocks import KeptBlocks
from ledgerd.rpc.blocks.records import BlockRecords
from ledgerd.state.change_log import CHANGES_FOLDER, POSITION_VALUE, ChangeLogReader, digest_of_layout
from ledgerd.state.header import database_names
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.objects.globals import DYNAMIC_GLOBAL_PROPERTIES
from ledgerd.state.reader import StateReader
from ledgerd.state.tables import layout

if TYPE_CHECKING:
    from ledgerd.state.disk import Database, LmdbTransaction
    from ledgerd.state.reader import CommitView

NAMES = tuple(database_names(STORED_TABLES))
"""The databases of a state; the first is the header."""

LAYOUT = digest_of_layout(layout(STORED_TABLES))


class HeldCommit:
    """One commit, as bytes. While it is open, the node's file cannot use the room again that commits free."""

    def __init__(self, reader: StateReader) -> None:
        self._stack = ExitStack()
        self.view: CommitView = self._stack.enter_context(reader.snapshot())
        transaction, databases, *_ = self.view.parts
        self.transaction: LmdbTransaction = transaction
        self.databases: list[Database] = [databases[name] for name in NAMES]
        self.position = self.view.meta(POSITION_VALUE) or b""
        self.chain_id = self.view.meta(CHAIN_ID) or b""
        self.revision = self.view.revision

    @property
    def irreversible(self) -> int:
        """The number of the last irreversible block."""
        found = self.view.find(DYNAMIC_GLOBAL_PROPERTIES, 0)
        return 0 if found is None else found.last_irreversible_block_num

    def get(self, number: int, key: bytes) -> bytes | None:
        """The value of a key in the database of a number."""
        return self.transaction.get(key, db=self.databases[number])

    def rows(self, number: int) -> Iterator[tuple[bytes, bytes]]:
        """Every entry of a database, by its key."""
        return iter(self.transaction.cursor(self.databases[number]))

    def close(self) -> None:
        """Let the commit go."""
        self._stack.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class NodeFiles:
    """What a node has written, read while it goes on writing."""

    def __init__(self, state: Path, logs: Path, archive: Path) -> None:
        self.state = state
        self.reader = StateReader.open(state, STORED_TABLES)
        self.changes = ChangeLogReader(logs / CHANGES_FOLDER, LAYOUT)
        rolling = RollingBlockLogReader.open(logs)
        rolling.earlier = ArchivedBlocks(archive)
        self.blocks = KeptBlocks(BlockLogReader.open(logs), rolling)
        self.records = BlockRecords(logs)

    def snapshot(self) -> HeldCommit:
        """The last commit."""
        return HeldCommit(self.reader)

    def close(self) -> None:
        """Close the state and the log of changes."""
        self.reader.close()
        self.changes.close()
