"""The service of the process that answers `GET /metrics`: so a scrape takes no time of the chain or API workers."""

from __future__ import annotations

import time
from importlib.metadata import version
from pathlib import Path

import msgspec

from ledgerd.metrics.cells import Cells
from ledgerd.metrics.exposition import OPENMETRICS, PLAIN, Exposition, format_for
from ledgerd.metrics.layout import reader_layout
from ledgerd.metrics.memory import READER_REGION, SharedMemory
from ledgerd.metrics.meters.process import ProcessMeter, every_second
from ledgerd.metrics.reading import MetricsReader
from ledgerd.metrics.table import process
from ledgerd.node.config.logging.setup import set_up_child_logging
from ledgerd.node.workers.known_methods import counted_methods
from ledgerd.node.workers.settings import MetricsWorkerSettings
from ledgerd.protocol.networks.chain_file import parameters_of
from ledgerd.rpc.api.node.node_api import OPERATOR_API
from ledgerd.rpc.api.node.node_status import LatestStatus
from ledgerd.rpc.call.dispatch import Dispatcher
from ledgerd.rpc.call.limits import Limits
from ledgerd.rpc.call.view import Node, nothing_to_read
from ledgerd.rpc.http.page.person import operator_page
from ledgerd.rpc.http.responses import Page
from ledgerd.rpc.http.routes import json_page
from ledgerd.rpc.http.service import PageRoutes, Service
from ledgerd.rpc.link.link import Link
from ledgerd.rpc.link.topics import DETAILS, SHADOW_GATE
from ledgerd.shadow.page import ShadowPage
from ledgerd.state.views.serving_status import ServingStatusFile

PROGRAM = "ledgerd"
PATH = b"/metrics"


class MetricsPage:
    """The page `/metrics`."""

    def __init__(self, memory: SharedMemory, plugins: tuple[str, ...], followed: str = "") -> None:
        released = version(PROGRAM)
        layout = reader_layout(released)
        cells = Cells(memory.region(READER_REGION, layout.size), layout)
        cells.gauge(process.BUILD, released).set(1.0)
        self._reader = MetricsReader(memory, counted_methods(plugins), released, plugins)
        self._expositions = {text_format: Exposition(text_format) for text_format in (PLAIN, OPENMETRICS)}
        self._scrapes = cells.counter(process.SCRAPES)
        self._times = cells.histogram(process.SCRAPE_TIME)
        self._process = ProcessMeter(cells)
        self._followed = None if not followed else ServingStatusFile(Path(followed))
        self._behind, self._served = cells.gauge(process.REPLICA_BEHIND), cells.gauge(process.REPLICA_SERVED)
        self._delays = cells.histogram(process.LOOP_DELAY, process.MAIN_LOOP)

    def page(self, accept: bytes) -> Page:
        began = time.perf_counter()
        followed = None if self._followed is None else self._followed.read()
        if followed is not None:
            self._behind.set(followed.behind)
            self._served.set(not followed.reason)
        text_format = format_for(accept)
        text = self._expositions[text_format].text(self._reader.read())
        self._scrapes.add()
        self._times.observe(time.perf_counter() - began)
        return Page(text, text_format.content_type.encode())

    async def run(self) -> None:
        self._process.sample()
        await every_second(self._delays, self._process.sample)


def logged_service(link: Link, limits: Limits, order: msgspec.Raw) -> Service:
    set_up_child_logging(msgspec.json.decode(order, type=MetricsWorkerSettings).log_format)
    return service(link, limits, order)


def service(link: Link, limits: Limits, order: msgspec.Raw) -> Service:
    settings = msgspec.json.decode(order, type=MetricsWorkerSettings)
    board = LatestStatus()
    link.on(DETAILS, board.receive_details)
    node = Node(parameters_of(settings.chain), nothing_to_read, link, {LatestStatus: board})
    page = MetricsPage(SharedMemory(settings.memory), settings.installed, settings.followed)
    link.tasks.begin(page.run())
    routes: PageRoutes = {b"/": operator_page, b"/health": lambda: json_page(healthy=True)}
    if settings.shadow:
        shadow = ShadowPage(Path(settings.shadow), time.time)
        link.on(SHADOW_GATE, shadow.receive)
        routes = {**routes, b"/shadow": shadow.page}
    serves = Service(Dispatcher((OPERATOR_API,), node, time.time, limits=limits), limits, routes)
    serves.is_private, serves.open_paths = True, frozenset((PATH, b"/health"))
    serves.negotiated = {PATH: page.page}
    return serves
