"""Nodes as streams see them: where the chain stands, and blocks of which each is proven to follow the one before."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from ledgerd.client.envelope import NodeCall
from ledgerd.protocol.types.identifiers import BlockId, block_number_of
from ledgerd.sdk.connection.node_link import NodeLink
from ledgerd.sdk.connection.nodes import HEAD, Nodes, Unsuited
from ledgerd.sdk.errors import NodeUnavailable, Rejected, WrongAnswer
from ledgerd.sdk.streams.events import ReadBlock
from ledgerd.sdk.streams.reading.accounts import AccountBlocks
from ledgerd.sdk.streams.reading.answers import (
    block_call,
    blocks_in,
    header_call,
    ids_in,
    operations_call,
    raw_block_call,
)

N = TypeVar("N")


class HeadReport(NamedTuple, Generic[N]):
    """The head and the last irreversible block of a node, and which node it is."""

    head: BlockId
    irreversible: BlockId
    node: N


class NodeBlocks(Protocol[N]):
    """Nodes, as streams see them. Whatever goes wrong is a `ClientError`."""

    count: int
    """The number of nodes."""

    async def report(self) -> HeadReport[N]:
        """Ask a node that works for its head and its last irreversible block."""

    async def read(self, first: int, last: int, node: N | None = None) -> Sequence[ReadBlock]:
        """Blocks in a row of the chain of a certain node, of which the newest may be missing; or of any node for which
        they are irreversible.
        """

    def some(self, numbers: range, behind: BlockId | None, node: N) -> AsyncGenerator[ReadBlock, None]:
        """Of irreversible blocks of a node, those with what is asked for and the last, in order, as far as the node
        says which these are. They begin after a block, if one is given.
        """

    def blame(self, node: N, why: str) -> None:
        """A node says what can't be."""

    def demote(self, node: N) -> None:
        """Another node has newer blocks."""

    async def wait(self) -> None:
        """Wait until there may be a new block."""


class NodesSource(NodeBlocks[NodeLink]):
    """Real nodes."""

    def __init__(
        self,
        nodes: Nodes,
        wait: Callable[[], Awaitable[None]],
        *,
        with_history: bool,
        only: AccountBlocks | None = None,
    ) -> None:
        self._nodes, self._wait, self._with_history, self._only = nodes, wait, with_history, only
        self.count = len(nodes.links)

    async def report(self) -> HeadReport[NodeLink]:
        found = await self._nodes.ask((HEAD,), lambda answers: ids_in(answers[0]))
        return HeadReport(*found.value, found.node)

    async def read(self, first: int, last: int, node: NodeLink | None = None) -> Sequence[ReadBlock]:
        numbers = range(first, last + 1)
        try:
            return await self._read(numbers, block_call, node)
        except Rejected as refusal:
            # A block may have an amount that no node can print, and must not end the stream of all that follow it.
            try:
                return await self._read(numbers, raw_block_call, node)
            except Rejected:
                raise refusal from None

    async def _read(
        self, numbers: range, call: Callable[[int], NodeCall], node: NodeLink | None
    ) -> Sequence[ReadBlock]:
        last = numbers[-1]
        operations = map(operations_call, numbers) if self._with_history else ()
        calls = [*map(call, numbers), *operations, HEAD, header_call(last + 1)]

        def read(answers: Sequence[Any]) -> Sequence[ReadBlock]:
            if node is None and block_number_of(ids_in(answers[-2])[1]) < last:
                raise Unsuited(NodeUnavailable(f"block {last} is not irreversible for the node"))
            return blocks_in(numbers, answers, with_history=self._with_history)

        return (await self._nodes.ask(calls, read, of=node)).value

    async def some(self, numbers: range, behind: BlockId | None, node: NodeLink) -> AsyncGenerator[ReadBlock, None]:
        if self._only is None:
            return
        blocks = self._only.among(numbers, behind, node)
        try:
            async for each in blocks:
                yield each
        finally:
            await blocks.aclose()

    def blame(self, node: NodeLink, why: str) -> None:
        self._nodes.blame(node, WrongAnswer(f"{node.name} {why}"))

    def demote(self, node: NodeLink) -> None:
        self._nodes.demote(node)

    async def wait(self) -> None:
        await self._wait()
