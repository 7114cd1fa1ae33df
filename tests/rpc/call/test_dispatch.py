"""Requests that do not come one by one, or are not answered at once (spec 05, sections 5.4 and 5.5)."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import threading
from contextlib import aclosing
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.basics.quotas import HeldAmounts
from ledgerd.codec.json.text import Json
from ledgerd.rpc.call.bounds import BoundReached, RequestBudget
from ledgerd.rpc.call.dispatch import BatchAnswers, Dispatcher, Later
from ledgerd.rpc.call.errors import PlainError
from ledgerd.rpc.call.limits import Limits
from ledgerd.rpc.call.reading import LARGE
from tests.garbage import nothing_stays
from tests.patience import PATIENCE
from tests.rpc.sample_api import Main, dispatcher, request


def encoded(value: Json) -> bytes:
    return json.dumps(value).encode()


def answer_of(serving: Dispatcher, body: bytes) -> Any:
    answer = serving.answer(body)
    return json.loads(asyncio.run(answer.first()) if isinstance(answer, Later) else answer)


def later(serving: Dispatcher, value: Json) -> Later:
    answer = serving.answer(encoded(value))
    assert isinstance(answer, Later)
    return answer


@given(st.binary(max_size=200) | st.text(alphabet='{}[],:"\\ntfalse0.-eu', max_size=60).map(str.encode))
def test_any_bytes_are_answered(body: bytes) -> None:
    answer = dispatcher().answer(body)
    text = asyncio.run(answer.first()) if isinstance(answer, Later) else answer

    assert text.startswith((b'{"jsonrpc":"2.0",', b'[{"jsonrpc":"2.0",'))


def test_a_batch_is_answered_in_its_order() -> None:
    calls: Json = [request("echo", number, identity=number) for number in range(5)]

    assert [each["result"] for each in answer_of(dispatcher(), encoded(calls))] == [0, 1, 2, 3, 4]


def test_a_batch_within_a_batch_is_no_request() -> None:
    [answer] = answer_of(dispatcher(), encoded([[request("echo", 1)]]))

    assert answer["error"]["message"] == "Bad Cast (7)\nInvalid cast from type 'array_type' to Object\n"


def test_a_batch_has_a_limit() -> None:
    serving = dispatcher(limits=Limits(batch=2))

    assert len(answer_of(serving, b"[1,1]")) == 2
    assert answer_of(serving, b"[1,1,1]")["error"]["code"] == -32600


def test_a_batch_waits_for_what_comes_later() -> None:
    calls: Json = [request("broadcast", "a", api="network_broadcast_api"), request("echo", 2)]

    assert [each["result"] for each in answer_of(dispatcher(), encoded(calls))] == [{}, 2]


def test_a_late_answer_comes_when_it_is_there() -> None:
    async def scene() -> bytes:
        main = Main()
        main.may_answer.clear()
        answer = later(dispatcher(main), request("broadcast", "a", api="network_broadcast_api"))
        waiting = asyncio.ensure_future(answer.first())
        await asyncio.sleep(0)
        assert not waiting.done()
        main.may_answer.set()
        answered = await waiting
        assert main.asked == [("broadcast", b"a")]
        return answered

    assert asyncio.run(scene()) == b'{"jsonrpc":"2.0","result":{},"id":1}'


def test_a_late_refusal_is_an_ordinary_error() -> None:
    answer = answer_of(dispatcher(), encoded(request("broadcast", "wrong", api="network_broadcast_api")))

    assert answer["error"]["code"] == -32003
    assert answer["error"]["message"] == "Assert Exception (10)\nvalue != wrong: It is wrong\n"


def test_a_wrong_number_of_arguments_is_refused_at_once() -> None:
    serving = dispatcher()

    assert isinstance(serving.answer(encoded(request("broadcast", api="network_broadcast_api"))), bytes)


def test_a_subscription_answers_again_and_again_under_one_id_until_it_is_closed() -> None:
    async def scene() -> None:
        main = Main()
        following = later(dispatcher(main), request("follow", "blocks", api="network_broadcast_api", identity="s"))
        async with aclosing(following.answers) as answers:
            for number in range(3):
                coming = asyncio.ensure_future(anext(answers))
                await main.heard.wait()
                main.publish(b"%d" % number)
                assert (await coming)() == b'{"jsonrpc":"2.0","result":"%d","id":"s"}' % number
        assert main.listeners == []

    asyncio.run(scene())


def test_the_first_answer_ends_a_subscription_that_can_have_only_one() -> None:
    async def scene() -> None:
        main = Main()
        following = later(dispatcher(main), request("follow", "blocks", api="network_broadcast_api"))
        coming = asyncio.ensure_future(following.first())
        await main.heard.wait()
        main.publish(b"1")
        assert await coming == b'{"jsonrpc":"2.0","result":"1","id":1}'
        assert main.listeners == []

    asyncio.run(scene())


def test_a_large_body_is_read_beside_the_loop_and_answered_alike() -> None:
    serving = dispatcher()
    text = "x" * LARGE

    assert answer_of(serving, encoded(request("echo", text)))["result"] == text
    assert answer_of(serving, b"[" + b" " * LARGE)["error"]["code"] == -32000
    assert answer_of(serving, encoded([request("echo", text)]))[0]["result"] == text


def test_large_bodies_are_read_one_at_a_time_though_their_clients_leave(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, most = 0, 0
    may_end = threading.Event()

    def read(_body: bytes) -> Json:
        nonlocal reading, most
        reading, most = reading + 1, max(most, reading + 1)
        may_end.wait(PATIENCE)
        reading -= 1
        raise PlainError("the client has left, and nobody is told")

    async def scene() -> list[str]:
        unheard: list[str] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, told: unheard.append(str(told)))
        serving = dispatcher()
        for number in range(4):
            answer = serving.answer(encoded([number, "x" * LARGE]))
            assert isinstance(answer, Later)
            asked = asyncio.ensure_future(answer.first())
            for _ in range(5):
                await asyncio.sleep(0)
            asked.cancel()
            await asyncio.gather(asked, return_exceptions=True)
        may_end.set()
        answer = serving.answer(encoded(["last", "x" * LARGE]))
        assert isinstance(answer, Later)
        assert b"nobody is told" in await answer.first()
        gc.collect()
        await asyncio.sleep(0)
        return unheard

    monkeypatch.setattr("ledgerd.rpc.call.dispatch.read_large_request", read)
    assert asyncio.run(scene()) == []
    assert most == 1


def test_a_large_body_that_is_refused_does_not_stay_in_memory() -> None:
    async def scene() -> None:
        serving, body = dispatcher(), b'{"x":' + b"[1," * LARGE
        with nothing_stays(3 * len(body)):
            for number in range(8):
                answer = serving.answer(body + b"%d" % number)
                assert isinstance(answer, Later)
                assert b'"error"' in await answer.first()
                del answer

    asyncio.run(scene())


def test_a_fault_of_ours_is_told_as_such_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        answer = answer_of(dispatcher(), encoded(request("break_down")))

    assert answer["error"] == {"code": -32000, "message": "Internal error: the node's log says more"}
    assert "ZeroDivisionError" in caplog.text


def test_damage_on_the_disk_is_told_to_the_operator_once(caplog: pytest.LogCaptureFixture) -> None:
    serving = dispatcher()
    for _ in range(3):
        answer = answer_of(serving, encoded(request("read_damaged")))
        assert answer["error"] == {"code": -32000, "message": "Internal error: the node's log says more"}

    assert [record.getMessage() for record in caplog.records] == ["block 7 cannot be read"]
    assert "Traceback" not in caplog.text


def test_a_method_that_needs_a_state_says_that_there_is_none() -> None:
    error = answer_of(dispatcher(), encoded(request("read_state")))["error"]

    assert error == {"code": -32000, "message": "The node has no state"}


def test_the_answers_are_one_array_and_count_as_kept_until_it_is_taken() -> None:
    held = HeldAmounts(100)
    batch = BatchAnswers([1, 2], RequestBudget(Limits(), share="one"), held)
    for _ in batch.rest:
        batch.add(b"{}")
    assert held.total == 4
    assert batch.take() == b"[{},{}]"
    assert held.total == 0
    batch.release()
    assert held.total == 0


def test_whoever_has_most_may_not_go_on_where_too_much_is_kept() -> None:
    held = HeldAmounts(10)
    batch = BatchAnswers([], RequestBudget(Limits(), share="one"), held)
    with pytest.raises(BoundReached):
        batch.add(b"x" * 11)
    batch.release()
    assert held.total == 0
