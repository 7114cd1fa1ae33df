"""Sending a transaction, and finding out what became of it. It is sent once: nothing is ever signed again by itself."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from enum import StrEnum

import msgspec

from ledgerd.codec import codec_of
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.sdk.errors import WrongAnswer
from ledgerd.sdk.transactions.draft import Draft
from ledgerd.sdk.transactions.search import (
    IN_A_BLOCK,
    IRREVERSIBLE,
    NOT_SENT,
    PAUSE_SECONDS,
    PENDING,
    TransactionSearch,
    TransactionState,
)
from ledgerd.wallet.errors import NodeRefused, NodeUnreachable, NotSent, UnknownOutcome
from ledgerd.wallet.node.client import NodeClient


class Until(StrEnum):
    """The event that a sender waits for."""

    SENT = "none"
    IN_BLOCK = "block"
    IRREVERSIBLE = "irreversible"


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
        self._searches = [_Searched(node, draft) for node in nodes]
        self._draft = draft
        self._timeout = timeout
        self._clock = clock
        self._pause = pause

    def send(self, until: Until) -> TransactionState:
        """Send the transaction, and wait. Errors say that it was refused, has expired, or that its outcome is
        unknown.
        """
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
    """The state that the nodes agree on. One node alone may lie that a transaction is in a block, or that it can come
    into none any more.
    """
    if len({each.block for each in outcomes}) > 1 or len({each.state == NOT_SENT for each in outcomes}) > 1:
        return TransactionState(PENDING)
    return min(outcomes, key=lambda each: each.state == IRREVERSIBLE)


def _words_of(outcome: TransactionState) -> str:
    return f"{outcome.state} {outcome.block}" if outcome.block else outcome.state


class _Searched:
    """The answers of one node about a transaction."""

    def __init__(self, node: NodeClient, draft: Draft) -> None:
        self._node = node
        self._search = TransactionSearch(draft)

    def check(self) -> TransactionState:
        asking, answer = self._search.check(), None
        try:
            while True:
                call = asking.send(answer)
                answer = self._node.call(call.api, call.method, *call.arguments)
        except StopIteration as found:
            state: TransactionState = found.value
            return state
        except WrongAnswer as wrong:
            raise NodeUnreachable(f"{self._node.url}: {wrong}") from None
