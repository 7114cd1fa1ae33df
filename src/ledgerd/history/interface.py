"""The interface of a store of a history, for the node that writes it.

The interface for readers, in any process, is `chain.log.histories.History`; a store needs no more than these two.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ledgerd.chain.events import Event


class HistoryStore(Protocol):
    """A history that is written. It may be ahead of the state after a kill, and is never behind it."""

    @property
    def head_number(self) -> int:
        """The last block whose operations are in it."""
        ...

    def record(self, events: Sequence[Event], /) -> None:
        """Store events durably, all or none; blocks that were recorded before are replaced."""
        ...

    def block(self, number: int, /) -> bytes | None:
        """The bytes of a block that it was told of; nothing when it does not have them."""
        ...

    def truncate(self, number: int, /) -> None:
        """Forget every block above this one."""
        ...

    def close(self) -> None:
        """Close the store."""
        ...


class BlockBytes(Protocol):
    """The log that irreversible blocks go to, before a history is told of them."""

    def read(self, number: int, /) -> bytes | None: ...
