from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from ledgerd.codec.json.text import Json
from ledgerd.rpc.call.dispatch import Dispatcher
from tests.history.histories import recorded_histories
from tests.recorded import ANSWERED
from tests.rpc.api.recorded_past import asked, history_dispatcher, without_places
from tests.rpc.api.serving import examples_that_differ

ACCOUNT = "viz"


@pytest.fixture(scope="module", params=ANSWERED)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def dispatcher(name: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dispatcher]:
    with history_dispatcher(name, tmp_path_factory.mktemp(name)) as dispatcher:
        yield dispatcher


def history_of(dispatcher: Dispatcher, *arguments: Json) -> str:
    return asked(dispatcher, "account_history", "get_account_history", list(arguments))


def entries(dispatcher: Dispatcher, *arguments: Json) -> list[list[Json]]:
    found: list[list[Json]] = json.loads(history_of(dispatcher, *arguments))["result"]
    return found


def message(dispatcher: Dispatcher, *arguments: Json) -> str:
    return str(json.loads(history_of(dispatcher, *arguments))["error"]["message"])


def test_recorded_requests_get_the_recorded_answers(name: str, dispatcher: Dispatcher) -> None:
    refused = 0
    for (account, start, limit), recorded in recorded_histories(name).items():
        number = json.loads(recorded[recorded.rindex('"id":') - 1 :].replace(',"id"', '{"id"'))["id"]
        answer = asked(dispatcher, "account_history", "get_account_history", [account, start, limit], number)
        if '"error"' in recorded:
            assert without_places(answer) == without_places(recorded)
            refused += 1
        else:
            assert answer == recorded
    assert refused


def test_the_examples_get_their_results(name: str, dispatcher: Dispatcher) -> None:
    assert examples_that_differ(dispatcher, name, ANSWERED[name]) == []


def test_a_page_has_one_entry_more_than_its_limit(dispatcher: Dispatcher) -> None:
    assert [number for number, _ in entries(dispatcher, ACCOUNT, 9, 3)] == [6, 7, 8, 9]
    assert [number for number, _ in entries(dispatcher, ACCOUNT, 2, 3)] == [0, 1, 2]


def test_a_limit_of_zero_answers_with_the_one_entry(dispatcher: Dispatcher) -> None:
    (newest,) = entries(dispatcher, ACCOUNT, -1, 0)
    assert newest == entries(dispatcher, ACCOUNT, 0xFFFFFFFF, 1)[-1]
    assert [number for number, _ in entries(dispatcher, ACCOUNT, 5, 0)] == [5]


def test_more_than_a_thousand_entries_are_refused(dispatcher: Dispatcher) -> None:
    assert entries(dispatcher, ACCOUNT, -1, 1000)
    assert "limit <= 1000: Limit of 1001 is greater than maxmimum allowed (1000)" in message(
        dispatcher, ACCOUNT, -1, 1001
    )


def test_an_account_without_history_is_refused(dispatcher: Dispatcher) -> None:
    assert (
        "itr_range != idx_range.end(): Account not found in history index, it may have been purged since the last  "
        "4294967295 blocks are stored in the history" in message(dispatcher, "nobody-at-all", -1, 1)
    )


def test_an_entry_above_the_newest_is_refused(dispatcher: Dispatcher) -> None:
    last = entries(dispatcher, ACCOUNT, -1, 0)[0][0]
    assert f"From is greater than account history end sequence {last}" in message(dispatcher, ACCOUNT, 4_000_000_000, 1)


@pytest.mark.parametrize("arguments", [[], [ACCOUNT], [ACCOUNT, -1], [ACCOUNT, -1, 1, 1]])
def test_arguments_are_counted(dispatcher: Dispatcher, arguments: list[Json]) -> None:
    assert f"Expected #s argument(s), was {len(arguments)}" in message(dispatcher, *arguments)
