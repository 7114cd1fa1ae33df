"""Envelopes and errors against what a reference node answered (spec 05, sections 5 and 6)."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from ledgerd.rpc.call.dispatch import Later
from tests.rpc.recorded_requests import ENVELOPES, NEWER, OLDER, Exchange, comparable, recorded_exchanges
from tests.rpc.sample_api import dispatcher

THROWN = {"level": "error"}
VERSION = {"jsonrpc": "2.0", "result": "3.2.0"}


def bad_cast(kind: str) -> dict[str, Any]:
    text = f"Invalid cast from type '{kind}' to Object"
    entry = {"context": THROWN, "format": "Invalid cast from type '${type}' to Object", "data": {"type": kind}}
    data = {"code": 7, "name": "bad_cast_exception", "message": "Bad Cast", "stack": [entry]}
    return {"jsonrpc": "2.0", "error": {"code": -32602, "message": f"Bad Cast (7)\n{text}\n", "data": data}, "id": None}


def illegal_id() -> dict[str, Any]:
    text = 'Only integer value or string is allowed for member "id"'
    stack = [{"context": THROWN, "format": text, "data": {}}]
    data = {"code": 4, "name": "parse_error_exception", "message": "Parse Error", "stack": stack}
    return {
        "jsonrpc": "2.0",
        "error": {"code": -32602, "message": f"Parse Error (4)\n{text}\n", "data": data},
        "id": None,
    }


# The reference serves errors from its cache to other requests: those of the same method and parameters, and all
# that have neither. Here each is answered for itself (spec 05, section 3, and docs/api.md).
NOT_FROM_THE_CACHE: dict[int, dict[str, Any]] = {
    4: bad_cast("null_type"),
    5: bad_cast("uint64_type"),
    6: bad_cast("string_type"),
    9: bad_cast("string_type"),
    17: {"jsonrpc": "2.0", "error": {"code": -32001, "message": 'A member "params" does not exist'}, "id": 1},
    24: VERSION | {"id": 0},
    25: VERSION | {"id": -1},
    26: VERSION | {"id": 7},
    27: VERSION | {"id": 4294967295},
    28: VERSION | {"id": "4294967296"},
    29: VERSION | {"id": "9007199254740993"},
    30: illegal_id(),
    31: VERSION | {"id": "abc"},
    32: VERSION | {"id": ""},
    33: illegal_id(),
    34: illegal_id(),
    35: illegal_id(),
    36: illegal_id(),
    37: illegal_id(),
    38: VERSION | {"id": None},
    **dict.fromkeys((1610, *range(1614, 1620, 2), *range(1619, 1627)), VERSION | {"id": 1}),
}

# `api.method` with positional parameters works besides `call` (docs/api.md).
DOTTED: dict[int, dict[str, Any]] = {47: VERSION | {"id": 1}, 48: VERSION | {"id": 1}}

OUT_OF_RANGE = "vector::_M_range_check: __n (which is 0) >= this->size() (which is 0)"

DIFFERENCES = NOT_FROM_THE_CACHE | DOTTED


def with_bodies() -> list[Exchange]:
    exchanges = recorded_exchanges()
    return [
        exchanges[number] for number in ENVELOPES if exchanges[number].body and exchanges[number].method != "OPTIONS"
    ]


def answer_to(body: bytes) -> bytes:
    answer = dispatcher().answer(body)
    return asyncio.run(answer.first()) if isinstance(answer, Later) else answer


@pytest.mark.parametrize("exchange", with_bodies(), ids=lambda each: str(each.number))
def test_every_recorded_envelope_gets_its_answer(exchange: Exchange) -> None:
    answer = comparable(answer_to(exchange.body.encode()))

    assert answer == DIFFERENCES.get(exchange.number, comparable(exchange.answer))


@pytest.mark.parametrize("number", DIFFERENCES)
def test_every_difference_is_one(number: int) -> None:
    assert comparable(recorded_exchanges()[number].answer) != DIFFERENCES[number]


def test_4_1_0_says_the_same_but_for_its_version_and_what_it_had_in_its_cache() -> None:
    """Where 3.2.0 had an error in its cache, 4.1.0 had the version, and gave it whatever the envelope was."""
    older, newer = recorded_exchanges(OLDER), recorded_exchanges(NEWER)
    from_the_cache = {*range(18, 39), 1610, 1614, 1616, *range(1618, 1627)}

    for number in ENVELOPES:
        assert newer[number].body == older[number].body
        assert newer[number].status == older[number].status
        if number in from_the_cache:
            assert json.loads(newer[number].answer)["result"] == "4.1.0"
        else:
            said = older[number].answer.replace('"3.2.0"', '"4.1.0"')
            assert comparable_or_not(newer[number].answer) == comparable_or_not(said)


def comparable_or_not(answer: str) -> Any:
    """A page is not JSON."""
    return comparable(answer) if answer.startswith(("{", "[")) else answer


def test_the_keys_of_an_answer_stand_in_the_order_of_the_reference() -> None:
    for number in (2, 3, 7, 67, 71):
        exchange = recorded_exchanges()[number]
        ours, theirs = (json.loads(text) for text in (answer_to(exchange.body.encode()), exchange.answer))
        assert key_order(ours) == key_order(theirs)


def key_order(value: Any) -> Any:
    if isinstance(value, dict):
        return [(key, key_order(each)) for key, each in value.items()]
    return [key_order(each) for each in value] if isinstance(value, list) else None


@pytest.mark.parametrize(
    ("request_text", "answer"),
    [
        (
            '{"method":"call","id":1}',
            '{"jsonrpc":"2.0","error":{"code":-32600,"message":"jsonrpc value is not \\"2.0\\""},"id":1}',
        ),
        (
            '{"jsonrpc":"2.0","id":1}',
            '{"jsonrpc":"2.0","error":{"code":-32600,"message":"A member \\"method\\" does not exist"},"id":1}',
        ),
        (
            '{"jsonrpc":"2.0","method":"call","id":1}',
            '{"jsonrpc":"2.0","error":{"code":-32001,"message":"A member \\"params\\" does not exist"},"id":1}',
        ),
        (
            '{"jsonrpc":"2.0","method":"call","params":["database_api","optional",[]],"id":1}',
            f'{{"jsonrpc":"2.0","error":{{"code":-32000,"message":"{OUT_OF_RANGE}"}},"id":1}}',
        ),
        (
            '{"jsonrpc":"2.0","method":"call","params":["database_api","get_hardfork_version",[]],"id":5000000000}',
            '{"jsonrpc":"2.0","result":"3.2.0","id":"5000000000"}',
        ),
        (
            '{"jsonrpc":"2.0","method":"call","params":["database_api","echo",[[]]],"id":-7}',
            '{"jsonrpc":"2.0","result":[],"id":-7}',
        ),
    ],
)
def test_fixed_answers_are_the_specified_bytes(request_text: str, answer: str) -> None:
    assert answer_to(request_text.encode()) == answer.encode()


@pytest.mark.parametrize(
    ("arguments", "result"),
    [
        (r'["\u0041\ud83d\ude00\b"]', '"A\U0001f600\\b"'),
        (r'["é"]', '"é"'),
        (r'["\/"]', '"/"'),
    ],
)
def test_escapes_are_decoded(arguments: str, result: str) -> None:
    body = f'{{"jsonrpc":"2.0","method":"call","params":["database_api","echo",{arguments}],"id":1}}'

    assert answer_to(body.encode()) == f'{{"jsonrpc":"2.0","result":{result},"id":1}}'.encode()


def test_bytes_that_are_not_utf8_go_out_as_they_came_in() -> None:
    body = b'{"jsonrpc":"2.0","method":"call","params":["database_api","echo",["\xff\xfe"]],"id":1}'

    assert answer_to(body) == b'{"jsonrpc":"2.0","result":"\xff\xfe","id":1}'


@pytest.mark.parametrize(
    ("parameters", "answer"),
    [
        ("", '{"jsonrpc":"2.0","result":"3.2.0","id":1}'),
        (',"params":[]', '{"jsonrpc":"2.0","result":"3.2.0","id":1}'),
    ],
)
def test_a_dotted_method_takes_positional_parameters_or_none(parameters: str, answer: str) -> None:
    body = f'{{"jsonrpc":"2.0","method":"database_api.get_hardfork_version"{parameters},"id":1}}'

    assert answer_to(body.encode()) == answer.encode()


@pytest.mark.parametrize(("parameters", "kind"), [("{}", "object_type"), ("null", "null_type"), ('"a"', "string_type")])
def test_a_dotted_method_takes_no_other_parameters(parameters: str, kind: str) -> None:
    body = f'{{"jsonrpc":"2.0","method":"database_api.get_hardfork_version","params":{parameters},"id":1}}'

    error = json.loads(answer_to(body.encode()))["error"]

    assert (error["code"], error["message"]) == (-32602, f"Bad Cast (7)\nInvalid cast from {kind} to Array\n")
