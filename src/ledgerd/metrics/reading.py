"""From the memory to series: numbers of all processes, added up or side by side, each with the values of its labels."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ledgerd.metrics.families import Family, FamilyKind, LabelSource, Writer
from ledgerd.metrics.layout import BEGUN, Placed, RegionLayout, main_layout, reader_layout, worker_layout
from ledgerd.metrics.memory import MAIN_REGION, READER_REGION, MemoryCopy, SharedMemory, worker_region
from ledgerd.metrics.table import FAMILIES

MAIN_PROCESS, READER_PROCESS = "main", "metrics"

Labels = tuple[str, ...]


class Series(NamedTuple):
    """One series: the values of its labels in their order, and its numbers."""

    labels: Labels
    numbers: Sequence[float]


class ReadFamily(NamedTuple):
    """A family and its series."""

    family: Family
    series: list[Series]


class ProcessRegion(NamedTuple):
    """The region of a process, and its name."""

    process: str
    number: int
    layout: RegionLayout


class MetricsReader:
    """Reads the metrics memory of a node."""

    def __init__(
        self, memory: SharedMemory, methods: tuple[str, ...], version: str, plugins: tuple[str, ...] = ()
    ) -> None:
        self._memory = memory
        api = worker_layout(methods)
        workers = [ProcessRegion(f"api-{n}", worker_region(n), api) for n in range(memory.workers)]
        main = ProcessRegion(MAIN_PROCESS, MAIN_REGION, main_layout(plugins))
        reader = ProcessRegion(READER_PROCESS, READER_REGION, reader_layout(version))
        self._of_writer: dict[Writer, list[ProcessRegion]] = {
            Writer.MAIN: [main],
            Writer.WORKERS: workers,
            Writer.EACH: [main, reader, *workers],
            Writer.READER: [reader],
        }

    def read(self) -> list[ReadFamily]:
        copied = self._memory.copy()
        names = tuple(copied.names())
        return [ReadFamily(family, [*self._series(family, copied, names)]) for family in FAMILIES]

    def _series(self, family: Family, copied: MemoryCopy, names: Sequence[str]) -> Iterator[Series]:
        regions = [each for each in self._of_writer[family.writer] if copied.region(each.number, BEGUN + 1)[BEGUN]]
        if family.writer is Writer.EACH:
            for each in regions:
                yield from _shown(each.layout.of(family), _numbers(copied, each, family), (each.process,), names)
        elif regions:
            placed = regions[0].layout.of(family)
            found = [_numbers(copied, each, family) for each in regions]
            yield from _shown(placed, found[0] if len(found) == 1 else _sums(found), (), names)


def _numbers(copied: MemoryCopy, region: ProcessRegion, family: Family) -> Sequence[float]:
    placed = region.layout.of(family)
    return copied.region(region.number, region.layout.size)[placed.start : placed.end].tolist()


def _sums(regions: Iterable[Sequence[float]]) -> list[float]:
    """The sums over several processes; one that has no value counts as zero."""
    sums: list[float] = [*map(sum, zip(*regions, strict=True))]
    if any(map(math.isnan, sums)):
        known = ([0.0 if math.isnan(number) else number for number in numbers] for numbers in regions)
        return [*map(sum, zip(*known, strict=True))]
    return sums


def _shown(placed: Placed, numbers: Sequence[float], first: Labels, names: Sequence[str]) -> Iterator[Series]:
    """The series that are shown: not those without a value, or of validators that are none."""
    family, width = placed.family, placed.family.width
    which = next((n for n, each in enumerate(family.labels) if each.source is LabelSource.VALIDATORS), None)
    is_gauge = family.kind is FamilyKind.GAUGE
    uncounted = _uncounted(placed, numbers) if family.is_sparse else frozenset()
    for count, values in enumerate(placed.series):
        cells = numbers[count * width : (count + 1) * width]
        if (is_gauge and math.isnan(cells[0])) or values[:1] in uncounted:
            continue
        if which is None:
            yield Series((*first, *values), cells)
        elif name := names[int(values[which])]:
            yield Series((*first, *values[:which], name, *values[which + 1 :]), cells)


def _uncounted(placed: Placed, numbers: Sequence[float]) -> frozenset[Labels]:
    width = placed.family.width
    counted = {
        values[:1] for count, values in enumerate(placed.series) if any(numbers[count * width : (count + 1) * width])
    }
    return frozenset(values[:1] for values in placed.series) - counted
