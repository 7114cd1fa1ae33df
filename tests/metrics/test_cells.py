"""Counters, gauges and histograms."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.metrics.table import chain, peers
from tests.metrics.memories import node_memory

BOUNDS = chain.APPLY_TIME.buckets
TIMES = st.lists(st.one_of(st.floats(0.0, 10.0), st.sampled_from(BOUNDS)), max_size=50)


def test_a_counter_adds_up_and_reaches_what_is_counted_elsewhere() -> None:
    with node_memory() as node:
        cells = node.main()
        cells.counter(chain.BLOCKS_APPLIED).add()
        cells.counter(chain.BLOCKS_APPLIED).add(2)
        cells.counter(peers.BANS, "offences").reach(9)
        values = node.values()

    assert values["ledgerd_chain_applied_blocks_total"] == {(): [3.0]}
    assert values["ledgerd_p2p_bans_total"] == {("offences",): [9.0], ("frame_too_large",): [0.0]}


def test_a_gauge_without_a_value_is_not_shown() -> None:
    with node_memory() as node:
        gauge = node.main().gauge(chain.HEAD)
        assert "ledgerd_chain_head_block" not in node.values()
        gauge.set(0)
        assert node.values()["ledgerd_chain_head_block"] == {(): [0.0]}
        gauge.forget()
        assert "ledgerd_chain_head_block" not in node.values()


@given(TIMES)
def test_a_histogram_counts_each_value_up_to_the_bound_that_it_does_not_pass(times: list[float]) -> None:
    with node_memory() as node:
        histogram = node.main().histogram(chain.APPLY_TIME)
        for each in times:
            histogram.observe(each)
        numbers = node.values()["ledgerd_chain_apply_seconds"][()]

    lower = (-math.inf, *BOUNDS)
    upper = (*BOUNDS, math.inf)
    assert numbers[:-1] == [sum(a < each <= b for each in times) for a, b in zip(lower, upper, strict=True)]
    assert numbers[-1] == pytest.approx(sum(times))


def test_a_family_is_not_written_as_another_kind() -> None:
    with node_memory() as node:
        cells = node.main()
        with pytest.raises(TypeError, match="is a counter, not a gauge"):
            cells.gauge(chain.BLOCKS_APPLIED)
        with pytest.raises(TypeError, match="is a gauge, not a counter"):
            cells.counter(chain.HEAD)
        with pytest.raises(TypeError, match="is a gauge, not a histogram"):
            cells.histogram(chain.HEAD)
        with pytest.raises(ValueError, match="not in tuple"):
            cells.counter(peers.BANS, "no such reason")
