"""Kept answers are those that the request would have got anyway, under its own id."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.rpc.call.cache import LONGEST_ANSWER, LONGEST_REQUEST, AnswerCache, split_id
from ledgerd.rpc.call.dispatch import Later
from tests.rpc.sample_api import calls, dispatcher, request

OPENING = b'{"jsonrpc":"2.0","result":1,"id":'


def body(identity: str, spaces: str = "") -> bytes:
    return f'{{"jsonrpc":"2.0","method":"m","id":{spaces}{identity}}}'.encode()


ID_TEXTS = st.sampled_from(
    ["0", "7", "007", "-1", "999999999", "4294967296", '"a"', '""', '"id"', '"\\u0041"', "null", "1.5", "[]", "1e5"]
)
MEMBERS = st.sampled_from(
    [
        '"jsonrpc":"2.0"',
        '"method":"call"',
        '"params":["database_api","get_hardfork_version",[]]',
        '"params":["database_api","echo",["id"]]',
        '"params":["database_api","echo",[{"id":5}]]',
        '"params":["database_api","echo",["\\"id\\":5"]]',
        '"params":["database_api","pair",["a","x"]]',
        '"i\\d":5',
    ]
)
SPACES = st.sampled_from(["", " ", "\n", "\t "])
ENDS = st.sampled_from(["}", " }", "} ", '},"id":5}', "", "]"])


@st.composite
def bodies(draw: st.DrawFn) -> bytes:
    members = draw(st.lists(MEMBERS, max_size=4, unique=True))
    for _ in range(draw(st.integers(0, 2))):
        space = draw(SPACES)
        members.insert(draw(st.integers(0, len(members))), f'"id":{space}{draw(ID_TEXTS)}{draw(SPACES)}')
    return f"{{{','.join(members)}{draw(ENDS)}".encode()


@given(st.lists(bodies(), max_size=12))
def test_no_request_is_answered_differently_because_of_those_before_it(sent: list[bytes]) -> None:
    keeping, forgetting = dispatcher(), dispatcher(entries=0)

    for each in sent:
        assert keeping.answer(each) == forgetting.answer(each)


@given(st.integers(0, 1 << 40), st.integers(0, 1 << 40), SPACES)
def test_an_answer_is_kept_for_every_id(first: int, second: int, spaces: str) -> None:
    keeping = dispatcher()
    call = json.dumps(request("get_hardfork_version"))[:-2]

    for identity in (first, second):
        answer = keeping.answer(f"{call}{spaces}{identity}}}".encode())
        assert isinstance(answer, bytes)
        assert int(json.loads(answer)["id"]) == identity


@pytest.mark.parametrize("identity", ["1", "999999999", '"a-b_c.9"'])
def test_a_repeated_request_is_not_evaluated_again(identity: str) -> None:
    keeping = dispatcher()
    calls.clear()

    for _ in range(3):
        keeping.answer(json.dumps(request("get_hardfork_version")).replace('"id": 1', f'"id": {identity}').encode())

    assert calls == ["get_hardfork_version"]


def test_a_new_head_ends_what_was_kept() -> None:
    keeping, calling = dispatcher(), json.dumps(request("get_hardfork_version")).encode()
    calls.clear()

    keeping.answer(calling)
    keeping.cache.clear()
    keeping.answer(calling)

    assert len(calls) == 2


@pytest.mark.parametrize("method", ["count", "break_down", "pair", "no_such_method"])
def test_errors_and_what_changes_within_a_block_are_not_kept(method: str) -> None:
    keeping = dispatcher()

    keeping.answer(json.dumps(request(method)).encode())

    assert len(keeping.cache) == 0


def test_a_full_cache_begins_anew() -> None:
    kept = AnswerCache(entries=2)

    for number in range(3):
        kept.keep(body("1").replace(b"m", b"m%d" % number), "1", OPENING)

    assert len(kept) == 1
    assert kept.find(body("2").replace(b"m", b"m2")) == OPENING + b"2}"


@pytest.mark.parametrize(
    ("long_body", "opening"),
    [(body("1") + b" " * LONGEST_REQUEST, OPENING), (body("1"), b"x" * (LONGEST_ANSWER + 1))],
    ids=["request", "answer"],
)
def test_what_is_very_long_is_not_kept(long_body: bytes, opening: bytes) -> None:
    kept = AnswerCache()

    kept.keep(long_body, "1", opening)

    assert len(kept) == 0


@pytest.mark.parametrize(
    "text",
    ['{"id":1,"x":{"id":1}}', '{"a":"\\"id\\":1","id":1}', '{"id":01}', '{"id":-1}', '{"id":1.5}', '{"id":1e5}', "{}"],
)
def test_an_id_that_is_not_plain_to_see_is_not_looked_for(text: str) -> None:
    assert split_id(text.encode()) == (b"", b"")


def test_the_answer_to_a_subscription_is_not_kept() -> None:
    keeping = dispatcher()
    asking = json.dumps(request("follow", "blocks", api="network_broadcast_api")).encode()

    assert isinstance(keeping.answer(asking), Later)
    assert isinstance(keeping.answer(asking), Later)


def test_a_cache_with_room_for_few_bytes_begins_anew_when_they_are_used_up() -> None:
    small, large = AnswerCache(most_bytes=1_000), AnswerCache()
    for number in range(20):
        asked = f'{{"jsonrpc":"2.0","method":"m{number}","id":1}}'.encode()
        for cache in (small, large):
            cache.keep(asked, "1", OPENING + b"0" * 200)
    assert len(large) == 20
    assert 0 < len(small) <= 4
