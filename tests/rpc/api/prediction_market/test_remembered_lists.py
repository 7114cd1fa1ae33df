"""What a worker remembers of the markets of a head is bounded, and gone with the next head."""

from __future__ import annotations

from functools import partial

from ledgerd.rpc.api.prediction_market.shared.id_lists import MOST_IDS, IdLists
from ledgerd.rpc.api.prediction_market.shared.remembered import MOST_REMEMBERED, OfThisHead

HEAD, NEXT = (b"a", 1), (b"b", 2)


def test_a_list_is_made_once_for_each_head() -> None:
    lists, made = IdLists(), list[int]()

    def make() -> list[int]:
        made.append(1)
        return [len(made)]

    assert [list(lists.get(head, "key", make)) for head in (HEAD, HEAD, NEXT)] == [[1], [1], [2]]


def test_lists_that_have_grown_too_many_are_dropped() -> None:
    lists = IdLists()
    for number in range(20):
        lists.get(HEAD, number, lambda: range(MOST_IDS // 4))
        assert lists.count <= MOST_IDS * 5 // 4 + 100


def test_values_that_have_grown_too_many_are_dropped() -> None:
    values = OfThisHead()
    for number in range(3 * MOST_REMEMBERED):
        assert values.get(HEAD, number, partial(int, number)) == number
        assert len(values) <= MOST_REMEMBERED
