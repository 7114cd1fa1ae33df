"""The interface of a history store, for the node that writes it.

The interface for readers, in any process, is `chain.log.histories.History`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ledgerd.chain.events import Event


class HistoryStore(Protocol):
    """A history that is open for writing. After a kill it may be ahead of the state, never behind."""

    @property
    def head_number(self) -> int: ...

    def record(self, events: Sequence[Event], /) -> None:
        """Record events in one commit; a block that was recorded before is replaced."""
        ...

    def block(self, number: int, /) -> bytes | None:
        """The bytes of a recorded block; None if it does not have them."""
        ...

    def truncate(self, number: int, /) -> None: ...

    def close(self) -> None: ...


class BlockBytes(Protocol):
    """The log of irreversible blocks; blocks are in it before the history gets the event."""

    def read(self, number: int, /) -> bytes | None: ...
