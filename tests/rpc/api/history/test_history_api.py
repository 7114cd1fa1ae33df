"""Filters and cursors over a recorded chain: every page is what the recorded answers say it must be."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from ledgerd.codec.json.text import Json
from ledgerd.rpc.api.history import pages as history_pages
from ledgerd.rpc.call.dispatch import Dispatcher
from tests.recorded import CHAINS, recorded_answers
from tests.rpc.api.recorded_past import asked, history_dispatcher

NAME = "open-2"
HEAD = CHAINS[NAME]
ACCOUNTS = ("alice", "viz", "bob")

Entry = tuple[int, dict[str, Any]]


@pytest.fixture(scope="module")
def dispatcher(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dispatcher]:
    with history_dispatcher(NAME, tmp_path_factory.mktemp(NAME)) as dispatcher:
        yield dispatcher


@pytest.fixture(autouse=True, params=[5_000, 40])
def _bounded(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """As it is, and with so little work for a page that most of them end early."""
    monkeypatch.setattr(history_pages, "MOST_EXAMINED", request.param)
    monkeypatch.setattr(history_pages, "SLICE", request.param // 3)


def call(dispatcher: Dispatcher, method: str, *arguments: Json) -> Any:
    answer = json.loads(asked(dispatcher, "history_api", method, list(arguments)))
    return answer["result"] if "result" in answer else answer["error"]


def account_page(dispatcher: Dispatcher, account: str, given: Json, cursor: str) -> Any:
    return call(dispatcher, "get_account_operations", account, given, cursor, 7)


def operations_of_blocks() -> list[dict[str, Any]]:
    answers = recorded_answers(NAME, HEAD)["get_ops_in_block"]
    return [each for number in range(1, HEAD + 1) for each in json.loads(answers[number, False])]


def history_of(dispatcher: Dispatcher, account: str) -> list[Entry]:
    found: list[Entry] = []
    last = -1
    while not found or found[0][0] > 0:
        page = json.loads(asked(dispatcher, "account_history", "get_account_history", [account, last, 1000]))["result"]
        found = [(number, operation) for number, operation in page] + found
        last = found[0][0] - 1
    return found


def walked(ask: Callable[[str], Any], part: str, start: str, way: str, limit: int) -> list[Any]:
    """Everything that pages hold from a cursor on, in the order of the chain."""
    found: list[Any] = []
    cursor, seen = start, set[str]()
    while cursor and cursor not in seen:
        seen.add(cursor)
        page = ask(cursor)
        assert part != "entries" or len(page["entries"]) <= limit
        found = found + page[part] if way == "newer" else page[part] + found
        cursor = page.get(way, "")
    return found


MIDDLE = operations_of_blocks()[len(operations_of_blocks()) // 2]["timestamp"]

FILTERS: list[tuple[dict[str, Json], Callable[[dict[str, Any], str], bool]]] = [
    ({}, lambda _each, _name: True),
    ({"types": ["transfer", "award"]}, lambda each, _: each["op"][0] in {"transfer", "award"}),
    ({"since": MIDDLE}, lambda each, _: each["timestamp"] >= MIDDLE),
    ({"until": MIDDLE}, lambda each, _: each["timestamp"] < MIDDLE),
    ({"since": MIDDLE, "until": MIDDLE}, lambda _each, _name: False),
    ({"types": ["transfer"], "direction": "incoming"}, lambda each, name: _transfers(each, "to", name)),
    ({"types": ["transfer"], "direction": "outgoing"}, lambda each, name: _transfers(each, "from", name)),
    ({"irreversible": True}, lambda _each, _name: True),
]


def _transfers(each: dict[str, Any], field: str, name: str) -> bool:
    return bool(each["op"][0] == "transfer" and each["op"][1][field] == name)


@pytest.mark.parametrize("start", [("newest", "older"), ("oldest", "newer")], ids=lambda each: each[1])
@pytest.mark.parametrize(
    ("given", "holds"), FILTERS, ids=lambda each: json.dumps(each) if isinstance(each, dict) else ""
)
def test_pages_hold_the_entries_of_an_account_that_a_filter_lets_pass(
    dispatcher: Dispatcher, given: dict[str, Json], holds: Callable[[dict[str, Any], str], bool], start: tuple[str, str]
) -> None:
    for name in ACCOUNTS:
        expected = [[number, each] for number, each in history_of(dispatcher, name) if holds(each, name)]
        ask = partial(account_page, dispatcher, name, given)
        assert walked(ask, "entries", *start, 7) == expected


@pytest.mark.parametrize("start", [("newest", "older"), ("oldest", "newer")], ids=lambda each: each[1])
@pytest.mark.parametrize(
    ("given", "holds"), FILTERS[:5], ids=lambda each: json.dumps(each) if isinstance(each, dict) else ""
)
def test_pages_hold_the_operations_of_blocks_that_a_filter_lets_pass(
    dispatcher: Dispatcher, given: dict[str, Json], holds: Callable[[dict[str, Any], str], bool], start: tuple[str, str]
) -> None:
    found = walked(lambda cursor: call(dispatcher, "get_operations", given, cursor, 30), "operations", *start, 30)
    assert found == [each for each in operations_of_blocks() if holds(each, "")]


def test_operations_of_blocks_are_looked_for_by_account_and_direction(dispatcher: Dispatcher) -> None:
    given: Json = {"accounts": ["alice"], "direction": "outgoing", "types": ["transfer", "award"]}
    found = walked(
        lambda cursor: call(dispatcher, "get_operations", given, cursor, 1000), "operations", "oldest", "newer", 1
    )
    expected = [
        each
        for each in operations_of_blocks()
        if _transfers(each, "from", "alice") or (each["op"][0] == "award" and each["op"][1]["initiator"] == "alice")
    ]
    assert found == expected
    assert found


def test_the_newest_page_has_a_cursor_for_what_will_come(dispatcher: Dispatcher) -> None:
    last = history_of(dispatcher, "viz")[-1][0]
    page = call(dispatcher, "get_account_operations", "viz", {}, "newest", 3)
    assert [number for number, _ in page["entries"]] == [last - 2, last - 1, last]
    assert page["newer"] == f"after:{last}"
    assert page["older"] == f"before:{last - 2}"
    again = call(dispatcher, "get_account_operations", "viz", {}, page["newer"], 3)
    assert again["entries"] == []
    assert again["newer"] == page["newer"]


def test_an_account_without_history_has_an_empty_page(dispatcher: Dispatcher) -> None:
    page = call(dispatcher, "get_account_operations", "nobody-at-all")
    assert page == {"entries": [], "newer": "oldest"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([{"type": ["transfer"]}], "filter: there is no field type; there are types, accounts"),
        ([{"types": ["transfers"]}], "filter.types[0]: Invalid operation name: transfers"),
        ([{"direction": "sideways"}], "filter.direction: invalid name 'sideways' in enum 'direction'"),
        ([{"since": "yesterday"}], "filter.since: "),
        ([{"accounts": ["a"] * 101}], "filter.accounts: at most 100 accounts"),
        ([{}, "before:x"], 'cursor: "newest", "oldest", "before:N" or "after:N" is expected, not "before:x"'),
        ([{}, "after:99999999999"], "cursor: "),
        ([{}, "newest", 0], "limit: 1 to 1000 operations make a page, not 0"),
        ([{}, "newest", 1001], "limit: 1 to 1000 operations make a page, not 1001"),
    ],
)
def test_what_cannot_be_looked_for_is_refused(dispatcher: Dispatcher, arguments: list[Json], words: str) -> None:
    assert words in call(dispatcher, "get_operations", *arguments)["message"]
    assert words in call(dispatcher, "get_account_operations", "viz", *arguments)["message"]
