"""Counters, gauges and histograms: numbers at fixed places of a memory, each written by one thread alone."""

from __future__ import annotations

import math
from bisect import bisect_left

from ledgerd.metrics.families import Family, FamilyKind
from ledgerd.metrics.layout import BEGUN, RegionLayout


class _Cell:
    """One number."""

    __slots__ = ("_at", "_numbers")

    def __init__(self, numbers: memoryview[float], at: int) -> None:
        self._numbers = numbers
        self._at = at


class CounterCell(_Cell):
    """A count."""

    __slots__ = ()

    def add(self, by: float = 1.0) -> None:
        self._numbers[self._at] += by

    def reach(self, total: float) -> None:
        """Set a count that is kept elsewhere, such as by the chain or by the system."""
        self._numbers[self._at] = total

    def rise_to(self, total: float) -> None:
        """Set a counter to a total that may be corrected downwards: a counter must not fall."""
        self._numbers[self._at] = max(self._numbers[self._at], total)


class GaugeCell(_Cell):
    """A value of now."""

    __slots__ = ()

    def set(self, value: float) -> None:
        self._numbers[self._at] = value

    def forget(self) -> None:
        """There is no value now: it is not shown."""
        self._numbers[self._at] = math.nan


class HistogramCell(_Cell):
    """Values counted by size."""

    __slots__ = ("_bounds", "_sum")

    def __init__(self, numbers: memoryview[float], at: int, bounds: tuple[float, ...]) -> None:
        super().__init__(numbers, at)
        self._bounds = bounds
        self._sum = at + len(bounds) + 1

    def observe(self, value: float) -> None:
        numbers = self._numbers
        numbers[self._at + bisect_left(self._bounds, value)] += 1.0
        numbers[self._sum] += value


class Cells:
    """All numbers of one process."""

    def __init__(self, numbers: memoryview[float], layout: RegionLayout) -> None:
        self.numbers = numbers
        self.layout = layout
        numbers[BEGUN] = 1.0
        for placed in layout:
            if placed.family.kind is FamilyKind.GAUGE:
                for at in range(placed.start, placed.end):
                    numbers[at] = math.nan

    def _place(self, family: Family, values: tuple[str, ...], kind: FamilyKind) -> int:
        if family.kind is not kind:
            raise TypeError(f"{family.name} is a {family.kind.value}, not a {kind.value}")
        return self.layout.of(family).place(values)

    def counter(self, family: Family, *values: str) -> CounterCell:
        return CounterCell(self.numbers, self._place(family, values, FamilyKind.COUNTER))

    def gauge(self, family: Family, *values: str) -> GaugeCell:
        return GaugeCell(self.numbers, self._place(family, values, FamilyKind.GAUGE))

    def histogram(self, family: Family, *values: str) -> HistogramCell:
        return HistogramCell(self.numbers, self._place(family, values, FamilyKind.HISTOGRAM), family.buckets)

    def release(self) -> None:
        self.numbers.release()
