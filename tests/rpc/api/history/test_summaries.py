"""Summaries of a recorded chain agree with the whole blocks and transactions that the reference answered."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from ledgerd.codec.json.text import Json
from ledgerd.rpc.api.history import summaries
from ledgerd.rpc.call.dispatch import Dispatcher
from tests.recorded import CHAINS, recorded_answers
from tests.rpc.api.recorded_past import asked, history_dispatcher

NAME = "open-2"
HEAD = CHAINS[NAME]
HEADER = ("previous", "timestamp", "validator", "transaction_merkle_root", "extensions", "validator_signature")


@pytest.fixture(scope="module")
def dispatcher(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dispatcher]:
    with history_dispatcher(NAME, tmp_path_factory.mktemp(NAME)) as dispatcher:
        yield dispatcher


def call(dispatcher: Dispatcher, method: str, *arguments: Json) -> Any:
    answer = json.loads(asked(dispatcher, "history_api", method, list(arguments)))
    return answer["result"] if "result" in answer else answer["error"]["message"]


def recorded_block(number: int) -> Any:
    return json.loads(recorded_answers(NAME, HEAD)["get_block"][number,])


def recorded_operations(number: int) -> list[Any]:
    found: list[Any] = json.loads(recorded_answers(NAME, HEAD)["get_ops_in_block"][number, False])
    return found


def summary_of(number: int, operations: list[Mapping[str, Any]]) -> dict[str, Any]:
    """What the summary of a block must say, but for its id."""
    block = recorded_block(number)
    own = Counter(each[0] for one in block["transactions"] for each in one["operations"])
    return {name: block[name] for name in HEADER} | {
        "block": number,
        "transactions": len(block["transactions"]),
        "operations": own.total(),
        "virtual_operations": sum(each["virtual_op"] > 0 for each in operations),
        "kinds": dict(own),
    }


def kinds_as_names(summary: dict[str, Any]) -> dict[str, Any]:
    counts = [each["count"] for each in summary["kinds"]]
    assert counts == sorted(counts, reverse=True)
    return summary | {"kinds": {each["name"]: each["count"] for each in summary["kinds"]}}


def test_every_block_is_summed_up_as_it_was_recorded(dispatcher: Dispatcher) -> None:
    found = [each for first in range(1, HEAD + 1, 50) for each in call(dispatcher, "get_blocks", first, 50)]
    ids = [each.pop("block_id") for each in found]
    assert [kinds_as_names(each) for each in found] == [
        summary_of(number, recorded_operations(number)) for number in range(1, HEAD + 1)
    ]
    assert ids[:-1] == [each["previous"] for each in found[1:]]


def test_what_the_history_does_not_have_is_counted_in_the_block_itself(
    dispatcher: Dispatcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ledgerd.history.embedded.view.EmbeddedView.kinds_of", lambda *_: [])
    numbers = [number for number in range(1, HEAD + 1) if len(recorded_block(number)["transactions"]) > 1][:5]
    for number in numbers:
        (found,) = call(dispatcher, "get_blocks", number, 1)
        del found["block_id"]
        assert kinds_as_names(found) == summary_of(number, [])
    assert len(numbers) == 5


def test_an_answer_ends_when_enough_blocks_were_decoded(
    dispatcher: Dispatcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ledgerd.history.embedded.view.EmbeddedView.kinds_of", lambda *_: [])
    monkeypatch.setattr(summaries, "MOST_BYTES", 0)
    first = next(number for number in range(1, HEAD + 1) if recorded_block(number)["transactions"])
    assert [each["block"] for each in call(dispatcher, "get_blocks", first, 50)] == [first]


def test_an_answer_ends_when_enough_of_blocks_was_read(dispatcher: Dispatcher, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = call(dispatcher, "get_blocks", 1, 50)
    monkeypatch.setattr(summaries, "MOST_READ", 1_000)
    part = call(dispatcher, "get_blocks", 1, 50)
    assert part == whole[: len(part)]
    assert 1 < len(part) < 20


@pytest.mark.parametrize("limit", [1, 3, 1000])
def test_the_parts_of_a_block_are_all_of_it(dispatcher: Dispatcher, limit: int) -> None:
    for number in range(1, HEAD + 1):
        whole, found = recorded_operations(number), list[Any]()
        for first in range(0, len(whole) + 1, limit):
            answer = call(dispatcher, "get_block_operations", number, first, limit)
            assert answer["count"] == len(whole)
            found += answer["operations"]
        assert found == whole


def test_no_transaction_but_the_one_asked_for_is_read(dispatcher: Dispatcher, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same answers come where the history does not know the places of its operations, for more work."""
    operations = [each for number in range(1, HEAD + 1) for each in recorded_operations(number)]
    identifiers = sorted({each["trx_id"] for each in operations if each["trx_in_block"] != 65535})
    with monkeypatch.context() as changed:
        changed.setattr(summaries, "part_in", lambda *_: None)
        found = [call(dispatcher, "get_transaction", each, 0, 2) for each in identifiers]
    assert [each["transaction_id"] for each in found] == identifiers
    monkeypatch.setattr("ledgerd.history.embedded.view.EmbeddedView.offsets_of", lambda *_: [])
    assert [call(dispatcher, "get_transaction", each, 0, 2) for each in identifiers] == found


@pytest.mark.parametrize("limit", [2, 1000])
def test_every_transaction_is_told_with_what_followed_from_it(dispatcher: Dispatcher, limit: int) -> None:
    count = 0
    for number in range(1, HEAD + 1):
        block, operations = recorded_block(number), recorded_operations(number)
        places = {each["trx_in_block"]: each["trx_id"] for each in operations if each["trx_in_block"] != 65535}
        for place, identifier in places.items():
            one = block["transactions"][place]
            followed = [each for each in operations if each["trx_id"] == identifier and each["virtual_op"]]
            assert call(dispatcher, "get_transaction", identifier, 0, limit) == {
                "transaction_id": identifier,
                "block": number,
                "trx_in_block": place,
                "timestamp": block["timestamp"],
                "validator": block["validator"],
                "count": len(one["operations"]),
                "operations": one["operations"][:limit],
                "virtual_operations": followed[:limit],
            } | {name: one[name] for name in ("ref_block_num", "ref_block_prefix", "expiration", "signatures")}
            assert (
                call(dispatcher, "get_transaction", identifier, 1, limit)["operations"] == one["operations"][1:][:limit]
            )
            count += 1
    assert count > 50


@pytest.mark.parametrize(
    ("method", "arguments", "words"),
    [
        ("get_blocks", [1, 0], "limit: 1 to 50 blocks are told of at once, not 0"),
        ("get_blocks", [1, 51], "limit: 1 to 50 blocks"),
        ("get_block_operations", [1, 0, 0], "limit: 1 to 1000 operations"),
        ("get_block_operations", [1, 0, 1001], "limit: 1 to 1000 operations"),
        ("get_transaction", ["00" * 20, 0, 1001], "limit: 1 to 1000 operations"),
        ("get_transaction", ["00" * 19 + "01"], f"Unknown Transaction {'00' * 19}01"),
        ("get_transaction", ["xyz"], ""),
    ],
)
def test_what_cannot_be_asked_is_refused(
    dispatcher: Dispatcher, method: str, arguments: list[Json], words: str
) -> None:
    found = call(dispatcher, method, *arguments)
    assert isinstance(found, str)
    assert words in found


@pytest.mark.parametrize("number", [0, HEAD + 1, 0xFFFF_FFFF])
def test_of_a_block_that_is_not_there_nothing_is_told(dispatcher: Dispatcher, number: int) -> None:
    assert call(dispatcher, "get_blocks", number, 50) == []
    assert call(dispatcher, "get_block_operations", number) == {"count": 0, "operations": []}
