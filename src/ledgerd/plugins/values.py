"""What plugins are given: the node as it can be read, and the blocks that it has applied."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

import msgspec

JsonValue: TypeAlias = "dict[str, JsonValue] | list[JsonValue] | str | int | float | bool | None"


class ReadView(ABC):
    """The node at one moment, during one call. Nothing of it can be changed, and nothing of it is there afterwards."""

    @property
    @abstractmethod
    def folder(self) -> Path:
        """A folder for the plugin's own files. Methods may be called in several processes at a time."""

    @property
    @abstractmethod
    def head_number(self) -> int:
        """The number of the head block."""

    @property
    @abstractmethod
    def head_time(self) -> int:
        """The time of the head block, in seconds since 1970."""

    @property
    @abstractmethod
    def irreversible_number(self) -> int:
        """The last block that cannot be undone any more."""

    @abstractmethod
    def call(self, api: str, method: str, *params: JsonValue) -> JsonValue:
        """The answer of a method of the node's own APIs that are switched on, as a client gets it.

        Of methods that answer at once: not of broadcasts and subscriptions. A refusal that the plugin does not catch
        is the client's answer.
        """

    @property
    @abstractmethod
    def tables(self) -> tuple[str, ...]:
        """The names of the tables of the state, which are those of the reference's objects."""

    @abstractmethod
    def row(self, table: str, object_id: int) -> dict[str, JsonValue] | None:
        """The object of an id, with the reference's names of its fields; None where there is none."""

    @abstractmethod
    def rows(self, table: str, after: int = -1) -> Iterator[dict[str, JsonValue]]:
        """The objects of a table by their ids, behind an id."""

    @abstractmethod
    def account(self, name: str) -> dict[str, JsonValue] | None:
        """The row of an account in the table `account`; None where there is none of this name."""

    @abstractmethod
    def properties(self) -> dict[str, JsonValue]:
        """The row of the chain's global properties."""


class ObservedOperation(msgspec.Struct, frozen=True):
    """An operation that took effect in a block, and its place there."""

    trx_id: str
    """The id of its transaction; zeros if it belongs to none."""
    trx_in_block: int
    op_in_trx: int
    virtual_op: int
    """Counts the operations that the chain made itself; 0 for those that were signed."""
    name: str
    value: dict[str, JsonValue]
    """The operation as JSON-RPC prints it."""


class ObservedBlock(msgspec.Struct, frozen=True):
    """A block that became the head."""

    number: int
    id: str
    previous: str
    time: int
    """Seconds since 1970."""
    validator: str
    operations: tuple[ObservedOperation, ...]
    """The operations in their order on the chain, including those that the chain made itself."""
    missed: tuple[str, ...]
    """The validators that missed the slots before this block, at most the first thousand of a gap."""
    missed_slots: int
    """The slots before this block that have no block."""
