"""The embedded history of a data directory, which may come, go and be made again while an API node runs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ledgerd.chain.log.histories import History, HistoryView
from ledgerd.history.columns.source import HistorySource
from ledgerd.history.errors import HistoryDamaged
from ledgerd.history.following import HISTORY_FOLDER
from ledgerd.history.settings import HistorySettings
from ledgerd.rpc.call.errors import PlainError
from ledgerd.state.disk import DATA_FILE

NO_HISTORY = "There is no history in the data directory of this API node"


class DirectoryHistory(History):
    """The history that a directory has now."""

    def __init__(self, data_dir: Path, settings: HistorySettings) -> None:
        self._file = data_dir / HISTORY_FOLDER / DATA_FILE
        self._source = HistorySource(data_dir, settings)
        self._count_blocks = settings.count_blocks

    @property
    def count_blocks(self) -> int:
        return self._count_blocks

    @contextmanager
    def reading(self) -> Iterator[HistoryView]:
        try:
            history = self._source.opened()
        except HistoryDamaged:
            if self._file.exists():
                raise
            raise PlainError(NO_HISTORY) from None
        with history.reading() as view:
            yield view

    def forget(self) -> None:
        """Drop what is remembered of blocks: they were taken back."""
        self._source.close()
