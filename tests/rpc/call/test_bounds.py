"""What one request or batch may ask for, and what the operator hears of who meets a bound."""

from __future__ import annotations

import asyncio
import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from ledgerd.codec.json.text import Json
from ledgerd.rpc.api import APIS
from ledgerd.rpc.call.bounds import MOST_COUNTED, OTHERS, BoundReached, LimitsReached, RequestBudget, names_in
from ledgerd.rpc.call.cache import AnswerCache
from ledgerd.rpc.call.dispatch import Dispatcher, Later
from ledgerd.rpc.call.limits import Asker, Limits
from tests.chain.recorded_chains import advance
from tests.rpc.api.serving import dispatcher_over, followed_chain
from tests.rpc.sample_api import clock, dispatcher, request, service

NAMES = "A request or batch holds at most 1000 names, keys and signatures (webserver-max-names)"


def answer_of(serving: Dispatcher, value: Json, address: str = "") -> Any:
    answer = serving.answer(json.dumps(value).encode(), Asker(address))
    return json.loads(asyncio.run(answer.first()) if isinstance(answer, Later) else answer)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("chain")
    with followed_chain("open-1", folder) as chain:
        advance(chain, "open-1", 50)
    return folder


def over(folder: Path, limits: Limits) -> Any:
    """What a dispatcher with these limits answers."""

    def ask(value: Json) -> Any:
        with dispatcher_over("open-1", folder) as serving:
            bounded = Dispatcher(APIS, serving.node, clock, cache=AnswerCache(0), limits=limits)
            return answer_of(bounded, value)

    return ask


@pytest.mark.parametrize("method", ["get_accounts", "lookup_account_names"])
def test_a_thousand_names_are_answered_and_one_more_is_refused(folder: Path, method: str) -> None:
    ask = over(folder, Limits())

    assert "result" in ask(request(method, ["nobody"] * 1000))
    assert ask(request(method, ["nobody"] * 1001))["error"]["message"] == NAMES


def test_the_names_of_a_batch_count_together(folder: Path) -> None:
    call = request("lookup_account_names", ["nobody"] * 400)

    first, second, third, last = over(folder, Limits())([call, call, call, request("get_account_count")])

    assert len(first["result"]) == len(second["result"]) == 400
    assert third["error"]["message"] == NAMES
    assert "result" in last


def test_keys_and_signatures_count_as_names(folder: Path) -> None:
    key = "VIZ6MyX5QiXAXRZk7SYCiqpi6Mtm8UbHWDFSV8HPpt7FJyahCnc2T"
    transaction: Json = {"operations": [], "signatures": ["00" * 65] * 1001}
    ask = over(folder, Limits())

    asked = [
        request("get_key_references", [key] * 1001, api="account_by_key"),
        request("get_potential_signatures", transaction),
        request("get_required_signatures", transaction, []),
        request("verify_authority", transaction),
    ]
    assert [ask(each)["error"]["message"] for each in asked] == [NAMES] * 4


def test_an_answer_that_grows_too_large_is_refused_before_it_is_whole(folder: Path) -> None:
    asked = request("get_accounts", ["viz"] * 900)
    whole = len(json.dumps(over(folder, Limits())(asked)["result"]))
    made: list[str] = []

    def count(option: str) -> None:
        made.append(option)

    refused = over(folder, Limits(answer_bytes=whole // 3))(asked)
    assert refused["error"]["message"] == (
        f"An answer to a request or batch has at most {whole // 3} bytes (webserver-max-answer-size)"
    )
    budget = RequestBudget(Limits(answer_bytes=10), count)
    budget.count_bytes(6)
    with pytest.raises(BoundReached):
        budget.require_room(5)
    assert made == ["webserver-max-answer-size"]


def test_the_answers_of_a_batch_count_together() -> None:
    serving = dispatcher(limits=Limits(answer_bytes=1000))

    answers = answer_of(serving, [request("echo", "x" * 400)] * 50)

    assert sum("result" in each for each in answers) == 2
    assert len(answers) == 50


def test_zero_is_no_bound() -> None:
    serving = dispatcher(limits=Limits(names=0, answer_bytes=0))

    assert len(answer_of(serving, request("echo", ["name"] * 5000))["result"]) == 5000


def test_a_block_is_not_weighed_by_its_transactions() -> None:
    [method] = [each for api in APIS for each in api if each.name == "broadcast_block"]

    assert not method.is_weighed


def test_names_are_counted_in_lists_and_in_the_lists_of_objects() -> None:
    assert names_in(["a", 1, ["b", "c"], {"signatures": ["d"], "accounts": ["e", "f"], "limit": 9}]) == 5


def test_who_meets_a_bound_is_noted_with_the_option() -> None:
    serving = dispatcher(limits=Limits(names=1, batch=1))

    answer_of(serving, request("echo", ["a", "b"]), "192.0.2.1")
    answer_of(serving, [1, 2], "192.0.2.2")

    assert serving.bounds.line(0) == (
        "webserver-max-batch-size 1 times (192.0.2.2 1); webserver-max-names 1 times (192.0.2.1 1)"
    )


def test_the_operator_is_told_once_a_minute() -> None:
    met = LimitsReached()
    lines = []
    for second in range(180):
        met.count("webserver-max-names", f"192.0.2.{second % 5}")
        lines.append(met.line(second))

    assert [second for second, line in enumerate(lines) if line] == [0, 60, 120]
    assert lines[60].startswith("webserver-max-names 60 times (192.0.2.")
    assert lines[60].endswith("and 2 more addresses)")


def test_of_many_addresses_a_bounded_number_is_remembered() -> None:
    met = LimitsReached()
    for number in range(3 * MOST_COUNTED):
        met.count("webserver-max-names", str(number))

    line = met.line(0)
    assert line.startswith(f"webserver-max-names {3 * MOST_COUNTED} times ({OTHERS} {2 * MOST_COUNTED}")
    assert line.endswith(f"and {MOST_COUNTED - 2} more addresses)")


def test_the_watch_writes_the_line(caplog: pytest.LogCaptureFixture) -> None:
    serves = service()

    async def scene() -> None:
        serves.count_limit("webserver-max-held-bytes", "192.0.2.1")
        serves.check_connections(0)
        serves.check_connections(1)

    asyncio.run(scene())
    assert [each.message for each in caplog.records] == [
        "limits reached by clients: webserver-max-held-bytes 1 times (192.0.2.1 1)"
    ]


@pytest.mark.parametrize(
    "body",
    [
        b"[" + b"1," * 50_000 + b"x y",
        b'{"jsonrpc":"2.0","method":"call","params":["' + b"x" * 3_000_000 + b'","y",[]]}',
        b'{"jsonrpc":"2.0","method":"call","params":["database_api","pair",["' + b"x" * 3_000_000 + b'",{"a":1}]]}',
        b'{"jsonrpc":"2.0","method":"call","params":["database_api","pair",["a","' + b"x" * 3_000_000 + b'"]]}',
        b'["' + b"x" * 3_000_000 + b'",',
    ],
    ids=["many values", "an API", "an argument", "a number", "an array that does not end"],
)
def test_an_error_shows_a_bounded_part_of_what_was_sent(body: bytes) -> None:
    answer = dispatcher().answer(body)
    text = asyncio.run(answer.first()) if isinstance(answer, Later) else answer

    assert b'"error"' in text
    assert len(text) < 600_000


def test_a_request_that_is_not_ordinary_json_has_few_values() -> None:
    odd = b'{"jsonrpc":"2.0","method":"call","params":["database_api","echo",[[%b]]],"id":1,}'

    serving = dispatcher(limits=Limits(names=0))
    answered, refused = (serving.answer(odd % b" ".join([b"1"] * count)) for count in (19_000, 21_000))
    assert isinstance(answered, bytes)
    assert isinstance(refused, bytes)
    assert b'"result"' in answered
    assert b"more than 20000 values in what is not ordinary JSON" in refused


def test_a_request_of_more_values_than_memory_bears_is_not_read() -> None:
    answer = dispatcher().answer(b"[" + b"[]," * 1_000_000 + b"[]]")
    assert isinstance(answer, Later)

    assert json.loads(asyncio.run(answer.first()))["error"]["message"] == "A request holds at most 1000000 values"


def test_the_errors_of_a_batch_count_as_its_answers_do() -> None:
    serving = dispatcher(limits=Limits(answer_bytes=1000))

    answers = answer_of(serving, [request("no_such_method")] * 100)

    assert len(answers) == 100
    assert sum("webserver-max-answer-size" in each["error"]["message"] for each in answers) > 90


@pytest.mark.parametrize("method", ["get_potential_signatures", "verify_authority"])
def test_what_is_too_large_for_a_block_is_not_asked_for_its_signers(folder: Path, method: str) -> None:
    transfer: Json = {"from": "viz", "to": "viz", "amount": "1.000 VIZ", "memo": "x" * 70_000}
    transaction: Json = {
        "ref_block_num": 0,
        "ref_block_prefix": 0,
        "expiration": "2026-01-01T00:00:00",
        "operations": [["transfer", transfer]],
        "extensions": [],
        "signatures": [],
    }

    asked = over(folder, Limits())(request(method, transaction))

    assert asked["error"]["message"] == "A transaction has at most 65536 bytes"


def test_the_answer_of_a_batch_is_in_memory_once() -> None:
    serving = dispatcher()
    answer = serving.answer(json.dumps([request("long", 100_000)] * 160).encode())
    assert isinstance(answer, Later)

    async def scene() -> tuple[int, int]:
        made = await answer.first()
        return len(made), tracemalloc.get_traced_memory()[1]

    tracemalloc.start()
    try:
        size, most = asyncio.run(scene())
    finally:
        tracemalloc.stop()

    assert size > 16_000_000
    assert most < 1.5 * size
