"""The validators with series of their own. A place that is given to another one begins at zero, as another series."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from ledgerd.metrics.cells import Cells, CounterCell, GaugeCell
from ledgerd.metrics.families import Family, FamilyKind, LabelSource
from ledgerd.metrics.layout import OTHER_VALIDATOR, VALIDATOR_PLACES
from ledgerd.metrics.memory import NAME_BYTES, SharedMemory

NOWHERE = 0
"""The place of all others."""


class ValidatorPlaces:
    """The places of validators in the memory; for one thread."""

    def __init__(self, memory: SharedMemory, cells: Cells) -> None:
        self._memory = memory
        self._cells = cells
        self.by_name: dict[str, int] = {}
        self._free = list(range(VALIDATOR_PLACES - 1, NOWHERE, -1))
        memory.write_name(NOWHERE, OTHER_VALIDATOR)

    def __getitem__(self, name: str) -> int:
        return self.by_name.get(name, NOWHERE)

    def counters(self, family: Family, *more: str) -> list[CounterCell]:
        """The counters of a family by place; `more` are the values of its labels after the validator."""
        return [self._cells.counter(family, str(place), *more) for place in range(VALIDATOR_PLACES)]

    def gauges(self, family: Family, *more: str) -> list[GaugeCell]:
        return [self._cells.gauge(family, str(place), *more) for place in range(VALIDATOR_PLACES)]

    def show(self, names: Iterable[str]) -> bool:
        """Give places to these validators alone, the first ones where there are too many; whether any has changed."""
        fitting = (name for name in names if len(name.encode()) <= NAME_BYTES and name != OTHER_VALIDATOR)
        wanted = dict.fromkeys(fitting)
        shown = dict.fromkeys(list(wanted)[: VALIDATOR_PLACES - 1])
        if shown.keys() == self.by_name.keys():
            return False
        self._memory.begin_names()
        for name in [each for each in self.by_name if each not in shown]:
            self._free.append(self.by_name.pop(name))
            self._clear(self._free[-1], "")
        for name in shown:
            if name not in self.by_name:
                self.by_name[name] = self._free.pop()
                self._clear(self.by_name[name], name)
        self._memory.end_names()
        return True

    def _clear(self, place: int, name: str) -> None:
        self._memory.write_name(place, name)
        for kind, start, end in self._numbers_of(str(place)):
            for at in range(start, end):
                self._cells.numbers[at] = math.nan if kind is FamilyKind.GAUGE else 0.0

    def _numbers_of(self, place: str) -> Iterator[tuple[FamilyKind, int, int]]:
        for placed in self._cells.layout:
            sources = [label.source for label in placed.family.labels]
            if LabelSource.VALIDATORS in sources:
                which = sources.index(LabelSource.VALIDATORS)
                for values in placed.series:
                    if values[which] == place:
                        at = placed.place(values)
                        yield placed.family.kind, at, at + placed.family.width
