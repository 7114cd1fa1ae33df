"""Transactions and blocks from clients: pushed on the chain's thread, in turns of who sends them, and sent to peers.

The requests are those of `rpc.link.topics`; this is the main process's side of them (spec 05, section 10). What they
cost is charged to the address or connection that they came from, as that of peers is.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from threading import Lock
from typing import NamedTuple

from ledgerd.basics.quotas import Recent, SharedQuota
from ledgerd.chain.pending.pending import ROOM_BESIDE_TRANSACTION
from ledgerd.codec import codec_of
from ledgerd.node.parts.chain import ChainPart
from ledgerd.node.time_source import MICRO, TimeSource
from ledgerd.p2p.shared.allowances import MEMBERS_OF_A_SIGNATURE, REMEMBERED, Allowance, signatures_of_time
from ledgerd.p2p.shared.chain_access import MOST_SIZES_AHEAD
from ledgerd.p2p.turns import Turns
from ledgerd.protocol.blocks.block import Block, SignedHeader, require_block_size
from ledgerd.protocol.blocks.transaction import Transaction
from ledgerd.protocol.errors import RuleViolation, require
from ledgerd.rpc.call.bounds import LimitsReached
from ledgerd.rpc.call.errors import PlainError
from ledgerd.rpc.link.switchboard import Handler
from ledgerd.rpc.link.topics import BROADCAST_BLOCK, BROADCAST_TRANSACTION, Broadcast, unpacked

log = logging.getLogger(__name__)

FUTURE_SECONDS = 5
"""Seconds by which a block may be ahead of the clock."""

CLIENT_SIGNATURES, CLIENT_SIGNATURES_A_SECOND = 5_000, 1_000
"""Signatures in transactions of all clients: at once, and a second."""
FREE_SIGNATURES = 2
"""Signatures that a new address has when nothing is left."""
CLIENT_UNPROVEN, CLIENT_UNPROVEN_A_SECOND = 4 << 20, 64 << 10
"""Bytes of blocks of all clients whose signature is not proven: at once, and a second."""
FREE_UNPROVEN = 4 << 10
"""What all clients together may have recovered, and in bytes, which blocks that nobody signed they may leave here. What
others have used up leaves each one its part, and a newcomer this much at once.
"""
REFUSED_COST = 10
"""A refused transaction is charged so many times its signatures on top."""

LOCKED = "Unable to acquire WRITE lock"
CURRENT_SECONDS = 30
"""A younger head is current enough, whatever heights peers claim."""
CATCHING_UP = "This node is catching up, and takes no transactions: it has block {head} of {target}"

MOST_WAITING, MOST_WAITING_BYTES = 1_000, 16 << 20
"""Broadcasts that wait for the chain; with more, the last one of whoever has most there is refused."""

REFUSED_SECONDS = 1.0
"""Whoever had its latest broadcast refused is heard after others who have cost so much more. Without that, one of each
hostile address would be heard before any honest one.
"""

Push = Callable[[Broadcast, Allowance], None]


class QuotaExceeded(Exception):
    """A client has used up its quota."""

    def __init__(self, bound: str) -> None:
        super().__init__(bound)
        self.bound = bound


class QueuedBroadcast(NamedTuple):
    """A broadcast that waits for its turn."""

    asked: Broadcast
    push: Push
    done: Future[None]


class BroadcastSender(NamedTuple):
    """The quotas of one sender of broadcasts."""

    allowance: Allowance
    waiting: deque[QueuedBroadcast]

    @property
    def size(self) -> int:
        return sum(len(each.asked.packed) for each in self.waiting)


class BroadcastQueue:
    """The broadcasts that wait, in turns by what those who sent them have cost.

    They are entered on one thread and heard on another.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = Lock()
        self._turns = Turns[str]()
        self._allowances = Recent(Allowance, REMEMBERED)
        self._senders: dict[str, BroadcastSender] = {}
        self._pushing: str | None = None
        self._count = self._bytes = 0

    def __len__(self) -> int:
        return self._count

    def add(self, waiting: QueuedBroadcast, now: float) -> None:
        share = waiting.asked.share
        with self._lock:
            if share not in self._senders:
                self._senders[share] = BroadcastSender(self._allowances.of(share, now), deque())
            self._senders[share].waiting.append(waiting)
            self._count += 1
            self._bytes += len(waiting.asked.packed)
            self._settle(share)
            while self._count > MOST_WAITING:
                self._drop_last_of(max(self._senders, key=lambda each: len(self._senders[each].waiting)))
            while self._bytes > MOST_WAITING_BYTES:
                self._drop_last_of(max(self._senders, key=lambda each: self._senders[each].size))

    def _drop_last_of(self, share: str) -> None:
        last = self._remove(self._senders[share].waiting.pop())
        self._settle(share)
        if last.done.set_running_or_notify_cancel():
            last.done.set_exception(QuotaExceeded("broadcasts that wait"))

    def _remove(self, one: QueuedBroadcast) -> QueuedBroadcast:
        self._count -= 1
        self._bytes -= len(one.asked.packed)
        return one

    def _settle(self, share: str) -> None:
        """Have one wait for a turn as long as it has something here."""
        allowance, waiting = self._senders[share]
        if waiting:
            self._turns.wait(share, allowance, is_block=False)  # whose blocks these are is not known yet
        elif share != self._pushing:
            del self._senders[share]
            self._turns.leave(share)

    def _next(self) -> tuple[QueuedBroadcast, Allowance] | None:
        with self._lock:
            while (share := self._turns.next()) is not None:
                allowance, waiting = self._senders[share]
                one = self._remove(waiting.popleft())
                if one.done.set_running_or_notify_cancel():
                    self._pushing = share
                    return one, allowance
                self._settle(share)
        return None

    def push_next(self) -> None:
        """Push the broadcast whose turn it is, if one still waits."""
        found = self._next()
        if found is None:
            return
        one, allowance = found
        began = self._clock()
        try:
            one.push(one.asked, allowance)
            allowance.useful += 1
            allowance.handicap = 0.0
        except Exception as error:  # noqa: BLE001 - who waits for it gets it
            if not isinstance(error, QuotaExceeded | PlainError):
                allowance.handicap = REFUSED_SECONDS
            self._finish(one, began)
            one.done.set_exception(error)
            # The error holds this frame: if the frame held the error, the broadcast would stay in memory with both.
            del one, found
        else:
            self._finish(one, began)
            one.done.set_result(None)

    def _finish(self, one: QueuedBroadcast, began: float) -> None:
        with self._lock:
            self._turns.charge(one.asked.share, self._clock() - began)
            self._pushing = None
            self._settle(one.asked.share)


class Broadcasts:
    """Handles the broadcasts of clients."""

    def __init__(self, chain: ChainPart, time: TimeSource, timeout: float) -> None:
        self._chain = chain
        self._time = time
        self._timeout = timeout
        now = self._time.wall_seconds()
        self._signatures = SharedQuota(CLIENT_SIGNATURES, CLIENT_SIGNATURES_A_SECOND, FREE_SIGNATURES, now)
        self._unproven = SharedQuota(CLIENT_UNPROVEN, CLIENT_UNPROVEN_A_SECOND, FREE_UNPROVEN, now)
        self.queue = BroadcastQueue(time.seconds)
        self._met = LimitsReached()
        self.on_transaction: list[Callable[[Transaction], None]] = []
        """Called on the chain's thread after a transaction was accepted."""
        self.on_block: list[Callable[[Block], None]] = []
        """Called on the chain's thread after a block was accepted, which may be on a branch."""
        self.catches_up_to: Callable[[], int] = lambda: 0
        """The block that the node catches up to, where it refuses transactions meanwhile; else 0."""

    @property
    def handlers(self) -> dict[str, Handler]:
        return {BROADCAST_TRANSACTION: self.transaction, BROADCAST_BLOCK: self.block}

    async def transaction(self, payload: bytes) -> bytes:
        await self._in_time(unpacked(payload, Broadcast), self._push)
        return b""

    async def block(self, payload: bytes) -> bytes:
        await self._in_time(unpacked(payload, Broadcast), self._push_block)
        return b""

    async def _in_time(self, asked: Broadcast, push: Push) -> None:
        """Refuse what waits longer for the chain than the options allow; what has begun runs to its end.

        Each one that comes has another one pushed: whose turn it is, which need not be its own. So it does not wait for
        the job that it submits: in a flood its own turn comes long before the jobs of all who came earlier have run.
        """
        waiting = QueuedBroadcast(asked, push, Future())
        self.queue.add(waiting, self._time.wall_seconds())
        try:
            async with asyncio.timeout(self._timeout or None):
                self._chain.submit(self.queue.push_next)
                await asyncio.wrap_future(waiting.done)
        except TimeoutError:
            raise PlainError(LOCKED) from None
        except QuotaExceeded as exceeded:
            raise self._refusal(asked.share, exceeded.bound) from None
        finally:
            # Nobody waits for it any more: heard all the same, it would take the turn of one for which somebody does.
            waiting.done.cancel()
            del waiting  # as in `push_next`

    def _refusal(self, share: str, bound: str) -> PlainError:
        """The operator hears once a minute which bound holds whom."""
        self._met.count(bound, share)
        line = self._met.line(self._time.seconds())
        if line:
            log.warning("limits reached by clients: %(limits)s", {"limits": line})
        return PlainError(LOCKED)

    # -- on the thread of the chain

    def _push(self, asked: Broadcast, allowance: Allowance) -> None:
        chain = self._chain.chain
        target = self.catches_up_to()
        if target and self._time.wall_seconds() - chain.head_time > CURRENT_SECONDS:
            raise PlainError(CATCHING_UP.format(head=chain.head_number, target=target))
        if asked.max_block_age >= 0:
            oldest = self._time.wall() // MICRO - asked.max_block_age
            require(chain.head_time >= oldest, "!check_max_block_age(max_block_age): ")
        limit = chain.globals.maximum_block_size - ROOM_BESIDE_TRANSACTION
        rule = "trx_size <= (get_dynamic_global_properties().maximum_block_size - 256): "
        require(len(asked.packed) <= limit, rule)
        if allowance.signatures.left(self._time.wall_seconds()) <= 0:
            raise QuotaExceeded("signatures of an address")  # before it is decoded, which may take a whole turn
        transaction = codec_of(Transaction).decode_exactly(asked.packed)
        count = max(1, len(transaction.signatures)) if chain.is_signable(transaction) else 1
        allowance.signatures.charge(count)
        if not self._signatures.spend(asked.share, count, self._time.wall_seconds()):
            raise QuotaExceeded("signatures of all clients")
        try:
            chain.push_transaction(transaction)
        except RuleViolation:
            taken = signatures_of_time(chain.seconds_spent)
            cost = REFUSED_COST * (count + taken + self._charge_looks(asked.share, allowance))
            allowance.signatures.spend(cost, self._time.wall_seconds())
            self._signatures.spend(asked.share, REFUSED_COST * taken, self._time.wall_seconds())
            raise
        self._charge_looks(asked.share, allowance)
        for call in self.on_transaction:
            call(transaction)

    def _charge_looks(self, share: str, allowance: Allowance) -> int:
        """Authorities of many members cost as much as signatures."""
        looks = self._chain.chain.members_checked // MEMBERS_OF_A_SIGNATURE
        if looks:
            allowance.signatures.spend(looks, self._time.wall_seconds())
            self._signatures.spend(share, looks, self._time.wall_seconds())
        return looks

    def _push_block(self, asked: Broadcast, allowance: Allowance) -> None:
        """Check size and header first: decoding a whole block takes many times longer."""
        chain, packed = self._chain.chain, asked.packed
        require_block_size(len(packed), MOST_SIZES_AHEAD * chain.globals.maximum_block_size)
        header = codec_of(SignedHeader).decode(packed)
        latest = self._time.wall() // MICRO + FUTURE_SECONDS
        require(header.timestamp <= latest, "block.timestamp.sec_since_epoch() <= max_accept_time: ")
        if not chain.is_known(header.id) and not chain.is_signed(header):
            self._charge_unproven(asked.share, len(packed), allowance, is_beside=header.previous != chain.head_id)
        block = codec_of(Block).decode_exactly(packed)
        outcome = chain.push_block(block).or_raise()
        # Sent on in our name, what nobody signed would be charged to us by every peer.
        if outcome.has_moved or chain.is_signed(header):
            for call in self.on_block:
                call(block)

    def _charge_unproven(self, share: str, size: int, allowance: Allowance, *, is_beside: bool) -> None:
        """A block that nobody is known to have signed; beside the head it may be kept."""
        now = self._time.wall_seconds()
        if not allowance.pushed.spend(size, now) or (is_beside and not allowance.unproven.spend(1, now)):
            raise QuotaExceeded("unsigned blocks of an address")
        if not self._unproven.spend(share, size, now):
            raise QuotaExceeded("unsigned blocks of all clients")
