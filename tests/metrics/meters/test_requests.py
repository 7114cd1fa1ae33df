"""Requests are counted by method and answer, and timed."""

from __future__ import annotations

import pytest

from ledgerd.metrics.meters.requests import AT_CACHED, AT_FAILED, AT_OK, AT_REFUSED, RequestMeter, RequestTiming
from ledgerd.metrics.table.requests import REQUEST_TIME, REQUESTS
from tests.metrics.memories import METHODS, node_memory

BLOCK = METHODS[0]


@pytest.mark.parametrize(
    ("outcome", "name"), [(AT_OK, "ok"), (AT_CACHED, "cached"), (AT_REFUSED, "refused"), (AT_FAILED, "failed")]
)
def test_each_outcome_has_its_series(outcome: int, name: str) -> None:
    with node_memory() as node:
        RequestMeter(node.worker(0), METHODS).count(BLOCK, outcome)

        assert node.values()[REQUESTS.name][BLOCK, name] == [1.0]


def test_a_note_counts_and_times_its_request_once() -> None:
    with node_memory() as node:
        note = RequestTiming(RequestMeter(node.worker(0), METHODS))
        note.method = BLOCK
        note.end(AT_OK)
        values = node.values()

    assert values[REQUESTS.name][BLOCK, "ok"] == [1.0]
    assert sum(values[REQUEST_TIME.name][BLOCK,][:-1]) == 1.0


def test_a_subscription_is_counted_and_not_timed() -> None:
    with node_memory() as node:
        RequestTiming(RequestMeter(node.worker(0), METHODS)).end(AT_OK, is_timed=False)
        values = node.values()

    assert values[REQUESTS.name]["other", "ok"] == [1.0]
    assert REQUEST_TIME.name not in values


def test_without_a_meter_nothing_is_counted() -> None:
    RequestTiming(None).end(AT_OK)


def test_hits_of_the_cache_are_counted_by_method() -> None:
    with node_memory() as node:
        meter = RequestMeter(node.worker(0), METHODS)
        meter.hits(BLOCK, 5)
        meter.hits("", 2)

        assert node.values()[REQUESTS.name][BLOCK, "cached"] == [5.0]
        assert node.values()[REQUESTS.name]["other", "cached"] == [2.0]
