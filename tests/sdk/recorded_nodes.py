"""Nodes that answer what a reference node was recorded to answer, up to a head that a test moves."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from functools import cache
from typing import Any

from ledgerd.codec import codec_of
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.touched import touched
from ledgerd.protocol.types.identifiers import NO_BLOCK
from ledgerd.protocol.types.time_text import time_text
from tests.recorded import ANSWERED, recorded_answers, recorded_blocks
from tests.sdk.scripted_node import Refused, ScriptedNode

HEADER = ("previous", "timestamp", "validator", "transaction_merkle_root", "extensions")


@cache
def blocks_of(chain: str) -> tuple[Block, ...]:
    """The blocks of a recorded chain, from their bytes."""
    return tuple(map(codec_of(Block).decode, recorded_blocks(chain)[: ANSWERED[chain]]))


@cache
def rows_by_account(chain: str) -> tuple[tuple[Any, Collection[str]], ...]:
    """The recorded operations of a chain, and the accounts that each touches."""
    answers = recorded_answers(chain, ANSWERED[chain])["get_ops_in_block"]
    rows = [row for number in range(1, ANSWERED[chain] + 1) for row in json.loads(answers[number, False])]
    return tuple((row, touched(codec_of(Operation).from_json(row["op"]))) for row in rows)


class RecordedNode(ScriptedNode):
    """A reference node with a part of a recorded chain."""

    def __init__(self, chain: str = "open-2", head: int | None = None, irreversible: int | None = None) -> None:
        super().__init__()
        self.recorded = chain
        self.answers = recorded_answers(chain, ANSWERED[chain])
        self.blocks = blocks_of(chain)
        self.head = len(self.blocks) if head is None else head
        self.irreversible = self.head if irreversible is None else irreversible
        self._histories: dict[str, list[tuple[int, Any]]] = {}
        self.methods |= {
            "get_dynamic_global_properties": self.get_dynamic_global_properties,
            "get_block": self.get_block,
            "get_block_header": self.get_block_header,
            "get_ops_in_block": self.get_ops_in_block,
        }

    def get_dynamic_global_properties(self) -> dict[str, object]:
        return {
            "time": time_text(self.blocks[self.head - 1].timestamp),
            "head_block_number": self.head,
            "head_block_id": self._id_of(self.head),
            "last_irreversible_block_num": self.irreversible,
            "last_irreversible_block_id": self._id_of(self.irreversible),
        }

    def _id_of(self, number: int) -> str:
        return (self.blocks[number - 1].id if number else NO_BLOCK).hex()

    def get_block(self, number: int) -> Any:
        return json.loads(self.answers["get_block"][number,]) if 0 < number <= self.head else None

    def get_block_header(self, number: int) -> Any:
        block = self.get_block(number)
        return block and {name: block[name] for name in HEADER}

    def get_ops_in_block(self, number: int, only_virtual: bool) -> Any:
        assert not only_virtual
        return self._rows(number) if number <= self.head else []

    def get_account_history(self, account: str, start: int, limit: int) -> Any:
        """As spec 05, section 13.2, has it, of the operations that were recorded."""
        assert 0 < limit <= 1000
        entries = [each for each in self.history_of(account) if each[1]["block"] <= self.head]
        if not entries:
            raise Refused("itr_range != idx_range.end(): Account not found in history index")
        if start != -1 and not entries[0][0] <= start <= entries[-1][0]:
            raise Refused("from <= itr_range->end_sequence: From is greater than account history end sequence")
        last = entries[-1][0] if start == -1 else start
        return [each for each in entries if last - limit <= each[0] <= last]

    def history_of(self, account: str) -> list[tuple[int, Any]]:
        if account not in self._histories:
            own = (row for row, names in rows_by_account(self.recorded) if account in names)
            self._histories[account] = list(enumerate(own))
        return self._histories[account]

    def _rows(self, number: int) -> Any:
        return json.loads(self.answers["get_ops_in_block"][number, False])


@asynccontextmanager
async def serving_nodes(nodes: Sequence[ScriptedNode]) -> AsyncIterator[list[str]]:
    """The addresses of nodes, for as long as the block lasts."""
    for each in nodes:
        await each.start()
    try:
        yield [each.url for each in nodes]
    finally:
        for each in nodes:
            await each.stop()
