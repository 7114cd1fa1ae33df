"""What any store of a history offers to the node that writes it, wherever it keeps what it is told.

What it offers to those who read, in whatever process, is `chain.histories.History`; no more than these two is asked of
a store.
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
        """Take in what happened, all of it or nothing, durably; what it has been told before is told anew."""
        ...

    def block(self, number: int, /) -> bytes | None:
        """The bytes of a block that it was told of; nothing when it does not have them."""
        ...

    def truncate(self, number: int, /) -> None:
        """Forget every block above this one."""
        ...

    def close(self) -> None:
        """Let everything go."""
        ...


class BlockBytes(Protocol):
    """The log that irreversible blocks go to, before a history is told of them."""

    def read(self, number: int, /) -> bytes | None: ...
