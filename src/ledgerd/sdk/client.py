"""The client: nodes, their APIs, streams and transactions in one object."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, Literal, Self, TypedDict, Unpack, overload
from weakref import WeakSet

import msgspec

from ledgerd.sdk.api.apis import Apis
from ledgerd.sdk.calling import TypedCall
from ledgerd.sdk.connection.clock import ClientClock
from ledgerd.sdk.connection.limits import ClientLimits
from ledgerd.sdk.connection.nodes import Nodes

if TYPE_CHECKING:
    from ledgerd.protocol.crypto.keys import PrivateKey
    from ledgerd.protocol.operations import Operation
    from ledgerd.sdk.keys.keyring import KeyRing
    from ledgerd.sdk.streams.events import BlockEvent, OperationEvent, Since, Undone
    from ledgerd.sdk.streams.stream import ChainStream
    from ledgerd.sdk.transactions.builder import TransactionBuilder
    from ledgerd.sdk.transactions.prepared import PreparedTransaction

WINDOW = 256
"""Blocks that a fork may undo, unless more are asked for."""


class StreamStretch(TypedDict, total=False):
    """Which part of the chain a stream goes over."""

    irreversible: bool
    since: Since
    until: int | None
    window: int


class StreamSelection(StreamStretch, total=False):
    """A stream, and the operations that it gives."""

    kinds: Collection[type[Operation] | str] | None
    account: str | None
    history: bool


class Client(Apis):
    """One chain, through one node or several. Used as `async with Client(url) as client`; each API is an attribute, as
    in `await client.database.get_accounts(["alice"])`.

    `chain` is the id of the chain that is meant, in hex: nodes of another one are refused. Without it, the first node
    that answers says which chain it is. `timeout` is the time for a request with all its retries, in seconds.
    """

    def __init__(
        self,
        *urls: str,
        chain: bytes | str | None = None,
        timeout: float | None = None,
        limits: ClientLimits | None = None,
        clock: ClientClock | None = None,
    ) -> None:
        limits = limits or ClientLimits()
        if timeout is not None:
            limits = msgspec.structs.replace(
                limits, request_seconds=timeout, call_seconds=min(timeout, limits.call_seconds)
            )
        self.nodes = Nodes(*urls, chain=chain, limits=limits, clock=clock)
        super().__init__(self.nodes)
        self._streams: WeakSet[ChainStream[Any]] = WeakSet()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """End its streams and its connections."""
        for stream in list(self._streams):
            await stream.aclose()
        self.nodes.close()

    async def call(
        self,
        api: str,
        method: str,
        params: Sequence[object] = (),
        result: type[Any] = object,
        *,
        repeatable: bool = True,
    ) -> Any:  # noqa: ANN401 - of the type that is given; JSON without one
        """The result of any method of a node. What is not repeatable reaches one node at most, and once."""
        return await self.nodes.call(api, method, params, result, repeatable=repeatable)

    async def batch(self, calls: Sequence[TypedCall]) -> list[Any]:
        """The results of reads in one request, in order; a `NodeError` stands for its own."""
        return await self.nodes.batch(calls)

    async def chain_id(self) -> str:
        """The chain's id in hex."""
        return await self.nodes.chain_id()

    @overload
    def blocks(self, *, undone: Literal[False] = ..., **options: Unpack[StreamStretch]) -> ChainStream[BlockEvent]: ...

    @overload
    def blocks(self, *, undone: bool, **options: Unpack[StreamStretch]) -> ChainStream[BlockEvent | Undone]: ...

    def blocks(
        self,
        *,
        irreversible: bool = True,
        since: Since = None,
        until: int | None = None,
        undone: bool = False,
        window: int = WINDOW,
    ) -> ChainStream[Any]:
        """Blocks from a place on, each once and in order, for ever or up to a number.

        With `irreversible`, those that no fork will undo; without it, all, as soon as a node has them. Where a fork has
        undone blocks, `undone` has an `Undone` for each, the newest first; then the blocks of the new branch follow.
        Without it these simply follow: a block whose number is not one more than that of the block before takes the
        place of the block of that number and of all that came after it.

        `since` is the number of the first block, or a cursor; or several of which a fork may have undone the newest.
        Without it, the next block is the first. `window` is how many blocks a fork may undo.
        """
        from ledgerd.sdk.streams.opening import StreamOptions, open_blocks  # noqa: PLC0415 - codecs are heavy

        options = StreamOptions(irreversible=irreversible, since=since, until=until, undone=undone, window=window)
        return self._kept(open_blocks(self.nodes, options))

    @overload
    def operations(
        self, *, undone: Literal[False] = ..., **options: Unpack[StreamSelection]
    ) -> ChainStream[OperationEvent]: ...

    @overload
    def operations(
        self, *, undone: bool, **options: Unpack[StreamSelection]
    ) -> ChainStream[OperationEvent | Undone]: ...

    def operations(  # noqa: PLR0913 - each is an option with a name
        self,
        *,
        kinds: Collection[type[Operation] | str] | None = None,
        account: str | None = None,
        irreversible: bool = True,
        since: Since = None,
        until: int | None = None,
        undone: bool = False,
        window: int = WINDOW,
        history: bool = True,
    ) -> ChainStream[Any]:
        """Operations of some kinds, or all; of one account, whose history has them, or all. The rest as for `blocks`.

        They are read of the history that a node keeps (plugin `operation_history`), which alone has what operations
        bring about: awards received, what a proposal has carried out. Of the past of an `account`, only blocks are read
        that a node's history of it names, if the node has one. Without `history`, operations are those of transactions,
        which each node has, and every block is read.
        """
        from ledgerd.sdk.streams.opening import StreamOptions, open_operations  # noqa: PLC0415 - codecs are heavy

        options = StreamOptions(irreversible=irreversible, since=since, until=until, undone=undone, window=window)
        return self._kept(open_operations(self.nodes, options, kinds=kinds, account=account, history=history))

    def transaction(self, *keys: KeyRing | PrivateKey | str, lifetime: float = 60.0) -> TransactionBuilder:
        """A transaction, signed with these keys and sent at the end of `async with`. Texts are keys in WIF. After so
        many seconds it cannot come into a block any more.
        """
        from ledgerd.sdk.keys.keyring import KeyRing  # noqa: PLC0415 - codecs and cryptography are heavy
        from ledgerd.sdk.transactions.builder import TransactionBuilder  # noqa: PLC0415 - the same

        ring = KeyRing()
        for each in keys:
            ring |= each if isinstance(each, KeyRing) else KeyRing(each)
        chain = self.nodes.chain
        return TransactionBuilder(self.nodes, ring, chain_id=bytes.fromhex(chain) if chain else None, lifetime=lifetime)

    def prepared(self, text: str | bytes) -> PreparedTransaction:
        """A transaction that was exported, or stored before it was sent: to be signed, tried out, sent or followed."""
        from ledgerd.sdk.transactions.prepared import PreparedTransaction  # noqa: PLC0415 - the same

        chain = self.nodes.chain
        return PreparedTransaction.from_text(text, self.nodes, chain_id=bytes.fromhex(chain) if chain else None)

    def _kept(self, stream: ChainStream[Any]) -> ChainStream[Any]:
        self._streams.add(stream)
        return stream
