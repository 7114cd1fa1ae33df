"""The history of a data directory as a consumer beside the node reads it, with the block logs that it refers to."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

from ledgerd.chain.log.block_log import BlockLogReader
from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.chain.log.rolling import RollingBlockLogReader
from ledgerd.history.embedded.kept_facts import KeptFacts
from ledgerd.history.embedded.reader import EmbeddedHistory
from ledgerd.history.errors import HistoryDamaged
from ledgerd.history.settings import HISTORY_FOLDER, HistorySettings
from ledgerd.state.files.disk import DATA_FILE


class HistorySource:
    """The history, which is opened at its first use, and again when the node has put another one in its place."""

    def __init__(self, data_dir: Path, settings: HistorySettings) -> None:
        self._folder = data_dir / HISTORY_FOLDER
        self._logs = data_dir / STATE_FOLDER
        self._settings = settings
        self._history: EmbeddedHistory | None = None
        self._readers: tuple[BlockLogReader, ...] = ()
        self._file = 0

    def __call__(self) -> AbstractContextManager[KeptFacts]:
        return self.opened().keeping(self.logged)

    def opened(self) -> EmbeddedHistory:
        """The history for queries; `HistoryDamaged` if there is none yet, or it cannot be read."""
        file = self._inode()
        if self._history is None or file != self._file:
            self.close()
            self._history, self._file = EmbeddedHistory.open(self._folder, self._logs, self._settings), file
            self._readers = BlockLogReader.open(self._logs), RollingBlockLogReader.open(self._logs)
        return self._history

    def _inode(self) -> int:
        try:
            return (self._folder / DATA_FILE).stat().st_ino
        except OSError as problem:
            raise HistoryDamaged(f"{self._folder}: {problem.strerror}") from problem

    def logged(self, number: int) -> bytes | None:
        return next((found for log in self._readers if (found := log.read(number)) is not None), None)

    def close(self) -> None:
        for reader in self._readers:
            reader.close()
        if self._history is not None:
            self._history.close()
        self._readers, self._history = (), None
