"""What a worker of an API node answers from: a directory that another process writes, or a node that is followed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from ledgerd.chain.log.histories import History, HistoryView
from ledgerd.history.columns.source import HistorySource
from ledgerd.history.errors import HistoryDamaged
from ledgerd.history.settings import HISTORY_FOLDER, HistorySettings
from ledgerd.node.config.options.application import OPERATION_HISTORY
from ledgerd.node.workers.api_node.directory import DirectoryState
from ledgerd.node.workers.api_node.following import DirectoryFollower
from ledgerd.node.workers.api_node.forwarding import Forwarder
from ledgerd.node.workers.settings import WorkerSettings
from ledgerd.rpc.api.node.node_status import LatestStatus
from ledgerd.rpc.blocks.kept_blocks import KeptBlocks
from ledgerd.rpc.call.envelope import NO_ID, error_answer
from ledgerd.rpc.call.errors import OTHER, ErrorObject, PlainError
from ledgerd.rpc.http.responses import Page
from ledgerd.rpc.http.routes import NodeHealth, json_page
from ledgerd.rpc.http.service import PageRoutes, Service
from ledgerd.rpc.link.link import Link
from ledgerd.state.files.disk import DATA_FILE
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.views.serving_status import ServingStatusFile

NO_HISTORY = "There is no history in the data directory of this API node"


class DirectoryHistory(History):
    """The history that a directory has now."""

    def __init__(self, data_dir: Path, settings: HistorySettings) -> None:
        self._file = data_dir / HISTORY_FOLDER / DATA_FILE
        self._source = HistorySource(data_dir, settings)
        self.count_blocks = settings.count_blocks

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
        self._source.close()


MOST_BEHIND = 20
"""Blocks: a minute. With more, a load balancer should send requests elsewhere."""

CACHED_BYTES = 8 << 20
"""The most bytes of cached answers; a quarter of a node's."""

REFUSED = "This API node has nothing to answer from"


class DirectorySource:
    """The state that a directory has now, if it has one."""

    cached_bytes = CACHED_BYTES

    def __init__(self, link: Link, settings: WorkerSettings, blocks: KeptBlocks, clock: Callable[[], float]) -> None:
        self._link, data_dir = link, Path(settings.data_dir)
        state = DirectoryState(Path(settings.state), STORED_TABLES)
        forwarder = Forwarder(settings.node, lambda: state.head.time if state.head else 0, clock)
        self.main = DirectoryFollower(state, ServingStatusFile(data_dir), blocks, forwarder)
        self.reading = state.snapshot
        self.projections = state.projections.snapshot
        self.status = LatestStatus()
        self.history: DirectoryHistory | None = None
        if OPERATION_HISTORY in settings.plugins:
            self.history = DirectoryHistory(data_dir, settings.history)
            self.main.on_undone.append(self.history.forget)

    def pages(self, pages: PageRoutes, health: NodeHealth) -> PageRoutes:
        """The pages of the worker: it is neither well nor ready without a state."""
        follower = self.main

        def healthy() -> Page:
            if follower.reason:
                return json_page(503, healthy=False, reason=follower.reason)
            return pages[b"/health"]()

        def ready() -> Page:
            if follower.reason:
                return json_page(503, ready=False, reason=follower.reason)
            behind = health.behind = None if follower.followed is None else follower.followed.behind
            if behind is not None and behind > MOST_BEHIND:
                return json_page(503, ready=False, reason=f"{behind} blocks behind the followed node")
            return pages[b"/ready"]()

        return {**pages, b"/health": healthy, b"/ready": ready}

    def connect(self, service: Service) -> None:
        self.main.on_change.append(partial(self._changed, service))
        self._changed(service)

    def _changed(self, service: Service) -> None:
        service.dispatcher.head_changed()
        reason = self.main.reason
        refusal = ErrorObject(OTHER, f"{REFUSED}: {reason}")
        service.refusal = error_answer(refusal, NO_ID) if reason else b""

    def begin(self, service: Service) -> None:
        self.main.refresh()
        self._link.tasks.begin(self.main.run(lambda: bool(service.connections)))
