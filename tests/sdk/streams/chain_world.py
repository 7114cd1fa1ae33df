"""Nodes of a simulated network, as a stream sees them: they fork, lag, go away, and agree in the end."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator, Sequence

from ledgerd.protocol.blocks.block import NO_TRANSACTIONS, Block
from ledgerd.protocol.crypto.signatures import Signature
from ledgerd.protocol.types.identifiers import NO_BLOCK, BlockId
from ledgerd.sdk.errors import NodeUnavailable, WrongAnswer
from ledgerd.sdk.streams.events import ReadBlock
from ledgerd.sdk.streams.reading.nodes import HeadReport, NodeBlocks

MOST_WAITS = 2_000
TOLD = 17
"""Before blocks of such numbers, a node no longer says which of them have what is asked for."""


def block_on(previous: BlockId, label: str = "") -> Block:
    """A block of a validator's name, which tells branches apart."""
    number = int.from_bytes(previous[:4], "big") + 1
    return Block(previous, 1_800_000_000 + 3 * number, label, NO_TRANSACTIONS, (), Signature(bytes(65)), ())


def chain_of(count: int, base: Sequence[Block] = (), label: str = "") -> list[Block]:
    blocks = list(base)
    for _ in range(count):
        blocks.append(block_on(blocks[-1].id if blocks else NO_BLOCK, label))
    return blocks


class SimulatedNode:
    """A node, with its chain from block 1 on and the number of its last irreversible block."""

    def __init__(self, chain: Sequence[Block], irreversible: int) -> None:
        self.chain = list(chain)
        self.irreversible = irreversible
        self.away = 0
        """Requests that it will not answer."""


class World(NodeBlocks[SimulatedNode]):
    """Several nodes. `script` says what happens, a number each time that there is a chance for it; then all agree."""

    def __init__(self, count: int, script: Sequence[int], start: int = 6) -> None:
        self.count = count
        self.chain = chain_of(start)
        self.irreversible = 2
        self.nodes = [SimulatedNode(self.chain, self.irreversible) for _ in range(count)]
        self.branches = [self.chain]
        self.is_over = False
        self.is_divided = False
        """Whether the nodes never agree."""
        self.waits = self.reads = 0
        self.wanted: Callable[[int], bool] | None = None
        """Which blocks have what is asked for, if nodes say it."""
        self.blamed: list[str] = []
        self._script = iter(script)
        self._labels = (f"b{number}" for number in range(10_000))

    async def report(self) -> HeadReport[SimulatedNode]:
        self._step()
        for _ in self.nodes:
            node = self.nodes[0]
            if not node.away:
                return HeadReport(node.chain[-1].id, node.chain[node.irreversible - 1].id, node)
            self._use(node)
        raise NodeUnavailable("nobody is there")

    async def read(self, first: int, last: int, node: SimulatedNode | None = None) -> Sequence[ReadBlock]:
        self.reads += 1
        self._step()
        one = self.nodes[self.reads % self.count] if node is None else node
        if one.away:
            self._use(one)
            raise NodeUnavailable("it went away")
        found = one.chain[first - 1 : last]
        if node is None and last > one.irreversible:
            raise NodeUnavailable("it lags")
        return [ReadBlock(each) for each in found]

    async def some(
        self, numbers: range, behind: BlockId | None, node: SimulatedNode
    ) -> AsyncGenerator[ReadBlock, None]:
        if self.wanted is None or behind not in {None, node.chain[numbers[0] - 1].previous}:
            return
        for number in numbers:
            if number % TOLD == 0:
                return
            if self.wanted(number) or number == numbers[-1]:
                self._step()
                if node.away:
                    self._use(node)
                    raise NodeUnavailable("it went away")
                yield ReadBlock(node.chain[number - 1])

    def blame(self, node: SimulatedNode, why: str) -> None:
        self.blamed.append(why)
        self.demote(node)

    def demote(self, node: SimulatedNode) -> None:
        self.nodes.remove(node)
        self.nodes.append(node)

    async def wait(self) -> None:
        self.waits += 1
        if self.waits > MOST_WAITS:
            raise WrongAnswer("nothing comes of it")
        self._step()

    def _use(self, node: SimulatedNode) -> None:
        node.away -= 1
        self.demote(node)

    def _step(self) -> None:
        number = next(self._script, None)
        if number is None:
            if not self.is_divided:
                self.agree()
            return
        kind, number = number % 8, number // 8
        node = self.nodes[number % self.count]
        branch = self.branches[number % len(self.branches)]
        if kind <= 2:
            branch += chain_of(1 + number % 3, branch[-1:], next(self._labels))[1:]
            self._follow(node, branch)
        elif kind == 3:
            lowest = self.irreversible
            kept = lowest + number % (len(branch) - lowest + 1)
            self.branches.append(chain_of(1 + number % 4, branch[:kept], next(self._labels)))
        elif kind == 4:
            self._follow(node, branch)
        elif kind == 5:
            node.away = number % 5
        elif kind == 6:
            self.demote(node)
        else:
            self._settle(max(self.branches, key=len), number)

    def _follow(self, node: SimulatedNode, branch: list[Block]) -> None:
        """A node goes over to a longer branch, or one that is irreversible."""
        is_dead = node.chain[: self.irreversible] != branch[: self.irreversible]
        if len(branch) > len(node.chain) or is_dead:
            node.chain, node.irreversible = list(branch), max(node.irreversible, self.irreversible)

    def _settle(self, branch: list[Block], number: int) -> None:
        """More of a branch becomes irreversible; others that do not have it end."""
        self.irreversible += number % (len(branch) - self.irreversible + 1)
        final = branch[: self.irreversible]
        self.branches = [each for each in self.branches if each[: self.irreversible] == final]

    def agree(self) -> None:
        if not self.is_over:
            self.is_over = True
            longest = max(self.branches, key=len)
            self.chain = chain_of(40, longest, "end")
            self.irreversible = len(self.chain)
        for node in self.nodes:
            node.chain, node.irreversible, node.away = self.chain, self.irreversible, 0


def numbers(blocks: Sequence[Block]) -> Iterator[int]:
    return (each.number for each in blocks)
