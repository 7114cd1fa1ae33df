"""Endless operations that resemble recorded ones: some as they were sent, some with a field or two changed."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from random import Random
from typing import Any

from msgspec.structs import replace

from ledgerd.codec import codec_of
from ledgerd.codec.json.legacy import parse
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.types.assets import MAX_AMOUNT, Asset
from tests.recorded import MARKET_CHAINS, recorded_blocks, recorded_probe

ODD_NUMBERS = (0, 1, -1, 2, 100, 9_999, 10_000, 10_001, 2**15, 2**16 - 1, 2**31, 2**32 - 1, MAX_AMOUNT)


def recorded_operations(name: str, probe: int, blocks: range) -> list[Operation]:
    """The operations that a probe sent, and those of some blocks."""
    facts = [fact["trx"] for fact in recorded_probe(f"{name}/probe-{probe}") if "trx" in fact]
    sent = [parse(json.dumps(fact).encode(), unicode_escapes=name in MARKET_CHAINS) for fact in facts]
    transactions: list[Transaction] = list(map(codec_of(Transaction).from_json, sent))
    for packed in recorded_blocks(name)[blocks.start - 1 : blocks.stop - 1]:
        transactions.extend(codec_of(Block).decode(packed).transactions)
    return [operation for transaction in transactions for operation in transaction.operations]


class Traffic:
    """A source of operations; the same seed gives the same ones."""

    def __init__(self, operations: list[Operation], seed: int) -> None:
        self._operations = operations
        self._random = Random(seed)  # noqa: S311 - the same in every run
        self._seen: dict[tuple[type, str], list[Any]] = defaultdict(list)
        names = set()
        for operation in operations:
            for field in operation.__struct_fields__:
                value = getattr(operation, field)
                self._seen[type(operation), field].append(value)
                if isinstance(value, str) and 2 < len(value) < 26 and value.isascii() and value.islower():
                    names.add(value)
        self._names = sorted(names)

    def __iter__(self) -> Iterator[Operation]:
        while True:
            operation = self._random.choice(self._operations)
            for _ in range(self._random.choice((0, 0, 1, 1, 2))):
                operation = self._changed(operation)
            yield operation

    def _changed(self, operation: Operation) -> Operation:
        field = self._random.choice(operation.__struct_fields__)
        value = getattr(operation, field)
        if self._random.random() < 0.4:
            other = self._random.choice(self._seen[type(operation), field])
        else:
            other = self._other(value)
        return replace(operation, **{field: other})

    def _other(self, value: Any) -> Any:
        random = self._random
        if isinstance(value, bool):
            return not value
        if isinstance(value, int):
            return max(0, random.choice((value - 1, value + 1, value * 2, value // 2, *ODD_NUMBERS)))
        if isinstance(value, Asset):
            return replace(value, amount=self._other(value.amount))
        if isinstance(value, str):
            return random.choice(self._names)
        if isinstance(value, tuple) and value:
            return random.choice((value[1:], value[:-1], (*value, value[0])))
        return value
