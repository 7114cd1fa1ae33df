"""Requests and answers of JSON-RPC, from the side of who asks."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.client.envelope import (
    MISSING,
    ErrorAnswer,
    NodeCall,
    NotAnAnswer,
    packed,
    parsed,
    request_of,
    result_of,
    results_of,
)


def test_a_request_is_a_call_by_its_number() -> None:
    request = json.loads(packed(request_of(7, NodeCall("database_api", "get_block", (1,)))))
    assert request == {"jsonrpc": "2.0", "id": 7, "method": "call", "params": ["database_api", "get_block", [1]]}


def test_texts_that_are_not_utf_8_do_not_hide_the_rest() -> None:
    assert parsed(b'{"memo":"a\xffb"}') == {"memo": "a\ufffdb"}
    with pytest.raises(NotAnAnswer):
        parsed(b"<html>\xff")


@pytest.mark.parametrize("answer", [None, [], "x", {}, {"id": 2, "result": 1}, {"id": 1}, {"id": 1, "error": "no"}])
def test_what_answers_something_else_is_no_answer(answer: object) -> None:
    with pytest.raises(NotAnAnswer):
        result_of(answer, 1)  # type: ignore[arg-type]  # any JSON


def test_an_error_is_raised_with_its_text() -> None:
    with pytest.raises(ErrorAnswer) as raised:
        result_of({"id": 1, "error": {"message": f"{MISSING}API x", "data": 3}}, 1)
    assert (raised.value.is_missing, raised.value.data) == (True, 3)
    assert not ErrorAnswer("assert").is_missing


def test_the_answers_of_a_batch_are_put_in_the_order_of_its_requests() -> None:
    raw = json.dumps([{"id": 1, "error": {"message": "no"}}, {"id": 0, "result": "a"}, {"id": 2, "result": None}])
    first, second, third = results_of(raw.encode(), 3)
    assert (first, third) == ("a", None)
    assert isinstance(second, ErrorAnswer)


def test_one_error_may_answer_a_whole_batch() -> None:
    with pytest.raises(ErrorAnswer, match="starting"):
        results_of(b'{"id":null,"error":{"message":"starting"}}', 2)
    for raw in (b"[]", b'{"id":0,"result":1}', b'[{"id":0,"result":1},{"id":0,"result":1}]', b'["x","y"]'):
        with pytest.raises(NotAnAnswer):
            results_of(raw, 2)


@given(st.binary(max_size=200))
def test_no_bytes_do_anything_else(raw: bytes) -> None:
    with suppress(NotAnAnswer, ErrorAnswer):
        assert len(results_of(raw, 1)) == 1
