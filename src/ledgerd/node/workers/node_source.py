"""What a worker of a node answers from: the state that the node writes, and what its main process sends."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from contextlib import aclosing
from pathlib import Path

from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.history.embedded.reader import EmbeddedHistory
from ledgerd.history.settings import HISTORY_FOLDER
from ledgerd.node.config.options.application import OPERATION_HISTORY
from ledgerd.node.workers.settings import WorkerSettings
from ledgerd.projections.reading import ProjectionReader
from ledgerd.rpc.api.node.dev_api import DEV_API, REVERTED
from ledgerd.rpc.api.node.node_status import LatestStatus
from ledgerd.rpc.call.cache import MOST_BYTES
from ledgerd.rpc.http.routes import NodeHealth
from ledgerd.rpc.http.service import PageRoutes, Service
from ledgerd.rpc.link.link import Link
from ledgerd.rpc.link.topics import PENDING, STATUS, PendingReader
from ledgerd.state.files.disk import DATA_FILE
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.views.reader import StateReader

CHECK_SECONDS = 0.25


class NodeSource:
    """The last commit of a node, with the changes of its pending transactions."""

    cached_bytes = MOST_BYTES

    def __init__(self, link: Link, settings: WorkerSettings) -> None:
        self.main = link
        self._archive, data_dir = Path(settings.archive), Path(settings.data_dir)
        self._pending = PendingReader(StateReader.open(Path(settings.state), STORED_TABLES), STORED_TABLES)
        self.reading = self._pending.snapshot
        self.projections = ProjectionReader(Path(settings.state)).snapshot
        self.status = LatestStatus()
        self.history: EmbeddedHistory | None = None
        self._history_file: Path | None = None
        if OPERATION_HISTORY in settings.plugins:
            folder = data_dir / HISTORY_FOLDER
            self._history_file = folder / DATA_FILE
            self.history = EmbeddedHistory.open(folder, data_dir / STATE_FOLDER, settings.history)
        self._is_reverted = DEV_API.name in settings.plugins

    def pages(self, pages: PageRoutes, _health: NodeHealth) -> PageRoutes:
        return pages

    def connect(self, service: Service) -> None:
        cache = service.dispatcher.cache

        def pending_changed(payload: bytes) -> None:
            self._pending.receive(payload)
            cache.clear()

        self.main.on(PENDING, pending_changed)
        self.main.on(STATUS, self.status.receive_status)

    def begin(self, service: Service) -> None:
        tasks, clear = self.main.tasks, service.dispatcher.cache.clear
        tasks.begin(watch_past(self._archive, self._history_file, clear))
        if self.history is not None and self._is_reverted:
            tasks.begin(self._forget_reverted(self.history))

    async def _forget_reverted(self, history: EmbeddedHistory) -> None:
        async with aclosing(self.main.events(REVERTED)) as events:
            async for _ in events:
                history.forget()


async def watch_past(archive: Path, history: Path | None, changed: Callable[[], None]) -> None:
    known = _marks(archive, history)
    while True:
        await asyncio.sleep(CHECK_SECONDS)
        now = _marks(archive, history)
        if now != known:
            known = now
            changed()


def _marks(archive: Path, history: Path | None) -> tuple[int, ...]:
    """When files were last added to the archive, and the inode of the history file; a commit to that does not change
    it.
    """
    return (*_facts(archive, ("st_ino", "st_mtime_ns")), *_facts(history, ("st_ino",)))


def _facts(path: Path | None, names: Iterable[str]) -> list[int]:
    if path is None:
        return []
    try:
        found = path.stat()
    except OSError:
        return [0]
    return [getattr(found, name) for name in names]
