"""Bytes and JSON for the codecs, and requests for JSON-RPC: damaged values of the corpus and of recorded blocks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from ledgerd.codec import Codec, codec_of
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.rpc.call.dispatch import Dispatcher, Later
from tests.chain.recorded_chains import advance
from tests.fuzz.corpus import inputs
from tests.fuzz.mutations import ODD_NUMBERS, damaged
from tests.fuzz.target import CODECS, Broken, survive_bytes, survive_json
from tests.recorded import CHAINS, recorded_blocks
from tests.rpc.api.serving import dispatcher_over, followed_chain
from tests.rpc.recorded_requests import recorded_exchanges

RECORDED_BLOCKS = 60
"""Of each chain, those with the most in them."""

SERVED, SERVED_BLOCKS = "open-2", 150
LARGEST_ANSWER = 150_000
"""Bytes of a call's answer: all served blocks with their operations are 120,000."""
LARGEST_INFOS = 10_000 * 140
"""Bytes of what `get_block_info` tells of so many blocks, known or not (spec 05, section 19)."""

JSON_WORDS = (
    *(b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b"null", b"true", b"-", b"0", b"1e9", b"1.5", b'""', b"\\u0000"),
    *(b"[" * 70, b'{"a":' * 40, b"\\ud800", b"\xff", b"\x00", b"9223372036854775808", b"18446744073709551616", b" "),
    *(b'"1.000 VIZ"', b'"-1.000 VIZ"', b'"1970-01-01T00:00:00"', b"4294967296", b"NaN", b"// x\n", b"'"),
)


class Chosen(NamedTuple):
    """An input, and the place of the codec that reads it."""

    place: int
    data: bytes


@cache
def sound(direction: int) -> tuple[tuple[bytes, ...], ...]:
    """For each codec the inputs that damage begins with: bytes (0) or JSON (1)."""
    found: list[list[bytes]] = [[] for _ in CODECS]
    for data in filter(None, inputs()):
        which, chosen = divmod(data[0], 128)
        if which == direction:
            found[chosen % len(CODECS)].append(data[1:])
    for kind, values in (Block, _blocks()), (Transaction, _transactions()):
        codec = codec_of(kind)
        found[CODECS.index(codec)] += [_written(codec, value, direction) for value in values]
    return tuple(map(tuple, found))


def _written(codec: Codec[Any], value: Any, direction: int) -> bytes:
    return codec.to_json(value).encode("utf-8", "surrogateescape") if direction else codec.encode(value)


@cache
def _blocks() -> tuple[Block, ...]:
    packed = [each for name in CHAINS for each in sorted(recorded_blocks(name), key=len)[-RECORDED_BLOCKS:]]
    return tuple(codec_of(Block).decode(each) for each in packed if len(each) < 3_000)


def _transactions() -> list[Transaction]:
    return [transaction for block in _blocks() for transaction in block.transactions]


class Bytes:
    """Packed values."""

    direction = 0
    words = ODD_NUMBERS

    def make(self, random: Random) -> Chosen:
        place = int(random.random() * len(CODECS))
        return Chosen(place, damaged(random, random.choice(sound(self.direction)[place]), self.words))

    def survive(self, given: Chosen) -> bool:
        return survive_bytes(CODECS[given.place], given.data)


class Json(Bytes):
    """Values as JSON, and in one input of four a request that a client sends."""

    direction = 1
    words = JSON_WORDS
    request_share = 0.25

    def __init__(self, served: Dispatcher) -> None:
        self._dispatcher = served

    def make(self, random: Random) -> Chosen:
        if random.random() >= self.request_share:
            return super().make(random)
        return Chosen(-1, damaged(random, random.choice(_requests()), self.words))

    def survive(self, given: Chosen) -> bool:
        if given.place >= 0:
            return survive_json(CODECS[given.place], given.data)
        return bool(given.data) and survive_request(self._dispatcher, given.data)


@cache
def _requests() -> tuple[bytes, ...]:
    """Of every method, right and wrong ones."""
    return tuple(each.body.encode() for each in recorded_exchanges() if 0 < len(each.body) < 1_000)


@contextmanager
def served_state(folder: Path) -> Iterator[Dispatcher]:
    """What answers requests, over the state of a recorded chain."""
    with followed_chain(SERVED, folder) as chain:
        advance(chain, SERVED, SERVED_BLOCKS)
    with dispatcher_over(SERVED, folder) as served:
        yield served


def survive_request(served: Dispatcher, body: bytes) -> bool:
    """Whether a request got a result; otherwise it has got one error, which is not ours."""
    answer = served.answer(body)
    if isinstance(answer, Later):
        return True
    largest = LARGEST_INFOS if b"get_block_info" in body else LARGEST_ANSWER
    if len(answer) > largest * max(1, body.count(b'"params"')) + 8 * len(body):
        raise Broken(f"{len(answer)} bytes for a request of {len(body)}")
    told = json.loads(answer.decode("utf-8", "surrogateescape"))
    every = told if isinstance(told, list) else [told]
    for each in every:
        if each.get("jsonrpc") != "2.0" or ("result" in each) is ("error" in each) or "id" not in each:
            raise Broken(f"no answer to a request: {answer!r:.300}")
        if "error" in each and each["error"]["message"].startswith("Internal error"):
            raise Broken(f"an error of ours: {answer!r:.300}")
    return "result" in every[-1]
