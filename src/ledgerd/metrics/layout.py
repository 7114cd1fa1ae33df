"""Where the numbers of each family lie in the memory of one process. Computed alike by whoever writes and reads it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from typing import NamedTuple

import msgspec

from ledgerd.metrics.families import Family, LabelSource, MetricLabel, Writer
from ledgerd.metrics.table import FAMILIES
from ledgerd.metrics.table.requests import OTHER_METHOD

VALIDATOR_PLACES = 128
"""Validators with series of their own at a time, and one more place for all others."""

OTHER_VALIDATOR = "other"

BEGUN = 0
"""The place of the number that says whether a process has ever written there."""


class LabelSets(msgspec.Struct, frozen=True):
    """The values of labels that the table does not declare."""

    methods: tuple[str, ...] = ()
    version: str = ""
    plugins: tuple[str, ...] = ()

    def of(self, label: MetricLabel) -> tuple[str, ...]:
        """All values of a label. For validators they are places, whose names are in `names`."""
        match label.source:
            case LabelSource.METHODS:
                return (*self.methods, OTHER_METHOD)
            case LabelSource.VERSION:
                return (self.version,)
            case LabelSource.VALIDATORS:
                return tuple(map(str, range(VALIDATOR_PLACES)))
            case LabelSource.PLUGINS:
                return self.plugins
        return label.values


class Placed(NamedTuple):
    """A family in the memory of a process."""

    family: Family
    start: int
    series: tuple[tuple[str, ...], ...]

    @property
    def end(self) -> int:
        return self.start + len(self.series) * self.family.width

    def place(self, values: tuple[str, ...]) -> int:
        return self.start + self.series.index(values) * self.family.width


class RegionLayout:
    """The families that one kind of process writes."""

    def __init__(self, writers: Iterable[Writer], sets: LabelSets) -> None:
        self.placed: dict[str, Placed] = {}
        self.size = BEGUN + 1
        kinds = frozenset(writers)
        for family in FAMILIES:
            if family.writer in kinds:
                series = tuple(product(*map(sets.of, family.labels)))
                placed = self.placed[family.name] = Placed(family, self.size, series)
                self.size = placed.end

    def __iter__(self) -> Iterator[Placed]:
        return iter(self.placed.values())

    def of(self, family: Family) -> Placed:
        return self.placed[family.name]


def main_layout(plugins: tuple[str, ...] = ()) -> RegionLayout:
    return RegionLayout((Writer.MAIN, Writer.EACH), LabelSets(plugins=plugins))


def worker_layout(methods: tuple[str, ...]) -> RegionLayout:
    return RegionLayout((Writer.WORKERS, Writer.EACH), LabelSets(methods))


def reader_layout(version: str) -> RegionLayout:
    return RegionLayout((Writer.READER, Writer.EACH), LabelSets(version=version))
