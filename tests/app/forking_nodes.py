"""Nodes of a chain whose blocks have what recorded ones have, and which forks as a test says."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any, NamedTuple

from msgspec.structs import replace

from ledgerd.codec import codec_of
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.types.identifiers import NO_BLOCK
from tests.sdk.recorded_nodes import RecordedNode

LAG = 6
"""By how many blocks the irreversible one is behind the head."""

SKIPPED = 4
"""Recorded blocks that a branch leaves out: none comes twice in a chain, as no bet is paid twice in a real one."""


class BranchBlock(NamedTuple):
    """A block of a branch, and the recorded one that it has the operations of."""

    block: Block
    source: int


class ForkingNode(RecordedNode):
    """Each time that it is asked for its head, the next thing happens: its chain grows, or another branch is longer.

    In the end it has `last` blocks, and stays so.
    """

    def __init__(self, chain: str, last: int, script: Sequence[tuple[int, int]], start: int = 40) -> None:
        super().__init__(chain)
        self.recorded_blocks = self.blocks
        self.branch: list[BranchBlock] = []
        self.last = last
        self._script = iter(script)
        self._texts: dict[bytes, str] = {}
        self.forks = self.reports = 0
        self.reported: Callable[[], None] = lambda: None
        self._grow(start)
        self.irreversible = self.head - LAG

    def _grow(self, count: int, shift: int = 0) -> None:
        for _ in range(count):
            previous = self.branch[-1].block.id if self.branch else NO_BLOCK
            number = len(self.branch) + 1
            source = number + shift
            block = replace(self.recorded_blocks[source - 1], previous=previous, timestamp=1_700_000_000 + 3 * number)
            self.branch.append(BranchBlock(block, source))
        self.blocks = tuple(each.block for each in self.branch)
        self.head = len(self.branch)

    def _step(self) -> None:
        depth, growth = next(self._script, (0, self.last))
        depth = min(depth, self.head - self.irreversible)
        growth = min(depth + growth, self.last - self.head + depth)
        if depth and growth > depth:
            del self.branch[-depth:]
            self.forks += 1
        if growth > depth:
            self._grow(growth, SKIPPED * self.forks)
        self.irreversible = max(self.irreversible, self.head - LAG)

    def answer(self, request: Any) -> bytes | None:
        calls = request if isinstance(request, list) else [request]
        if [each["params"][1] for each in calls] == ["get_dynamic_global_properties"]:
            self.reports += 1
            self._step()
            self.reported()
        return super().answer(request)

    def get_block(self, number: int) -> Any:
        if not 0 < number <= self.head:
            return None
        block = self.branch[number - 1].block
        if block.id not in self._texts:
            self._texts[block.id] = codec_of(Block).to_json(block)
        return json.loads(self._texts[block.id])

    def get_ops_in_block(self, number: int, only_virtual: bool) -> Any:
        assert not only_virtual
        if number > self.head:
            return []
        rows = json.loads(self.answers["get_ops_in_block"][self.branch[number - 1].source, False])
        return [{**row, "block": number} for row in rows]


def script_of(random: Random, forks: int) -> list[tuple[int, int]]:
    """Forks, with growth between them: how many blocks go, and how many more come than went."""

    def events() -> Iterator[tuple[int, int]]:
        for _ in range(forks):
            for _ in range(random.randint(0, 3)):
                yield 0, random.randint(1, 3)
            yield random.randint(1, LAG), random.randint(1, 3)

    return list(events())


def settled(node: ForkingNode) -> ForkingNode:
    """The same chain at its end, from a node that never forked."""
    other = ForkingNode(node.recorded, node.last, ())
    other.branch = list(node.branch)
    other.blocks, other.head, other.irreversible = node.blocks, node.head, node.irreversible
    return other
