"""What a process says of itself: memory, processor time, descriptors, threads."""

from __future__ import annotations

import asyncio
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from ledgerd.metrics.cells import Cells, HistogramCell
from ledgerd.metrics.table import process

OWN = Path("/proc/self")
SECOND = 1.0


class ProcessMeter:
    """Writes the metrics of this process; to be sampled about once a second."""

    def __init__(self, cells: Cells) -> None:
        self._memory = cells.gauge(process.MEMORY)
        self._processor = cells.counter(process.PROCESSOR)
        self._descriptors = cells.gauge(process.DESCRIPTORS)
        self._threads = cells.gauge(process.THREADS)
        cells.gauge(process.STARTED).set(time.time())
        most = _most_descriptors()
        if most:
            cells.gauge(process.MOST_DESCRIPTORS).set(most)

    def sample(self) -> None:
        self._processor.reach(time.process_time())
        self._threads.set(threading.active_count())
        if sys.platform == "linux":
            pages = (OWN / "statm").read_bytes().split()[1]
            self._memory.set(int(pages) * os.sysconf("SC_PAGE_SIZE"))
            self._descriptors.set(len(os.listdir(OWN / "fd")))  # noqa: PTH208 - counted once a second: no paths are made


def _most_descriptors() -> int:
    if sys.platform == "win32":
        return 0
    import resource  # noqa: PLC0415 - it does not exist for Windows

    return max(0, resource.getrlimit(resource.RLIMIT_NOFILE)[0])


async def every_second(delays: HistogramCell, sample: Callable[[], None]) -> None:
    while True:
        due = time.monotonic() + SECOND
        await asyncio.sleep(SECOND)
        delays.observe(max(0.0, time.monotonic() - due))  # a loop counts in milliseconds, and may be early by one
        sample()
