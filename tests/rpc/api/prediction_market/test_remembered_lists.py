"""What a worker remembers of the markets of a head is bounded, and gone with the next head."""

from __future__ import annotations

import gc
import tracemalloc
from array import array
from collections.abc import Callable
from functools import partial
from pathlib import Path
from sys import getsizeof

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.projections.markets.records import MarketRecords
from ledgerd.rpc.api import APIS
from ledgerd.rpc.api.prediction_market.shared.id_lists import BESIDE_IDS, MOST_BYTES, IdLists
from ledgerd.rpc.api.prediction_market.shared.metadata_filter import MetadataFilter
from ledgerd.rpc.api.prediction_market.shared.remembered import MOST_REMEMBERED, OfThisHead
from ledgerd.rpc.call.dispatch import Dispatcher
from ledgerd.rpc.call.limits import Limits
from ledgerd.rpc.call.view import Node
from ledgerd.state.objects import STORED_TABLES
from ledgerd.state.views.reader import StateReader
from tests.chain.ledgers import close_all, kept_beside
from tests.chain.market_scenes import market_ledger
from tests.rpc.api.serving import NoMain, answers_of, asking

HEAD, NEXT = (b"a", 1), (b"b", 2)

LONG, REQUESTS = 40_000, 50

TEXTS = st.text(st.sampled_from("a'\"\\,()\0 \udc80"), max_size=4)
FILTERS = st.builds(MetadataFilter, TEXTS, TEXTS, TEXTS, TEXTS, st.booleans())
KEYS = st.tuples(FILTERS | TEXTS, TEXTS, st.booleans())


def test_a_list_is_made_once_for_each_head() -> None:
    lists, made = IdLists(), list[int]()

    def make() -> list[int]:
        made.append(1)
        return [len(made)]

    assert [list(lists.get(head, "key", make)) for head in (HEAD, HEAD, NEXT)] == [[1], [1], [2]]


def test_lists_that_have_grown_too_many_are_dropped() -> None:
    lists, ids = IdLists(), MOST_BYTES // 8 // 4
    for number in range(20):
        lists.get(HEAD, number, lambda: range(ids))
        assert lists.bytes <= MOST_BYTES
        assert len(lists) <= 3


def test_lists_of_nothing_are_bounded_too() -> None:
    lists = IdLists()
    for number in range(2 * (MOST_BYTES // BESIDE_IDS)):
        lists.get(HEAD, number, tuple)
    assert len(lists) <= MOST_BYTES // BESIDE_IDS
    assert getsizeof(lists._lists) / len(lists) + getsizeof(bytes(32)) + getsizeof(array("q")) < BESIDE_IDS  # noqa: SLF001


@given(KEYS, KEYS)
def test_what_differs_in_anything_has_lists_of_its_own(one: tuple[object, ...], two: tuple[object, ...]) -> None:
    lists = IdLists()

    lists.get(HEAD, one, lambda: [1])

    assert list(lists.get(HEAD, two, lambda: [2])) == ([1] if one == two else [2])


@pytest.mark.parametrize(
    ("method", "asked"),
    [
        ("list_markets_by_category", lambda text: (text, 0, 10)),
        ("list_markets_by_category", lambda text: ("c", 0, 10, text)),
        ("list_markets_by_category", lambda text: ("c", 0, 10, "", text)),
        ("list_markets_by_category", lambda text: ("c", 0, 10, "", "", text, "volume")),
        ("list_markets_by_event", lambda text: (text, 0, 10)),
    ],
)
def test_long_filters_are_not_kept_in_memory(
    tmp_path: Path, method: str, asked: Callable[[str], tuple[object, ...]]
) -> None:
    ledger = market_ledger(tmp_path)
    MarketRecords().begin(ledger.store, kept_beside(ledger), ledger.head_number)
    with answers_of(ledger, tmp_path) as ask:
        ask("prediction_market_api", method, *asked("warm"))
        tracemalloc.start()
        try:
            for number in range(REQUESTS):
                assert ask("prediction_market_api", method, *asked(f"{number:06}" + "x" * LONG))["result"] == []
            gc.collect()
            kept, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert kept < REQUESTS * LONG // 10


def test_what_was_kept_is_gone_when_the_head_moves_on(tmp_path: Path) -> None:
    ledger = market_ledger(tmp_path)
    MarketRecords().begin(ledger.store, kept_beside(ledger), ledger.head_number)
    ledger.store.commit()
    close_all()
    with StateReader.open(tmp_path / "state", STORED_TABLES) as reader:
        dispatcher = Dispatcher(APIS, Node(ledger.network, reader.snapshot, NoMain()), lambda: 0.0, limits=Limits())
        ask = asking(dispatcher)
        for tag in ("a", "b", "c"):
            ask("prediction_market_api", "list_markets_by_category", "c", 0, 10, "", "", tag)
        assert len(dispatcher.node.memory(IdLists)) == 3
        assert len(dispatcher.node.memory(OfThisHead)) > 0

        dispatcher.head_changed()

        assert len(dispatcher.node.memory(IdLists)) == len(dispatcher.node.memory(OfThisHead)) == 0
        assert len(dispatcher.cache) == 0


def test_values_that_have_grown_too_many_are_dropped() -> None:
    values = OfThisHead()
    for number in range(3 * MOST_REMEMBERED):
        assert values.get(HEAD, number, partial(int, number)) == number
        assert len(values) <= MOST_REMEMBERED
