"""Whether two chains hold the same state: every object of every table, with its id, in every order."""

from __future__ import annotations

from ledgerd.chain.chain import Chain
from ledgerd.state.objects import TABLES
from ledgerd.state.objects.transactions import BLOCK_SUMMARIES, BLOCK_SUMMARY_COUNT

COMPARED_SUMMARIES = 300
"""Of the ids of past blocks, those that a test can have changed."""


def assert_same_state(one: Chain, two: Chain) -> None:
    """Name the first table or index in which they differ."""
    assert one.head_id == two.head_id
    for table in TABLES:
        if table is BLOCK_SUMMARIES:
            continue
        assert one.parts.store.next_id(table) == two.parts.store.next_id(table), table
        for index in (table.by_id, *table.indexes):
            assert list(one.parts.store.scan(index)) == list(two.parts.store.scan(index)), index
    for number in range(max(0, one.head_number - COMPARED_SUMMARIES), one.head_number + 1):
        place = number % BLOCK_SUMMARY_COUNT
        assert one.parts.store.get(BLOCK_SUMMARIES, place) == two.parts.store.get(BLOCK_SUMMARIES, place)
