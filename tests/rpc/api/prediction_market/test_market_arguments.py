"""What each method says to too few and too many arguments, to those of a wrong type, beyond its limits, and to unknown
ids (spec 11, section 2).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ledgerd.rpc.api.prediction_market import PREDICTION_MARKET_API
from tests.chain.ledgers import fresh_ledger
from tests.chain.market_scenes import FAR_ID, market_ledger
from tests.rpc.api.serving import answers_of

COUNTS: dict[str, int | tuple[int, int]] = {
    "get_market": 1, "list_markets": (3, 5), "list_markets_by_oracle": (3, 4), "list_markets_by_oracle_status": (4, 5),
    "list_markets_awaiting_resolution": (3, 3), "list_markets_in_dispute_window": (3, 3),
    "list_oracle_disputes": (3, 3), "list_markets_by_creator": (3, 4), "get_market_outcomes": 1,
    "get_market_weight_sums": 1, "get_market_bets": (3, 4), "get_account_positions": (3, 4),
    "get_market_liquidity": (3, 3), "get_account_leverage_positions": (3, 4), "get_market_leverage_positions": (3, 3),
    "get_creator_ban": 1, "get_oracle": 1, "list_oracles": (2, 2), "get_dispute": 1, "get_dispute_votes": 1,
    "get_lazy_pool": 0, "get_lazy_deposit": 1, "get_lazy_withdraw_requests": 1, "get_deferred_claims": (1, 3),
    "get_account_commits": (1, 2), "get_pm_chain_properties": 0, "get_market_meta": 1,
    "list_markets_by_category": (3, 10), "list_markets_by_event": (3, 4), "get_market_kline": (1, 3),
    "get_leverage_quote": 3, "get_leverage_close_preview": 1, "get_leverage_convert_preview": 1,
    "get_market_categories": 0, "get_category_tag_counts": 1, "get_market_full": (1, 2), "get_lazy_allocations": (2, 2),
    "get_market_lazy_allocation": 1,
}  # fmt: skip
"""The number of arguments, or the least and the largest, as the specification has them."""

PAGES: dict[str, list[Any]] = {
    "list_markets": [1, 0, 0], "list_markets_by_oracle": ["a", 0, 0], "list_markets_by_oracle_status": ["a", 1, 0, 0],
    "list_markets_awaiting_resolution": ["a", 0, 0], "list_markets_in_dispute_window": ["a", 0, 0],
    "list_oracle_disputes": ["a", 0, 0], "list_markets_by_creator": ["a", 0, 0], "get_market_bets": [0, 0, 0],
    "get_account_positions": ["a", 0, 0], "get_market_liquidity": [0, 0, 0],
    "get_account_leverage_positions": ["a", 0, 0], "get_market_leverage_positions": [0, 0, 0], "list_oracles": [0, 0],
    "list_markets_by_category": ["a", 0, 0], "list_markets_by_event": ["a", 0, 0], "get_lazy_allocations": [0, 0],
}  # fmt: skip
"""The methods with pages, and arguments of which the last two are where a page begins and how long it is."""

TOLD: dict[str, list[Any]] = {"get_deferred_claims": [0, 0, 0], "get_market_kline": [0, 0, 0]}
"""The same for the two whose limit has words, and whose `from` has no end."""

NOTHING = {
    "get_market": "m != nullptr: Market not found",
    "get_market_weight_sums": "m != nullptr: Market not found",
    "get_leverage_quote": "m != nullptr: Market not found",
    "get_market_full": "m != nullptr: Market not found",
    "get_creator_ban": "itr != idx.end(): No creator ban for account",
    "get_oracle": "itr != idx.end(): Oracle not found",
    "get_dispute": "itr != idx.end(): Dispute not found",
    "get_lazy_deposit": "itr != idx.end(): No lazy deposit for account",
    "get_market_meta": "itr != idx.end(): No metadata for market",
    "get_leverage_close_preview": "p != nullptr: Position not found",
    "get_leverage_convert_preview": "p != nullptr: Position not found",
    "get_market_lazy_allocation": "it != idx.end(): No lazy allocation for market",
}
FULL: dict[str, list[Any]] = {
    "list_markets": [1, 0, 10, False, "oldest"],
    "list_markets_by_oracle_status": ["a", 1, 0, 10, "newest"],
    "get_leverage_quote": [0, 0, 1],
    "list_markets_by_category": ["a", 0, 10, "", "", "", "newest", True, False, -1],
    "list_markets_by_event": ["a", 0, 10, False],
    "get_account_commits": ["a", True],
    "get_market_full": [0, "a"],
    "get_deferred_claims": [0, 0, 10],
    "get_market_kline": [0, 0, 10],
}
"""As many arguments as a method takes; of others those of `PAGES`, with an order after them where there is one."""


def arguments_of(method: str) -> list[Any]:
    if method in FULL:
        return FULL[method]
    if method in PAGES:
        most = COUNTS[method]
        return [*PAGES[method], *(["oldest"] if isinstance(most, tuple) and most[1] > len(PAGES[method]) else [])]
    return [(0 if takes_id(method) else "a")] if COUNTS[method] == 1 else []


def takes_id(method: str) -> bool:
    declared = PREDICTION_MARKET_API.find(method)
    assert declared is not None
    return declared.parameters[0].name in {"market", "position"}


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder: Path = tmp_path_factory.mktemp("markets")
    with answers_of(market_ledger(folder), folder) as asking:
        yield lambda method, *arguments: asking("prediction_market_api", method, *arguments)


def message(answer: Any) -> tuple[int, str]:
    error = answer["error"]
    return error["code"], error["message"]


def refused(text: str) -> tuple[int, str]:
    return -32003, f"Assert Exception (10)\n{text}\n"


def test_there_are_the_methods_of_the_reference() -> None:
    assert {method.name for method in PREDICTION_MARKET_API} == set(COUNTS)
    assert len(COUNTS) == 38


@pytest.mark.parametrize("method", COUNTS)
def test_another_number_of_arguments_is_refused(ask: Any, method: str) -> None:
    count, most = COUNTS[method], len(arguments_of(method))
    least, largest = (count, count) if isinstance(count, int) else count
    assert most == largest
    for number in {least - 1, largest + 1} - {-1}:
        if isinstance(count, int):
            text = f"args.args->size() == {count}: Expected #_S argument(s), was {number}"
        else:
            bounds = f"args.args->size() >= {least} && args.args->size() <= {largest}"
            text = f"{bounds}: Expected #_S (maximum #_M) argument(s), was {number}"
        assert message(ask(method, *[[]] * number)) == refused(text)
    # As many as it takes are counted right; what is asked for may still not be there.
    answer = ask(method, *arguments_of(method))
    assert "result" in answer or message(answer) in map(refused, NOTHING.values())


@pytest.mark.parametrize("method", [name for name, count in COUNTS.items() if count != 0])
def test_arguments_of_a_wrong_type_are_refused_before_anything_is_looked_at(ask: Any, method: str) -> None:
    right = arguments_of(method)
    declared = PREDICTION_MARKET_API.find(method)
    assert declared is not None
    for place, parameter in enumerate(declared.parameters):
        kind = type(right[place])
        wrong: Any = {"a": 1}
        # A limit and a place that are too large after it: the conversion comes first.
        given = [*right[:place], wrong, *([10**9] * (len(right) - place - 1))]
        code, text = message(ask(method, *given))
        assert code == -32602, (method, parameter.name)
        assert text.startswith("Bad Cast (7)\nInvalid cast from object_type to "), (method, parameter.name, text)
        if kind is int:
            code, text = message(ask(method, *right[:place], "x", *right[place + 1 :]))
            assert (code, text.partition("\n")[0]) == (-32602, "Parse Error (4)")


@pytest.mark.parametrize("method", [*PAGES, *TOLD])
def test_a_page_has_a_thousand_rows_at_most_and_begins_in_the_first_million(ask: Any, method: str) -> None:
    *before, _, _ = PAGES.get(method) or TOLD[method]
    told = "limit must be <= 1000" if method in TOLD else ""
    assert "result" in ask(method, *before, 1_000_000, 1_000)
    assert message(ask(method, *before, 1_000_001, 1_001)) == refused(f"limit <= 1000: {told}")
    beyond = ask(method, *before, 1_000_001, 1_000)
    if method in TOLD:
        assert beyond["result"] == []
    else:
        assert message(beyond) == refused("from <= MAX_PM_PAGE_FROM: ")


@pytest.mark.parametrize("method", [name for name, count in COUNTS.items() if count != 0])
def test_ids_and_names_of_nothing_are_refused_or_give_nothing(ask: Any, method: str) -> None:
    right = arguments_of(method)
    for unknown in (FAR_ID, -1) if isinstance(right[0], int) and takes_id(method) else ("nobody", ""):
        answer = (
            ask(method, unknown, *right[1:]) if method not in {"list_oracles", "list_markets"} else ask(method, *right)
        )
        if method in NOTHING:
            assert message(answer) == refused(NOTHING[method])
        elif method == "get_dispute_votes":
            assert (answer["result"]["votes"], answer["result"]["expected_uphold"]) == ([], True)
        elif method == "get_category_tag_counts":
            assert answer["result"] == {"categories": [], "hot_tags": []}
        elif method != "get_lazy_allocations":
            assert answer["result"] == []


def test_a_pool_that_is_not_there_is_told(tmp_path: Path) -> None:
    with answers_of(fresh_ledger(tmp_path, 13), tmp_path) as asking:
        assert message(asking("prediction_market_api", "get_lazy_pool")) == refused(
            "p != nullptr: Lazy pool not initialized"
        )


def test_texts_of_numbers_are_refused_as_signed_ones(ask: Any) -> None:
    assert message(ask("get_market", "x")) == (-32602, "Parse Error (4)\nCouldn't parse int64_t\n")
    assert message(ask("list_markets", "x", 0, 1)) == (-32602, "Parse Error (4)\nCouldn't parse int64_t\n")
    assert message(ask("get_market", [])) == (-32602, "Bad Cast (7)\nInvalid cast from array_type to int64\n")
