from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from ledgerd.codec.json.text import Json
from ledgerd.rpc.call.dispatch import Dispatcher
from tests.recorded import CHAINS, recorded_answers
from tests.rpc.api.recorded_past import asked, history_dispatcher

NAME = "open-2"
BLOCKS = range(1, CHAINS[NAME] + 1)


@pytest.fixture(scope="module")
def dispatcher(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dispatcher]:
    with history_dispatcher(NAME, tmp_path_factory.mktemp(NAME)) as dispatcher:
        yield dispatcher


def answered(dispatcher: Dispatcher, method: str, *arguments: Json) -> str:
    return asked(dispatcher, "operation_history", method, list(arguments))


def test_recorded_requests_get_the_recorded_answers(dispatcher: Dispatcher) -> None:
    for arguments, text in recorded_answers(NAME, CHAINS[NAME])["get_ops_in_block"].items():
        answer = answered(dispatcher, "get_ops_in_block", *arguments)
        assert answer == f'{{"jsonrpc":"2.0","result":{text},"id":1}}', arguments


def test_a_block_that_nobody_has_seen_has_no_operations(dispatcher: Dispatcher) -> None:
    assert answered(dispatcher, "get_ops_in_block", 4_000_000_000, False) == '{"jsonrpc":"2.0","result":[],"id":1}'


def test_every_transaction_is_answered_as_its_block_has_it(dispatcher: Dispatcher) -> None:
    count = 0
    for number in BLOCKS:
        operations = json.loads(answered(dispatcher, "get_ops_in_block", number, False))["result"]
        places = {each["trx_in_block"]: each["trx_id"] for each in operations if each["trx_in_block"] != 65535}
        block = json.loads(recorded_answers(NAME, CHAINS[NAME])["get_block"][number,])
        for place, transaction in places.items():
            answer = json.loads(answered(dispatcher, "get_transaction", transaction))["result"]
            assert answer == block["transactions"][place] | {
                "transaction_id": transaction,
                "block_num": number,
                "transaction_num": place,
            }
            assert list(answer)[-3:] == ["transaction_id", "block_num", "transaction_num"]
            count += 1
    assert count > 50


def test_an_unknown_transaction_is_refused(dispatcher: Dispatcher) -> None:
    error = json.loads(answered(dispatcher, "get_transaction", "00" * 19 + "01"))["error"]
    assert error["code"] == -32003
    assert error["message"] == f"Assert Exception (10)\nfalse: Unknown Transaction {'00' * 19}01\n"


@pytest.mark.parametrize(
    ("method", "arguments", "expected"),
    [("get_ops_in_block", [1], 1), ("get_transaction", [], 0), ("get_ops_in_block", [1, True, 1], 3)],
)
def test_arguments_are_counted(dispatcher: Dispatcher, method: str, arguments: list[Json], expected: int) -> None:
    message = json.loads(answered(dispatcher, method, *arguments))["error"]["message"]
    assert f"Expected #s argument(s), was {expected}" in message
