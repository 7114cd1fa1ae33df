"""Reading the bodies of strangers: memory and time are bounded before anything is read."""

from __future__ import annotations

import asyncio
import gc
import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest

from ledgerd.codec.json.errors import JsonError
from ledgerd.rpc.call import reading
from ledgerd.rpc.call.dispatch import Later
from ledgerd.rpc.call.errors import PlainError
from ledgerd.rpc.call.reading import (
    MOST_ODD_ESCAPES,
    MOST_VALUES,
    MOST_WIDE_BYTES,
    LargeBatch,
    read_large_request,
    read_request,
)
from tests.rpc.sample_api import dispatcher, request

SMILE = "\U0001f600".encode()
MEGABYTE = 1_000_000


@pytest.mark.parametrize("text", ['{"a":[1,"2",null]}', '"\\a"', "[1 2]"])
def test_a_large_body_is_read_as_a_small_one(text: str) -> None:
    assert read_large_request(text.encode()) == read_request(text.encode())


@pytest.mark.parametrize(
    "body",
    [
        b"[" + b'"a",' * MOST_VALUES + b"0]",
        b"[" + b"{}," * MOST_VALUES + b"0]",
        b'{"a":0' + b',"b":0' * (MOST_VALUES // 2) + b"}",
    ],
    ids=["entries", "objects", "keys"],
)
def test_values_and_keys_are_counted_before_they_are_read(body: bytes) -> None:
    with pytest.raises(PlainError, match="A request holds at most 1000000 values"):
        read_large_request(body)


def test_a_very_large_text_has_no_character_that_makes_all_others_take_four_bytes() -> None:
    with pytest.raises(PlainError, match="beyond U\\+FFFF has at most 16000000 bytes"):
        read_large_request(b'"' + b"a" * MOST_WIDE_BYTES + SMILE + b'"')

    assert read_large_request(b'"' + b"a" * MEGABYTE + SMILE + b'"') == "a" * MEGABYTE + SMILE.decode()
    assert len(str(read_large_request(b'"' + "é".encode() * (MOST_WIDE_BYTES // 2) + b'"'))) == MOST_WIDE_BYTES // 2


def test_escapes_in_what_is_not_ordinary_json_are_counted_before_they_are_read() -> None:
    with pytest.raises(JsonError, match="more than 200000 escapes in what is not ordinary JSON"):
        read_request(b'"' + b"\\a" * (MOST_ODD_ESCAPES + 1) + b'"')

    assert read_request(b'"' + b"\\a" * MOST_ODD_ESCAPES + b'"') == "a" * MOST_ODD_ESCAPES
    assert read_request(b'"' + b"\\n" * (MOST_ODD_ESCAPES + 1) + b'"') == "\n" * (MOST_ODD_ESCAPES + 1)


WORST: dict[str, Callable[[], bytes]] = {
    "keys": lambda: json.dumps({f"{place:x}": 0 for place in range(MOST_VALUES // 2 - 1)}).encode(),
    "objects": lambda: b"[" + b'{"a":0},' * (MOST_VALUES // 3 - 1) + b"0]",
    "texts": lambda: b"[" + ",".join(f'"é{place}"' for place in range(MOST_VALUES - 1)).encode() + b"]",
    "one text": lambda: b'"' + b"a" * (MOST_WIDE_BYTES - 10) + SMILE + b'"',
}


@pytest.mark.parametrize("kind", WORST)
def test_what_a_body_needs_in_memory_is_bounded(kind: str) -> None:
    """Of the process: the allocator's own account of a million values takes half a minute."""
    body = WORST[kind]()
    before = memory_of_process("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # VmHWM begins again
    read_large_request(body)

    assert memory_of_process("VmHWM") - before < 150 * MEGABYTE


def memory_of_process(name: str) -> int:
    """A figure in bytes of the status of this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


def test_no_cycles_are_searched_while_a_large_body_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[bool] = []

    def read(_body: bytes) -> None:
        searched.append(gc.isenabled())

    monkeypatch.setattr(reading, "read_request", read)
    read_large_request(b"0")

    assert searched == [False]
    assert gc.isenabled()


def test_a_fault_leaves_the_search_for_cycles_on() -> None:
    with pytest.raises(JsonError):
        read_large_request(b"{")

    assert gc.isenabled()


def test_the_requests_of_a_large_batch_are_those_of_the_whole() -> None:
    for text in ('[1, "é\U0001f600", {"a":[1]}, null ]', ' [ {"b":"\udcff"}, [] ,"\\n"]\n', "[[0]]"):
        body = text.encode("utf-8", "surrogateescape")
        batch = read_large_request(body)

        assert isinstance(batch, LargeBatch)
        assert len(batch) == len(list(batch))
        assert list(batch) == read_request(body)


@pytest.mark.parametrize("text", ["[]", "[1,]", "[1 2]", "[1,2]3", '["\\ud83d\\ude00"]'])
def test_a_batch_that_is_not_ordinary_json_is_read_as_a_whole(text: str) -> None:
    assert read_large_request(text.encode()) == read_request(text.encode())


def test_large_batches_that_are_answered_together_are_read_request_by_request() -> None:
    serving = dispatcher()
    call = json.dumps(request("echo", ["viz"] * 900))
    body = f"[{','.join([call] * 100)}]".encode()

    async def scene() -> int:
        batches = [serving.answer(body) for _ in range(8)]
        assert all(isinstance(each, Later) for each in batches)
        await asyncio.gather(*(each.first() for each in batches if isinstance(each, Later)))
        return tracemalloc.get_traced_memory()[1]

    tracemalloc.start()
    try:
        most = asyncio.run(scene())
    finally:
        tracemalloc.stop()

    assert most < 20 * len(body)
