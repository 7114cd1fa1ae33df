"""Followers: what is kept beside the ledger for those who ask, in step with it and undone with it.

A follower sees the state before an operation of a block and after it. It reads the ledger and writes tables of its
own; nothing in the law depends on it. Transactions that wait for a block are not followed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from ledgerd.protocol.operations import Operation

if TYPE_CHECKING:
    from ledgerd.chain.ledger.ledger import Ledger

Follower = Callable[["Ledger", Any], AbstractContextManager[None]]
"""Entered before an operation is carried out, left when it has been."""

Followers = Mapping[type[Operation], Follower]
