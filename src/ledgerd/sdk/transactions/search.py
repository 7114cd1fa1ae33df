"""Where a transaction is, by the blocks of one node. Asks by yielding calls, and is sent their answers, so that the
same serves a program that waits and one that does not.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeVar

import msgspec

from ledgerd.client.envelope import NodeCall
from ledgerd.codec import codec_of
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.blocks.transaction import reference_to
from ledgerd.protocol.constants import BLOCK_INTERVAL, MAX_TIME_UNTIL_EXPIRATION
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.types.identifiers import block_number_of
from ledgerd.protocol.types.time_text import parse_time_text
from ledgerd.sdk.errors import WrongAnswer
from ledgerd.sdk.transactions.draft import Draft

PENDING, IN_A_BLOCK, IRREVERSIBLE, NOT_SENT = "pending", "in a block", "irreversible", "not sent"
PAUSE_SECONDS = 0.5
"""The pause between two requests."""
GRACE_SECONDS = 120.0
"""How long after a transaction has expired a node may take to say so: a minute until that is irreversible, and more."""

A = TypeVar("A")
Asking = Generator[NodeCall, Any, A]
"""Yields calls and is sent their answers; in the end there is a result."""


class TransactionState(msgspec.Struct, frozen=True):
    """Where a transaction is. `NOT_SENT`: it is in no block, and can come into none any more."""

    state: str
    block: int = 0


class TransactionSearch:
    """The search of one node for a transaction. Each check goes on where the last one ended."""

    def __init__(self, draft: Draft) -> None:
        self._draft = draft
        self._start = self._scanned = draft.block
        self._is_start_sure = False
        """Whether it can be in no block up to there. A text from elsewhere may name another block than it refers to."""
        self._earliest = 0
        self._found = 0
        self._too_late = 0
        self._is_over = False
        """Whether it can come into no block any more; that does not change."""

    def check(self) -> Asking[TransactionState]:
        """`WrongAnswer`: the node does not have a block, or says what cannot be read."""
        if self._is_over:
            return TransactionState(NOT_SENT)
        properties = yield NodeCall("database_api", "get_dynamic_global_properties")
        try:
            head = int(properties["head_block_number"])
            irreversible = int(properties["last_irreversible_block_num"])
            now = parse_time_text(properties["time"])
        except (LookupError, TypeError, ValueError):
            raise WrongAnswer("the node does not say where its chain stands") from None
        self._earliest = self._earliest_at(head, now)
        if self._found and not (yield from self._is_in(self._found)):
            self._begin_again()  # its block was undone
        yield from self._scan(head)
        if not self._found and self._too_late and irreversible >= self._too_late:
            self._begin_again()  # blocks may have been replaced since they were looked at: now they cannot be
            yield from self._scan(irreversible)
            if not self._found:
                self._is_over = True
                return TransactionState(NOT_SENT)
        if not self._found:
            return TransactionState(PENDING)
        return TransactionState(IRREVERSIBLE if self._found <= irreversible else IN_A_BLOCK, self._found)

    def _begin_again(self) -> None:
        self._scanned, self._found, self._too_late = self._start, 0, 0

    def _earliest_at(self, head: int, now: int) -> int:
        """A block before all that may have it, by its expiration alone: blocks are a slot apart, or more."""
        seconds = now - (self._draft.transaction.expiration - MAX_TIME_UNTIL_EXPIRATION)
        return max(0, head - max(0, seconds) // BLOCK_INTERVAL - 1)

    def _scan(self, last: int) -> Asking[None]:
        while not self._found and not self._too_late and self._scanned < last:
            number = self._scanned + 1
            is_in = yield from self._is_in(number)
            if not self._is_start_sure:
                self._start, self._is_start_sure = self._earliest, True
                self._begin_again()
                continue
            if is_in:
                self._found = number
            self._scanned = number

    def _is_in(self, number: int) -> Asking[bool]:
        record = yield NodeCall("database_api", "get_block", (number,))
        if record is None:
            raise WrongAnswer(f"the node does not have block {number}")
        try:
            block = codec_of(Block).from_json(record)
        except (RuleViolation, LookupError, TypeError, ValueError, ArithmeticError) as problem:
            raise WrongAnswer(f"the node has a block that cannot be read: {problem}") from None
        if block_number_of(block.previous) != number - 1:
            raise WrongAnswer(f"the node gives another block as block {number}")
        transaction = self._draft.transaction
        if number == self._draft.block + 1 and reference_to(block.previous) == (
            transaction.ref_block_num,
            transaction.ref_block_prefix,
        ):
            self._is_start_sure = True
        if block.timestamp > transaction.expiration:
            self._too_late = number
        return any(each.id == transaction.id for each in block.transactions)
