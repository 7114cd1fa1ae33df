"""What is counted of each request of JSON-RPC: at most a microsecond of work."""

from __future__ import annotations

import time
from bisect import bisect_left

from ledgerd.metrics.cells import Cells
from ledgerd.metrics.table.requests import CACHED, FAILED, OK, OTHER_METHOD, REFUSED, REQUEST_TIME, REQUESTS

OUTCOMES = (OK, CACHED, REFUSED, FAILED)
AT_OK, AT_CACHED, AT_REFUSED, AT_FAILED = range(len(OUTCOMES))
BOUNDS = REQUEST_TIME.buckets


class RequestMeter:
    """Counts the requests of one worker."""

    def __init__(self, cells: Cells, methods: tuple[str, ...]) -> None:
        self._numbers = cells.numbers
        counts, times = cells.layout.of(REQUESTS), cells.layout.of(REQUEST_TIME)
        names = (*methods, OTHER_METHOD)
        self._counts = {name: counts.place((name, OUTCOMES[0])) for name in names}
        self._times = {name: times.place((name,)) for name in names}

    def count(self, method: str, outcome: int, by: float = 1.0) -> None:
        known = self._counts.get(method)
        self._numbers[(self._counts[OTHER_METHOD] if known is None else known) + outcome] += by

    def observe(self, method: str, seconds: float) -> None:
        numbers, at = self._numbers, self._times.get(method)
        if at is None:
            at = self._times[OTHER_METHOD]
        numbers[at + bisect_left(BOUNDS, seconds)] += 1.0
        numbers[at + len(BOUNDS) + 1] += seconds

    def hits(self, method: str, count: int) -> None:
        self.count(method, AT_CACHED, count)


class RequestTiming:
    """One request while it is answered; without a meter it counts nothing."""

    __slots__ = ("_began", "_meter", "method")

    def __init__(self, meter: RequestMeter | None) -> None:
        self._meter = meter
        self.method = OTHER_METHOD
        self._began = 0.0 if meter is None else time.perf_counter()

    def end(self, outcome: int, *, is_timed: bool = True) -> None:
        if self._meter is not None:
            self._meter.count(self.method, outcome)
            if is_timed:
                self._meter.observe(self.method, time.perf_counter() - self._began)
