"""The memory in which all processes of a node count, as a part: made before anything counts, closed after that."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ledgerd.metrics.cells import Cells
from ledgerd.metrics.layout import main_layout
from ledgerd.metrics.memory import MAIN_REGION, SharedMemory
from ledgerd.metrics.names import ValidatorPlaces
from ledgerd.node.parts.context import PartContext
from ledgerd.supervision.part import Part


class Meters(NamedTuple):
    """The memory, and what the main process writes there."""

    memory: SharedMemory
    cells: Cells
    places: ValidatorPlaces


MeterSample = Callable[[], None]
MakeMeterSample = Callable[[Meters], MeterSample]


class MetersPart(Part):
    """The memory in which all processes of the node count."""

    def __init__(self, context: PartContext) -> None:
        super().__init__(context.work)
        self._workers = context.configuration.webserver.thread_pool_size
        self._plugins = context.configuration.application.installed
        self.meters: Meters | None = None
        """The counters of this process; None if the node has no `metrics-endpoint`."""
        self.on_chain: list[MakeMeterSample] = []
        """Called each second on the thread of the chain, to sample; filled before the start."""
        self.on_main: list[MakeMeterSample] = []
        """Called each second on the loop of the main thread."""
        self.on_disk: list[MakeMeterSample] = []
        """Called every ten seconds on a thread of its own, since a disk may be slow."""

    async def start(self) -> None:
        memory, layout = SharedMemory.create(self._workers), main_layout(self._plugins)
        cells = Cells(memory.region(MAIN_REGION, layout.size), layout)
        self.meters = Meters(memory, cells, ValidatorPlaces(memory, cells))

    async def stop(self) -> None:
        """Give the memory back, when no other part counts any more."""
        if self.meters is not None:
            self.meters.cells.release()
            self.meters.memory.close()
