"""Both nodes as they stand: that they are of one chain, where their heads are, and what they answer to a question."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from ledgerd.basics.printable import printable
from ledgerd.codec.json.text import Json
from ledgerd.compare.asking import NodeHead, Pair, head_in
from ledgerd.compare.comparison import HISTORIES
from ledgerd.compare.node import AnsweringNode, NotComparable
from ledgerd.compare.reads import Read
from ledgerd.shadow.asking.questions import HEAD
from ledgerd.shadow.asking.suspects import Answers
from ledgerd.shadow.keeping.record import ComparedStatus, ShadowRecord

LONGEST_WORDS = 400
"""Characters of the reason why a node cannot be compared."""
ALIKE = "CHAIN_ID"


class Heads(NamedTuple):
    """Both heads, and the answers that they were read from."""

    ours: NodeHead
    theirs: NodeHead
    answers: Answers

    @property
    def is_one(self) -> bool:
        return self.ours.id == self.theirs.id


class BothNodes:
    """Asks both nodes, and records their heads, and why one of them cannot be compared."""

    def __init__(self, pair: Pair, record: ShadowRecord, clock: Callable[[], float]) -> None:
        self.pair = pair
        self._record = record
        self._clock = clock

    @property
    def nodes(self) -> tuple[AnsweringNode, AnsweringNode]:
        return self.pair.first, self.pair.second

    @property
    def _sides(self) -> tuple[tuple[ComparedStatus, AnsweringNode], tuple[ComparedStatus, AnsweringNode]]:
        return (self._record.ours, self.pair.first), (self._record.theirs, self.pair.second)

    def meet(self) -> frozenset[str]:
        """After the start, and after a pause of a node: check that both are of one chain, and learn what they answer.
        Returns the APIs that are left out.
        """
        record = self._record
        configs = []
        for side, node in self._sides:
            with _problem_recorded(side):
                configs.append(node.value("database_api", "get_config"))
        chains = [_text(config, ALIKE) for config in configs]
        if chains[0] != chains[1] or (record.chain_id and record.chain_id != chains[0]):
            known = f"; the record is of {record.chain_id}" if record.chain_id else ""
            record.theirs.problem = f"the nodes are of different chains: {chains[0]} and {chains[1]}{known}"
            raise NotComparable(record.theirs.problem)
        record.chain_id = chains[0]
        versions = [_text(config, "CHAIN_VERSION") for config in configs]
        record.ours.version, record.theirs.version = versions
        self.pair.allows_one_sided = versions[0] != versions[1]
        first_blocks = [node.ask("database_api", "get_block_header", [1]) for node in self.nodes]
        return frozenset() if all(each.value for each in first_blocks) else HISTORIES

    def read_heads(self) -> Heads:
        found = []
        for side, node in self._sides:
            with _problem_recorded(side):
                answer = node.ask(HEAD.api, HEAD.method, ())
                head = head_in(node, node.result(HEAD.api, HEAD.method, answer))
            side.number, side.id, side.irreversible = head
            side.at, side.problem = int(self._clock()), ""
            found.append((head, answer))
        (ours, one), (theirs, other) = found
        return Heads(ours, theirs, (one, other))

    def ask(self, read: Read) -> Answers:
        """`NotComparable`: one of both has not answered."""
        found = []
        for side, node in self._sides:
            with _problem_recorded(side):
                found.append(node.ask(read.api, read.method, read.arguments))
        return found[0], found[1]


@contextmanager
def _problem_recorded(side: ComparedStatus) -> Iterator[None]:
    try:
        yield
    except NotComparable as problem:
        side.problem = shortened(problem)
        raise


def shortened(problem: Exception) -> str:
    return printable(str(problem))[:LONGEST_WORDS]


def _text(config: Json, name: str) -> str:
    value = config.get(name) if isinstance(config, dict) else None
    return printable(value if isinstance(value, str) else json.dumps(value))[:80]
