"""Recorded transactions and blocks, damaged in 28,000 ways: each still makes a canonical value or a documented error.

The same damage is done in every run, and twice as much by `EVERY_SEED=1 scripts/test
tests/protocol/test_mutations.py`; `tests/fuzz` looks for new kinds of it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from functools import cache
from random import Random
from typing import Any

import pytest

from ledgerd.codec import Codec, codec_of
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.operations import Operation
from tests.fuzz.target import survive_bytes, survive_json
from tests.recorded import CHAINS, recorded_blocks, recorded_probe

SEEDS = range(8 if "EVERY_SEED" in os.environ else 4)
TRANSACTIONS_A_SEED = 4_500
BLOCKS_A_SEED = 500
TEXTS_A_SEED = 2_000

SAMPLES_OF_A_KIND = 6
LARGEST_SAMPLE = 3_000

HOSTILE_LENGTHS = tuple(
    bytes.fromhex(each)
    for each in ("00", "7f", "8000", "8001", "808000", "ffff03", "ffffff04", "ffffffff07", "ffffffff0f", "80" * 12)
)
ODD_VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 65_536, 2**32, 2**63, 2**64 - 1, -(2**63), 0.5, -1e300),
    *(
        "",
        "0",
        "-5",
        "1.000 VIZ",
        "-0.500 VIZ",
        "1.00 V",
        "1.0 VIZ extra",
        "2018-10-01T00:00:00",
        "2106-02-07T06:28:15",
    ),
    *("VIZ1111111111111111111111111111111114T1Anm", "ab", "ABC", "1.2.3", "\0", "\ud7ff\x04", "n" * 40, "true"),
    *([], {}, [[]], [0], [0, {}], ["transfer", {}], {"weight_threshold": 1}),
)

Damage = Callable[[Random, bytes, bytes], bytes]


def flip_a_bit(random: Random, data: bytes, _: bytes) -> bytes:
    place = random.randrange(len(data))
    return data[:place] + bytes([data[place] ^ 1 << random.randrange(8)]) + data[place + 1 :]


def set_a_byte(random: Random, data: bytes, _: bytes) -> bytes:
    place = random.randrange(len(data))
    return data[:place] + bytes([random.randrange(256)]) + data[place + 1 :]


def cut_off(random: Random, data: bytes, _: bytes) -> bytes:
    return data[: random.randrange(len(data))]


def cut_out(random: Random, data: bytes, _: bytes) -> bytes:
    place = random.randrange(len(data))
    return data[:place] + data[place + random.randrange(1, 20) :]


def put_in(random: Random, data: bytes, _: bytes) -> bytes:
    place = random.randrange(len(data) + 1)
    return data[:place] + random.randbytes(random.randrange(1, 20)) + data[place:]


def repeat(random: Random, data: bytes, _: bytes) -> bytes:
    place = random.randrange(len(data))
    end = place + random.randrange(1, 80)
    return data[:end] + data[place:end] * random.randrange(1, 4) + data[end:]


def promise_another_length(random: Random, data: bytes, _: bytes) -> bytes:
    place = random.randrange(len(data))
    return data[:place] + random.choice(HOSTILE_LENGTHS) + data[place + 1 :]


def splice(random: Random, data: bytes, other: bytes) -> bytes:
    return data[: random.randrange(len(data))] + other[random.randrange(len(other)) :]


DAMAGES: tuple[Damage, ...] = (
    flip_a_bit,
    set_a_byte,
    cut_off,
    cut_out,
    put_in,
    repeat,
    promise_another_length,
    splice,
)


@cache
def transactions() -> tuple[Transaction, ...]:
    """Some of every operation that was ever recorded or sent."""
    blocks = (codec_of(Block).decode(block) for chain in CHAINS for block in recorded_blocks(chain))
    on_chain = (transaction for block in blocks for transaction in block.transactions)
    tried = (codec_of(Transaction).from_json(fact["trx"]) for fact in recorded_probe("open-1/probe-2718"))
    counts: dict[type[Operation], int] = {}
    chosen = []
    for transaction in (*on_chain, *tried):
        kind = type(transaction.operations[-1])
        counts[kind] = counts.get(kind, 0) + 1
        if counts[kind] <= SAMPLES_OF_A_KIND and len(transaction.packed) <= LARGEST_SAMPLE:
            chosen.append(transaction)
    return tuple(chosen)


@cache
def blocks() -> tuple[bytes, ...]:
    """Blocks of all the chains, those with header extensions and those with many transactions among them."""
    return tuple(
        block for chain in CHAINS for block in recorded_blocks(chain)[::7] if 150 < len(block) <= LARGEST_SAMPLE
    )


def damaged(random: Random, samples: tuple[bytes, ...]) -> bytes:
    data = random.choice(samples)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        data = random.choice(DAMAGES)(random, data or b"\0", random.choice(samples))
    return data


def damaged_tree(random: Random, value: Any) -> Any:
    """The tree with something odd, something lost or something moved in one place."""
    if isinstance(value, list | dict) and value and random.random() < 0.85:
        copy = value.copy()
        place = random.choice(list(copy) if isinstance(copy, dict) else range(len(copy)))
        if random.random() < 0.08:
            del copy[place]
        else:
            copy[place] = damaged_tree(random, copy[place])
        return copy
    return random.choice((random.choice(ODD_VALUES), [value], {"op": value}, [value, value]))


def survivors(codec: Codec[Any], seed: int, samples: tuple[bytes, ...], number: int) -> int:
    random = Random(seed)  # noqa: S311 - no secret: the same damage in every run
    return sum(survive_bytes(codec, damaged(random, samples)) for _ in range(number))


@pytest.mark.parametrize("seed", SEEDS)
def test_damaged_transactions_are_canonical_or_refused(seed: int) -> None:
    samples = tuple(transaction.packed for transaction in transactions())

    assert 100 < survivors(codec_of(Transaction), seed, samples, TRANSACTIONS_A_SEED) < TRANSACTIONS_A_SEED


@pytest.mark.parametrize("seed", SEEDS)
def test_damaged_blocks_are_canonical_or_refused(seed: int) -> None:
    assert 10 < survivors(codec_of(Block), seed, blocks(), BLOCKS_A_SEED) < BLOCKS_A_SEED


@pytest.mark.parametrize("seed", SEEDS)
def test_damaged_json_is_canonical_or_refused(seed: int) -> None:
    random, codec = Random(seed), codec_of(Transaction)  # noqa: S311 - no secret: the same damage in every run
    trees = [json.loads(codec.to_json(transaction)) for transaction in transactions()]
    survived = 0
    for turn in range(TEXTS_A_SEED):
        tree = random.choice(trees)
        if turn % 4:
            text = json.dumps(damaged_tree(random, tree), ensure_ascii=bool(turn % 3)).encode()
        else:
            text = damaged(random, (json.dumps(tree).encode(), json.dumps(random.choice(trees)).encode()))
        survived += survive_json(codec, text)

    assert 100 < survived < TEXTS_A_SEED
