"""What tests of the metrics share: memory as the processes of a node have it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from ledgerd.metrics.cells import Cells
from ledgerd.metrics.layout import main_layout, reader_layout, worker_layout
from ledgerd.metrics.memory import MAIN_REGION, READER_REGION, SharedMemory, worker_region
from ledgerd.metrics.reading import MetricsReader

METHODS = ("database_api.get_block", "validator_api.get_active_validators")
VERSION = "1.2.3"


class NodeMemory:
    """The memory of a node with workers, and what its processes write to."""

    def __init__(self, workers: int) -> None:
        self.memory = SharedMemory.create(workers)
        self._made: list[Cells] = []

    def main(self, plugins: tuple[str, ...] = ()) -> Cells:
        layout = main_layout(plugins)
        return self._kept(Cells(self.memory.region(MAIN_REGION, layout.size), layout))

    def reader(self) -> Cells:
        layout = reader_layout(VERSION)
        return self._kept(Cells(self.memory.region(READER_REGION, layout.size), layout))

    def worker(self, number: int, methods: tuple[str, ...] = METHODS) -> Cells:
        """A process of an API worker that starts."""
        layout = worker_layout(methods)
        return self._kept(Cells(self.memory.region(worker_region(number), layout.size), layout))

    def _kept(self, cells: Cells) -> Cells:
        self._made.append(cells)
        return cells

    def values(
        self, methods: tuple[str, ...] = METHODS, plugins: tuple[str, ...] = ()
    ) -> Mapping[str, dict[tuple[str, ...], list[float]]]:
        """What is read: the numbers of each series by family and labels."""
        families = MetricsReader(self.memory, methods, VERSION, plugins).read()
        return {
            family.name: {each.labels: list(each.numbers) for each in series} for family, series in families if series
        }

    def close(self) -> None:
        for cells in self._made:
            cells.release()
        self.memory.close()


@contextmanager
def node_memory(workers: int = 2) -> Iterator[NodeMemory]:
    made = NodeMemory(workers)
    try:
        yield made
    finally:
        made.close()
