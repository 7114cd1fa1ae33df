"""A client of one node, in its plainest form: what transactions need of any client."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self, TypeVar

from ledgerd.client.envelope import ErrorAnswer, NodeCall
from ledgerd.client.pool import NodePool
from ledgerd.sdk.calling import TypedCall, decoded
from ledgerd.sdk.errors import Duplicate, NodeError, Rejected, UnknownMethod
from ledgerd.sdk.keys.keyring import KeyRing
from ledgerd.sdk.transactions.builder import TransactionBuilder

T = TypeVar("T")


class Client:
    """Asks the node, and begins transactions."""

    def __init__(self, url: str) -> None:
        self._node = NodePool(url)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self._node.close()

    def transaction(self, keys: KeyRing | None = None, **more: Any) -> TransactionBuilder:
        return TransactionBuilder(self, keys, **more)

    async def call(
        self, api: str, method: str, params: Sequence[object], result: type[T], *, repeatable: bool = True
    ) -> T:
        del repeatable  # nothing is repeated
        (answer,) = await self._node.ask(NodeCall(api, method, tuple(params)))
        if isinstance(answer, ErrorAnswer):
            raise _error_of(answer)
        return decoded(answer, result)

    async def batch(self, calls: Sequence[TypedCall]) -> list[Any]:
        return [await self.call(each.api, each.method, each.params, each.result) for each in calls]


def _error_of(answer: ErrorAnswer) -> NodeError:
    if answer.is_missing:
        return UnknownMethod(answer.message)
    return (Duplicate if "Duplicate transaction check failed" in answer.message else Rejected)(answer.message)
