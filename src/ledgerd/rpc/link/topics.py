"""Topics between API methods and the main process, and the types of their payloads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import msgspec

from ledgerd.state.tables.tables import Table
from ledgerd.state.views.overlay import Overlay
from ledgerd.state.views.reader import StateReader
from ledgerd.state.views.view import View

T = TypeVar("T")

APPLIED_BLOCK = "applied block"
"""An event for each block that becomes the head: its bytes."""

INCLUDED = "included transactions"
"""An event for each block that becomes the head: an `Inclusion`."""

BROADCAST_TRANSACTION = "broadcast transaction"
"""A request: a `Broadcast` with a packed transaction, to be pushed and sent to peers. The answer is empty."""

BROADCAST_BLOCK = "broadcast block"
"""A request: a `Broadcast` with a packed block, to be pushed and sent to peers. The answer is empty."""


PENDING = "pending transactions"
"""An event for each new pending transaction: a `PendingChange`; without data when all pending changes were undone."""


HEALTH = "health"
"""An event at each change of the health of the node: a `HealthReport`."""


STATUS = "status"

DETAILS = "details"
"""The topic of the status with details for the operator, a `NodeDetails`. Only the process of the metrics endpoint gets
it.
"""


SHADOW_GATE = "shadow gate"
"""Whether blocks are signed by leave of the shadow, at each change; the room `shadow` has its form. Only the process of
the endpoint for metrics gets it.
"""


PLUGIN_APIS = "plugin apis"
"""What plugins of others serve now, at each change; the room `plugins` has its form."""


class Broadcast(msgspec.Struct, frozen=True, array_like=True):
    """A transaction or a block of a client."""

    packed: bytes
    max_block_age: int = -1
    """The greatest age of the head at which a transaction is accepted: seconds; negative for any age."""
    share: str = ""
    """What is charged for it: the client's address, or its connection (`Asker`)."""


class Inclusion(msgspec.Struct, frozen=True, array_like=True):
    """The transactions of a block, by their ids in order."""

    block_num: int
    timestamp: int
    transaction_ids: tuple[bytes, ...]


class PendingChange(msgspec.Struct, frozen=True, array_like=True):
    """Objects that a pending transaction has changed, relative to the state of a block; see `state.overlay`."""

    block_num: int
    rows: list[tuple[int, int, bytes | None]]


class HealthReport(msgspec.Struct, frozen=True, array_like=True):
    """What `/ready` tells of the main process."""

    down: dict[str, str]
    warnings: tuple[str, ...] = ()


def packed_topic(value: msgspec.Struct | int) -> bytes:
    return msgspec.msgpack.encode(value)


def unpacked(payload: bytes, kind: type[T]) -> T:
    return msgspec.msgpack.decode(payload, type=kind)


class PendingReader:
    """Reads the last commit, overlaid with the changes that the main process sends."""

    def __init__(self, reader: StateReader, tables: Iterable[Table[Any]]) -> None:
        self._reader = reader
        self._overlay = Overlay(tables)

    def receive(self, payload: bytes) -> None:
        if payload:
            change = unpacked(payload, PendingChange)
            self._overlay.add(change.block_num, change.rows)
        else:
            self._overlay.clear()

    @contextmanager
    def snapshot(self) -> Iterator[View]:
        with self._reader.snapshot() as snapshot:
            yield self._overlay.over(snapshot)
