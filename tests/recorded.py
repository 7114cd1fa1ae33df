"""What a reference node recorded of private chains: `tests/vectors/chains`, described in the README there.

Texts are handed out as they were recorded: nothing here knows the protocol.
"""

from __future__ import annotations

import json
import lzma
from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

CHAINS = {"open-1": 2718, "open-2": 617, "open-hf0": 336, "open-main": 900}
"""The chains of hardforks 0 to 13, and how many blocks each has."""

MARKET_CHAINS = {"open-pm": 2027, "open-pm2": 463, "open-big": 1488, "open-main15": 1216}
"""The chains that went on to hardfork 15."""

ALL_CHAINS = {**CHAINS, **MARKET_CHAINS}

ANSWERED = {**ALL_CHAINS, "open-big": 1350}
"""The height at which a node was asked for every block of a chain, and for the operations of each."""

AGAIN = "open-1-at-4.1.0"
"""The blocks of `open-1` once more, in a node of a later version."""

LATER_CHAIN = "open-up"
FIRST_LATER, LAST_LATER = 2718, 3198
"""A chain that goes on from the last state of `open-1`, and its blocks."""

PROBES = ("open-1/probe-1200", "open-1/probe-2718", "open-hf0/probe-336", "open-main/probe-900")
MARKET_PROBES = ("open-pm/probe-1200", "open-pm/probe-2027", "open-pm2/probe-463", "open-main15/probe-1216")
"""Transactions sent to a node that stands at a block, and what it said of each."""

FOLDER = Path(__file__).parent / "vectors" / "chains"

_OFFSET = 8
_BEFORE, _AFTER = '{"jsonrpc":"2.0","result":', ',"id":'


def _unpacked(name: str) -> bytes:
    return lzma.decompress((FOLDER / f"{name}.xz").read_bytes())


@cache
def recorded_log(chain: str) -> bytes:
    """The block log: each block's bytes, followed by the place where they began."""
    return _unpacked(f"{'open-1' if chain == AGAIN else chain}/block_log")


@cache
def recorded_blocks(chain: str) -> tuple[bytes, ...]:
    """The bytes of block 1, 2, 3, ..."""
    return _cut(recorded_log(chain))


@cache
def later_blocks() -> tuple[bytes, ...]:
    """The bytes of the blocks of `LATER_CHAIN`, from the block at which its first state stands."""
    return _cut(_unpacked(f"{LATER_CHAIN}/dlt_block_log"))


def _cut(log: bytes) -> tuple[bytes, ...]:
    blocks = []
    end = len(log)
    while end:
        start = int.from_bytes(log[end - _OFFSET : end], "little")
        blocks.append(log[start : end - _OFFSET])
        end = start
    return tuple(reversed(blocks))


@cache
def recorded_answers(chain: str, head: int) -> Mapping[str, Mapping[tuple[Any, ...], str]]:
    """What the node at `head` answered: method, then arguments, then the text of the result."""
    answers: dict[str, dict[tuple[Any, ...], str]] = defaultdict(dict)
    for line in _unpacked(f"{chain}/answers-{head}.jsonl").decode("utf-8", "surrogateescape").splitlines():
        fact = json.loads(line)
        _, method, arguments = fact["request"]["params"]
        answer = fact["answer"]
        answers[method][tuple(arguments)] = answer[len(_BEFORE) : answer.rindex(_AFTER)]
    return answers


def recorded_result(file: str, method: str) -> str:
    """The text of the first result of a method in a file such as `open-pm/api-2027`."""
    lines = _unpacked(f"{file}.jsonl").decode("utf-8", "surrogateescape").splitlines()
    answer: str = next(fact["answer"] for fact in map(json.loads, lines) if fact["request"]["params"][1] == method)
    return answer[len(_BEFORE) : answer.rindex(_AFTER)]


def recorded_snapshot(state: str) -> bytes:
    """The text in the file of a recorded state, such as `open-pm/state-2027`."""
    return _unpacked(f"{state}.json")


def recorded_sections(state: str) -> dict[str, Any]:
    """The sections of a recorded state as plain JSON."""
    document = msgspec.json.decode(recorded_snapshot(state))  # in half of the time of `json`: the texts are all UTF-8
    return dict(document["state"])


@cache
def recorded_probe(name: str) -> tuple[dict[str, Any], ...]:
    """Each transaction of a probe (`trx`), its `id`, and how it was `refused`, or that it was not.

    Later ones say also with which `error` the node answered. Where an account does not exist, operations (`ops`) and
    that error are all that is told.
    """
    return tuple(map(json.loads, _unpacked(f"{name}.jsonl").splitlines()))
