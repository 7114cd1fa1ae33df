"""Sending a transaction, and finding out what became of it. It is sent once: nothing is ever signed again by itself."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from enum import StrEnum

import msgspec

from ledgerd.codec import codec_of
from ledgerd.codec.errors import CodecError
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.errors import RuleViolation
from ledgerd.wallet.errors import NodeRefused, NodeUnreachable, NotSent, UnknownOutcome
from ledgerd.wallet.node.checks import chain_status
from ledgerd.wallet.node.client import NodeClient
from ledgerd.wallet.transactions.draft import Draft

PAUSE_SECONDS = 0.5
"""Between two questions."""
GRACE_SECONDS = 120.0
"""How long after a transaction has expired a node may take to say so: a minute until that is irreversible, and more."""
PENDING, IN_A_BLOCK, IRREVERSIBLE, NOT_SENT = "pending", "in a block", "irreversible", "not sent"


class Until(StrEnum):
    """What is waited for."""

    SENT = "none"
    IN_BLOCK = "block"
    IRREVERSIBLE = "irreversible"


class TransactionState(msgspec.Struct, frozen=True):
    """Where a transaction is."""

    state: str
    block: int = 0


class TransactionFollower:
    """Looks a transaction up in the blocks after the one that it refers to; several nodes have to agree."""

    def __init__(
        self,
        nodes: Sequence[NodeClient],
        draft: Draft,
        timeout: float,
        clock: Callable[[], float] = time.monotonic,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._node = nodes[0]
        self._searches = [_Search(node, draft) for node in nodes]
        self._draft = draft
        self._timeout = timeout
        self._clock = clock
        self._pause = pause

    def send(self, until: Until) -> TransactionState:
        """Send it, and wait; that it was refused, expired, or did not become known are errors."""
        self._node.close()  # a connection that was idle while a person was asked may be dead
        text = codec_of(Transaction).to_json(self._draft.transaction)
        try:
            self._node.call("network_broadcast_api", "broadcast_transaction", msgspec.json.decode(text))
        except KeyboardInterrupt:
            raise self._unknown(": you did not wait") from None
        except NodeUnreachable:
            # It may have arrived; only the chain can tell.
            return self.wait(Until.IN_BLOCK if until is Until.SENT else until)
        return TransactionState(PENDING) if until is Until.SENT else self.wait(until)

    def wait(self, until: Until) -> TransactionState:
        started = self._clock()
        while True:
            problem = ""
            try:
                outcomes = self._checked()
            except (NodeUnreachable, NodeRefused) as silent:
                problem = f": {silent}"  # it may have been sent: only the chain can tell
            else:
                outcome = _agreed(outcomes)
                if outcome.state == NOT_SENT:
                    raise NotSent(f"the transaction {self._draft.id} has expired and is in no block")
                if outcome.state == IRREVERSIBLE or (outcome.state == IN_A_BLOCK and until is not Until.IRREVERSIBLE):
                    return outcome
                if len({*outcomes}) > 1:
                    problem = f": the nodes say {' and '.join(_words_of(each) for each in outcomes)}"
            if self._clock() - started > self._timeout:
                raise self._unknown(problem)
            try:
                self._pause(PAUSE_SECONDS)
            except KeyboardInterrupt:
                raise self._unknown(": you did not wait") from None

    def check(self) -> TransactionState:
        return _agreed(self._checked())

    def _checked(self) -> list[TransactionState]:
        return [each.check() for each in self._searches]

    def _unknown(self, problem: str) -> UnknownOutcome:
        return UnknownOutcome(
            f"what became of the transaction {self._draft.id} is not known{problem}; ask again with "
            "`ledgerd wallet status`"
        )


def _agreed(outcomes: Sequence[TransactionState]) -> TransactionState:
    """What one node alone says may be a lie: that it is in a block, and that it can come into none any more."""
    if len({each.block for each in outcomes}) > 1 or len({each.state == NOT_SENT for each in outcomes}) > 1:
        return TransactionState(PENDING)
    return min(outcomes, key=lambda each: each.state == IRREVERSIBLE)


def _words_of(outcome: TransactionState) -> str:
    return f"{outcome.state} {outcome.block}" if outcome.block else outcome.state


class _Search:
    """What one node says."""

    def __init__(self, node: NodeClient, draft: Draft) -> None:
        self._node = node
        self._draft = draft
        self._scanned = draft.block
        self._found = 0
        self._too_late = 0
        self._is_over = False
        """Whether it can come into no block any more; that does not change."""

    def check(self) -> TransactionState:
        if self._is_over:
            return TransactionState(NOT_SENT)
        chain = chain_status(self._node)
        if self._found and not self._is_in(self._found):
            self._begin_again()  # its block was undone
        self._scan(chain.head_number)
        if not self._found and self._too_late and chain.irreversible >= self._too_late:
            self._begin_again()  # blocks may have been replaced since they were looked at: now they cannot be
            self._scan(chain.irreversible)
            if not self._found:
                self._is_over = True
                return TransactionState(NOT_SENT)
        if not self._found:
            return TransactionState(PENDING)
        return TransactionState(IRREVERSIBLE if self._found <= chain.irreversible else IN_A_BLOCK, self._found)

    def _begin_again(self) -> None:
        self._scanned, self._found, self._too_late = self._draft.block, 0, 0

    def _scan(self, last: int) -> None:
        while not self._found and not self._too_late and self._scanned < last:
            number = self._scanned + 1
            if self._is_in(number):
                self._found = number
            self._scanned = number

    def _is_in(self, number: int) -> bool:
        record = self._node.call("database_api", "get_block", number)
        if record is None:
            raise NodeUnreachable(f"{self._node.url} does not have block {number}")
        try:
            block = codec_of(Block).from_json(record)
        except (CodecError, RuleViolation) as problem:
            raise NodeUnreachable(f"{self._node.url} has a block that cannot be read: {problem}") from None
        if block.timestamp > self._draft.transaction.expiration:
            self._too_late = number
        return any(each.id == self._draft.transaction.id for each in block.transactions)
