"""The metrics of an API worker: what it counts of its requests, and what it says of itself once a second."""

from __future__ import annotations

from ledgerd.metrics.cells import Cells
from ledgerd.metrics.layout import worker_layout
from ledgerd.metrics.memory import SharedMemory, worker_region
from ledgerd.metrics.meters.process import ProcessMeter, every_second
from ledgerd.metrics.meters.requests import RequestMeter
from ledgerd.metrics.table import process, requests
from ledgerd.rpc.http.places.connection_table import Activity
from ledgerd.rpc.http.service import Service
from ledgerd.rpc.http.websocket import WebSocketConnection


class WorkerMetrics:
    """Writes the numbers of one worker. A worker that replaces a dead one counts on from where that ended."""

    def __init__(self, descriptor: int, number: int, service: Service, methods: tuple[str, ...]) -> None:
        layout = worker_layout(methods)
        cells = Cells(SharedMemory(descriptor).region(worker_region(number), layout.size), layout)
        self._service = service
        self._process = ProcessMeter(cells)
        self._delays = cells.histogram(process.LOOP_DELAY, process.MAIN_LOOP)
        self._bytes = [cells.counter(requests.RPC_BYTES, each) for each in ("received", "sent")]
        self._accepted = cells.counter(requests.CONNECTIONS_MADE)
        self._written = [0, 0, 0]
        self._open = [cells.gauge(requests.CONNECTIONS, each) for each in ("http", "websocket")]
        self._unanswered = cells.gauge(requests.UNANSWERED)
        self._held = [cells.gauge(requests.HELD_BYTES, each) for each in ("requests", "answers")]
        self._cached = cells.gauge(requests.CACHED_ANSWERS)
        self._limits = {option: cells.counter(requests.LIMITS_REACHED, option) for option in requests.OPTION.values}
        self._limits_written: dict[str, int] = {}
        service.dispatcher.count_with(RequestMeter(cells, methods))

    async def run(self) -> None:
        self.sample()
        await every_second(self._delays, self.sample)

    def sample(self) -> None:
        service = self._service
        self._process.sample()
        service.dispatcher.cache.tell_hits()
        totals = [service.received, service.sent, service.accepted]
        for counter, now, before in zip((*self._bytes, self._accepted), totals, self._written, strict=True):
            counter.add(now - before)
        self._written = totals
        web_sockets = sum(isinstance(each, WebSocketConnection) for each in service.connections)
        self._open[0].set(len(service.connections) + len(service.spare_connections) - web_sockets)
        self._open[1].set(web_sockets)
        self._unanswered.set(sum(each.activity is Activity.WAITING for each in service.connections))
        self._held[0].set(service.requests_held.total)
        self._held[1].set(service.dispatcher.held.total)
        self._cached.set(len(service.dispatcher.cache))
        for option, total in service.dispatcher.bounds.totals.items():
            self._limits.get(option, self._limits["other"]).add(total - self._limits_written.get(option, 0))
            self._limits_written[option] = total
