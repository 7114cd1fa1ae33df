"""The client: nodes, their APIs, streams and transactions in one object."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import msgspec

from ledgerd.sdk.calling import TypedCall
from ledgerd.sdk.connection.clock import ClientClock
from ledgerd.sdk.connection.limits import ClientLimits
from ledgerd.sdk.connection.nodes import Nodes


class Client:
    """One chain, through one node or several. Used as `async with Client(url) as client`.

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

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
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
