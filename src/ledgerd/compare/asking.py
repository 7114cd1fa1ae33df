"""One question to both nodes, until their answers are equal or differ at one head of both."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import NamedTuple

from ledgerd.client.differing import ABSENT, Difference, differences
from ledgerd.codec.json.text import Json
from ledgerd.compare.node import SHOWN, AnsweringNode, NodeAnswer, NotComparable
from ledgerd.compare.reads import Read
from ledgerd.protocol.types.identifiers import block_number_of_hex

ATTEMPTS = 8
"""Times that a question is asked while the answers differ at one head. A difference by the mempool alone, which answers
include, is gone after a block.
"""

LEAST_TIMES = 2
"""Times that two answers must differ at one head to count as different."""

PAUSE = 1.0
"""Seconds between two attempts."""

MOST_ONE_SIDED = 100
"""Fields that only one node answers, and that are reported if the versions differ."""

LONGEST_WAIT = 60.0
"""Seconds until both nodes must have stood at one head."""

FIELDS_OF_A_NODE = {"database_api.get_dynamic_global_properties": {"earliest_available_block_num"}}

BLOCK_ID = re.compile(r"[0-9a-f]{40}")


class FoundDifference(NamedTuple):
    """A question that the nodes answer differently, at a head that both have."""

    question: str
    difference: Difference
    head: NodeHead


class Compared(NamedTuple):
    """The answer of both, or the difference between the two."""

    value: Json
    found: FoundDifference | None = None


class Pair:
    """Two nodes."""

    def __init__(
        self,
        first: AnsweringNode,
        second: AnsweringNode,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.first = first
        self.second = second
        self.one_sided: dict[str, str] = {}
        """Fields that one node alone answers, where the versions differ: method and field, and the node."""
        self.allows_one_sided = False
        self._clock = clock
        self._sleep = sleep

    def common_head(self) -> NodeHead:
        deadline = self._clock() + LONGEST_WAIT
        while True:
            one, other = head_of(self.first), head_of(self.second)
            if one.id == other.id:
                return one
            if self._clock() >= deadline:
                raise NotComparable(
                    f"the nodes never stand at the same block: {self.first.url} is at block {one.number} {one.id}, "
                    f"{self.second.url} at block {other.number} {other.id}; wait until both follow the network"
                )
            self._sleep(PAUSE / 4)

    def compare(self, read: Read) -> Compared:
        """Ask both, again and again while their answers differ, since their heads and mempools may."""
        answers = self.asked(read)
        if self.difference(read, *answers) is None:
            return Compared(answers[0].value)
        found, times = None, 0
        for attempt in range(ATTEMPTS):
            before = self.common_head()
            answers = self.asked(read)
            after = head_of(self.first), head_of(self.second)
            difference = self.difference(read, *answers)
            if difference is None:
                return Compared(answers[0].value)
            if after[0].id == before.id == after[1].id:
                found, times = FoundDifference(read.words, difference, before), times + 1
            if attempt + 1 < ATTEMPTS:
                self._sleep(PAUSE)
        if found is None or times < LEAST_TIMES:
            raise NotComparable(f"the heads of the nodes move faster than {read.words} is answered")
        return Compared(None, found)

    def has(self, read: Read) -> bool:
        return not any(answer.is_missing for answer in self.asked(read))

    def asked(self, read: Read) -> tuple[NodeAnswer, NodeAnswer]:
        call = (read.api, read.method, read.arguments)
        return self.first.ask(*call), self.second.ask(*call)

    def difference(self, read: Read, one: NodeAnswer, other: NodeAnswer) -> Difference | None:
        try:
            return self._first_difference(read, one, other)
        except RecursionError as problem:
            raise NotComparable(f"{read.words}: the answers are nested too deeply to be compared") from problem

    def _first_difference(self, read: Read, one: NodeAnswer, other: NodeAnswer) -> Difference | None:
        if one.error or other.error:
            if one.error == other.error:
                return None
            return Difference("the answer", _error_words(one), _error_words(other))
        of_one_node = FIELDS_OF_A_NODE.get(f"{read.api}.{read.method}", set())
        for each in differences(one.value, other.value):
            if each.place in of_one_node:
                continue
            if not self.allows_one_sided or ABSENT not in (each.first, each.second):
                return each
            node = self.first if each.second == ABSENT else self.second
            if len(self.one_sided) < MOST_ONE_SIDED:
                self.one_sided[f"{read.api}.{read.method}: {each.place.rpartition('.')[2][:SHOWN]}"] = node.url
        return None


def _error_words(answer: NodeAnswer) -> str:
    return f"the error {answer.error.splitlines()[-1][:SHOWN]!r}" if answer.error else "a result"


class NodeHead(NamedTuple):
    """The head of a node, and the last block that it cannot leave any more."""

    number: int
    id: str
    irreversible: int


def head_of(node: AnsweringNode) -> NodeHead:
    return head_in(node, node.value("database_api", "get_dynamic_global_properties"))


def head_in(node: AnsweringNode, properties: Json) -> NodeHead:
    """The head in an answer of that node."""
    number = _number(node, properties, "head_block_number")
    irreversible = _number(node, properties, "last_irreversible_block_num")
    name = properties.get("head_block_id") if isinstance(properties, dict) else None
    if not isinstance(name, str) or not BLOCK_ID.fullmatch(name):
        raise node.fault(f"gives {str(name)[:SHOWN]!r} as the id of its head block")
    if block_number_of_hex(name) != number:
        raise node.fault(
            f"says that its head is block {number}, but its id {name} is of block {block_number_of_hex(name)}"
        )
    if irreversible > number:
        raise node.fault(f"says that block {irreversible} is irreversible, above its head {number}")
    return NodeHead(number, name, irreversible)


def require_block(node: AnsweringNode, head: NodeHead) -> None:
    if head.number and not node.value("database_api", "get_block_header", head.number):
        raise node.fault(f"says that its head is block {head.number}, and has no such block")


def _number(node: AnsweringNode, properties: Json, name: str) -> int:
    value = properties.get(name) if isinstance(properties, dict) else None
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise node.fault(f"gives {str(value)[:SHOWN]!r} as {name}")
    return value
