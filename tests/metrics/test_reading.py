"""What is read of several processes: sums, and values side by side."""

from __future__ import annotations

from ledgerd.metrics.meters.requests import AT_OK, AT_REFUSED, RequestMeter
from ledgerd.metrics.table import process, requests
from tests.metrics.memories import METHODS, VERSION, NodeMemory, node_memory

BLOCK = METHODS[0]


def answered(node: NodeMemory) -> dict[tuple[str, ...], float]:
    return {labels: numbers[0] for labels, numbers in node.values().get(requests.REQUESTS.name, {}).items()}


def test_the_requests_of_all_workers_are_added_up() -> None:
    with node_memory() as node:
        first, second = (RequestMeter(node.worker(number), METHODS) for number in (0, 1))
        first.count(BLOCK, AT_OK)
        second.count(BLOCK, AT_OK, 2)
        second.count("not.known", AT_REFUSED)
        found = answered(node)

    assert found[BLOCK, "ok"] == 3.0
    assert found["other", "refused"] == 1.0


def test_a_method_that_nobody_asked_for_is_left_out_and_one_that_was_is_whole() -> None:
    with node_memory() as node:
        assert answered(node) == {}
        RequestMeter(node.worker(0), METHODS).count(BLOCK, AT_OK)

        assert answered(node) == {(BLOCK, each): float(each == "ok") for each in ("ok", "cached", "refused", "failed")}


def test_a_worker_that_replaces_a_dead_one_counts_on() -> None:
    with node_memory() as node:
        dead = node.worker(0)
        RequestMeter(dead, METHODS).count(BLOCK, AT_OK, 41)
        dead.gauge(requests.HELD_BYTES, "requests").set(1_000)
        RequestMeter(node.worker(0), METHODS).count(BLOCK, AT_OK)
        values = node.values()

    assert values[requests.REQUESTS.name][BLOCK, "ok"] == [42.0]
    assert requests.HELD_BYTES.name not in values


def test_a_gauge_of_workers_is_the_sum_of_those_that_have_one() -> None:
    with node_memory() as node:
        node.worker(0).gauge(requests.CACHED_ANSWERS).set(3)
        node.worker(1)

        assert node.values()[requests.CACHED_ANSWERS.name] == {(): [3.0]}


def test_processes_stand_side_by_side() -> None:
    with node_memory(workers=3) as node:
        for number, cells in enumerate((node.main(), node.reader(), *(node.worker(each) for each in range(3)))):
            cells.gauge(process.MEMORY).set(number)
        found = node.values()[process.MEMORY.name]

    assert found == {("main",): [0.0], ("metrics",): [1.0], ("api-0",): [2.0], ("api-1",): [3.0], ("api-2",): [4.0]}


def test_the_version_is_a_label() -> None:
    with node_memory() as node:
        node.reader().gauge(process.BUILD, VERSION).set(1)

        assert node.values()[process.BUILD.name] == {(VERSION,): [1.0]}
