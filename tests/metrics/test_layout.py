"""The places of numbers: no two series share one, and all fit into the memory of a process."""

from __future__ import annotations

import pytest

from ledgerd.metrics.layout import LabelSets, RegionLayout, main_layout, reader_layout, worker_layout
from ledgerd.metrics.memory import NUMBER, REGION_BYTES
from ledgerd.metrics.table import FAMILIES
from ledgerd.metrics.table.requests import REQUESTS
from ledgerd.node.workers.known_methods import known_methods

LAYOUTS = (main_layout(("earnings", "rates")), worker_layout(known_methods()), reader_layout("1.0"))


@pytest.mark.parametrize("layout", LAYOUTS, ids=("main", "worker", "reader"))
def test_no_number_has_two_meanings(layout: RegionLayout) -> None:
    taken = [
        place + each
        for placed in layout
        for values in placed.series
        for place in [placed.place(values)]
        for each in range(placed.family.width)
    ]

    assert sorted(taken) == list(range(1, layout.size))


def test_every_family_is_written_by_somebody() -> None:
    written = {placed.family.name for layout in LAYOUTS for placed in layout}

    assert written == {family.name for family in FAMILIES}


def test_three_times_the_methods_of_today_fit_into_a_region() -> None:
    methods = tuple(f"{name}_{count}" for name in known_methods() for count in range(3))

    assert worker_layout(methods).size * NUMBER <= REGION_BYTES


def test_other_is_a_method_beside_the_known_ones() -> None:
    placed = RegionLayout({REQUESTS.writer}, LabelSets(("a.b",))).of(REQUESTS)

    assert {values[0] for values in placed.series} == {"a.b", "other"}
