"""A signed transaction on its way into the chain: sent so that it is never carried out twice, and followed.

Nothing is signed again here: however often it is sent, it is one transaction with one id, which a chain takes once.
After an answer that was lost, the chain is looked through before it is sent again; that it expired is said only when
blocks past its expiration are irreversible and none has it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

import msgspec

from ledgerd.codec import codec_of
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.constants import MAX_TIME_UNTIL_EXPIRATION
from ledgerd.sdk.calling import Caller
from ledgerd.sdk.errors import ClientError, Duplicate, Expired
from ledgerd.sdk.transactions.draft import Draft
from ledgerd.sdk.transactions.errors import OutcomeUnknown
from ledgerd.sdk.transactions.search import (
    GRACE_SECONDS,
    IRREVERSIBLE,
    NOT_SENT,
    PAUSE_SECONDS,
    PENDING,
    TransactionSearch,
    TransactionState,
)


class Waiting(msgspec.Struct, frozen=True):
    """The clock and the pauses of a wait; a test has its own."""

    now: Callable[[], float] = time.time
    """The time that expirations are compared with."""
    elapsed: Callable[[], float] = time.monotonic
    pause: Callable[[float], Awaitable[None]] = asyncio.sleep


class SentTransaction:
    """Sends and follows one transaction, by whichever node answers."""

    def __init__(self, caller: Caller, draft: Draft, waiting: Waiting, *, may_be_sent: bool) -> None:
        self._caller = caller
        self._draft = draft
        self._waiting = waiting
        self._search = TransactionSearch(draft)
        self._searching = asyncio.Lock()
        self._may_be_sent = may_be_sent
        """Whether a node may have it already."""

    @property
    def id(self) -> str:
        return self._draft.id

    def __repr__(self) -> str:
        return f"SentTransaction({self.id})"

    async def send(self, seconds: float | None = None) -> None:
        """Send it until a node has it or it is in a block. May be called again, also after a failure.

        `Rejected`: no node has it. `Expired`: it is in no block, and can't come into one. `OutcomeUnknown`: neither is
        known after so many seconds.
        """
        deadline = self._deadline(seconds)
        if not self._may_be_sent and await self._is_accepted_at_first():
            return
        while True:
            problem: ClientError | None = None
            if (await self._outcome(deadline)).state != PENDING:
                return
            try:
                await self._broadcast()
            except Duplicate:
                return
            except ClientError as failed:
                problem = failed  # a rejection too: what was sent before may have caused it
            else:
                return
            await self._wait(deadline, problem)

    async def state(self) -> TransactionState:
        """Where the transaction is now, according to one node."""
        async with self._searching:
            asking, answer = self._search.check(), None
            try:
                while True:
                    call = asking.send(answer)
                    answer = await self._caller.call(call.api, call.method, call.arguments, object)
            except StopIteration as found:
                state: TransactionState = found.value
                return state

    async def in_block(self, seconds: float | None = None) -> int:
        """The number of its block, once it is in one; that may be undone yet. Errors are those of `send`."""
        deadline = self._deadline(seconds)
        while not (found := await self._outcome(deadline)).block:
            await self._wait(deadline, None)
        return found.block

    async def irreversible(self, seconds: float | None = None) -> int:
        """The number of its block, once that can't be undone any more. Errors are those of `send`."""
        deadline = self._deadline(seconds)
        while (found := await self._outcome(deadline)).state != IRREVERSIBLE:
            await self._wait(deadline, None)
        return found.block

    async def _is_accepted_at_first(self) -> bool:
        """Send it for the first time. Where it fails for good, no node has it from here: that is an error. So is a
        `Duplicate`: an equal transaction of somebody else must not pass for this one.
        """
        self._may_be_sent = True
        try:
            await self._broadcast()
        except ClientError as failed:
            if not failed.is_temporary:
                self._may_be_sent = False
                raise
            return False
        return True

    async def _broadcast(self) -> None:
        text = codec_of(Transaction).to_json(self._draft.transaction)
        await self._caller.call(
            "network_broadcast_api", "broadcast_transaction", [msgspec.json.decode(text)], object, repeatable=False
        )

    async def _outcome(self, deadline: float) -> TransactionState:
        """Wait until a node says where the transaction is."""
        while True:
            try:
                found = await self.state()
            except ClientError as failed:
                if not failed.is_temporary:
                    raise self._unknown(failed) from failed
                await self._wait(deadline, failed)
            else:
                if found.state == NOT_SENT:
                    raise Expired(f"the transaction {self.id} has expired and is in no block")
                return found

    async def _wait(self, deadline: float, problem: ClientError | None) -> None:
        if self._waiting.elapsed() >= deadline:
            raise self._unknown(problem) from problem
        await self._waiting.pause(PAUSE_SECONDS)

    def _deadline(self, seconds: float | None) -> float:
        if seconds is None:
            left = self._draft.transaction.expiration - self._waiting.now()
            seconds = min(max(0.0, left), MAX_TIME_UNTIL_EXPIRATION) + GRACE_SECONDS
        return self._waiting.elapsed() + seconds

    def _unknown(self, problem: ClientError | None) -> OutcomeUnknown:
        reason = "" if problem is None else f": {problem}"
        return OutcomeUnknown(f"what became of the transaction {self.id} is not known yet{reason}")
