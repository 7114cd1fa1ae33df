"""The peer protocol as the reference node speaks it, quirks included, after spec 04: what ours must get on with.

A model for tests alone: it serves only what the reference serves, punishes what it punishes, and asks as it asks.
Peer exchange and fork tracking are left out, and of pauses the queue of blocks; they decide nothing about blocks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ledgerd.chain.chain import Chain
from ledgerd.codec.types.varint import pack_varint
from ledgerd.p2p.shared.chain_access import Acceptance
from ledgerd.p2p.wire.messages import (
    FORWARD,
    NO_NODE,
    SYNC,
    BlockRangeReply,
    BlockReply,
    ForkStatus,
    GapFillReply,
    GapFillRequest,
    GetBlock,
    GetBlockRange,
    Hello,
    HelloReply,
    Message,
    NotAvailable,
    PeerExchangeReply,
    PeerExchangeRequest,
    SoftBan,
    TransactionMessage,
    block_frame,
    gap_reply_frame,
    range_reply_frame,
    read_message,
)
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.types.identifiers import NO_BLOCK, BlockId, block_number_of
from tests.p2p.reference_ground import ACTIVE, HANDSHAKING, SYNCING, Record, ReferenceGround

RANGE_BUDGET = 2_097_152 - 65_536


class ReferencePeers(ReferenceGround):
    """One reference node's network layer over a chain."""

    def __init__(self, chain: Chain, name: bytes, now: float, *, serves_log: bool) -> None:
        super().__init__(chain, name, now, serves_log=serves_log)
        self.mode = SYNC
        self.is_paused = False
        """Whether it writes or reads a snapshot: what is neither a hello nor a status is discarded (section 19)."""
        self._next = 1
        self._highest = 0
        self._last_block_at: float | None = None
        self._retries = 0
        self._forward_since = 0.0
        self._progress: tuple[int, float] | None = None
        self._gap_asked: float | None = None
        self._gap_at = -1e9
        self._override = 0
        self._quiet_until = 0.0
        self._rejected = (0, 0)
        self._handlers: dict[type[Message], Callable[[Record, Any], None]] = {
            Hello: self._hello,
            HelloReply: self._hello_reply,
            GetBlockRange: self._get_range,
            BlockRangeReply: self._range_reply,
            GetBlock: self._get_block,
            BlockReply: self._block,
            NotAvailable: lambda record, _: self.good(record),
            ForkStatus: self._fork_status,
            PeerExchangeRequest: lambda record, _: self._exchange(record),
            PeerExchangeReply: lambda record, _: self.good(record),
            TransactionMessage: self.transaction,
            SoftBan: lambda record, ban: self.close(record, f"remote: {ban.reason}"),
            GapFillRequest: self._gap_request,
            GapFillReply: self._gap_reply,
        }

    # -- connections (sections 6, 7)

    def opened(self, now: float, *, is_dialled: bool = False) -> int:
        """A connection stands. The record of a seed has the lowest number, and comes first in every loop (6.1)."""
        self.now = now
        record = Record(self._next, now)
        self._next += 1
        self.records = {record.id: record, **self.records} if is_dialled else {**self.records, record.id: record}
        self.send(record, self._our_hello())
        return record.id

    def lost(self, number: int) -> None:
        self.records.pop(number, None)

    def received(self, now: float, number: int, data: bytes) -> None:
        self.now = now
        record = self.records.get(number)
        if record is None:
            return
        record.reader.receive(data, now)
        while (frame := record.reader.next_frame(now)) is not None and record.id in self.records:
            message = read_message(frame)
            if not self.is_paused or isinstance(message, Hello | HelloReply | ForkStatus):
                self._handlers[type(message)](record, message)

    def _our_hello(self) -> Hello:
        return Hello(
            head_block_id=self.access.head_id,
            head_block_num=self.head,
            lib_block_id=self.access.lib_id,
            lib_block_num=self.lib,
            dlt_earliest_block=self.earliest,
            dlt_latest_block=self.latest,
            node_status=self.mode,
            node_id=self.node_id,
        )

    def _hello(self, record: Record, hello: Hello) -> None:
        record.node_id = hello.node_id
        twin = next((each for each in self.records.values() if each.node_id == hello.node_id), record)
        if hello.node_id != NO_NODE and twin is not record:
            self.close(record, "duplicate node_id")
            return
        record.head_id, record.head_number = hello.head_block_id, hello.head_block_num
        record.earliest, record.latest = hello.dlt_earliest_block, hello.dlt_latest_block
        record.node_status = hello.node_status
        head = lib = NO_BLOCK
        if hello.head_block_num:
            if self.earliest <= hello.head_block_num <= self.latest and self.access.is_known(hello.head_block_id):
                head = hello.head_block_id
            if self.access.is_known(hello.lib_block_id):
                lib = hello.lib_block_id
        is_aligned = hello.head_block_num == 0 or head != NO_BLOCK or lib != NO_BLOCK
        record.exchange = is_aligned
        self.send(record, HelloReply(is_aligned, is_aligned, head, lib, self.earliest, self.latest, 0, self.mode))
        if record.state == HANDSHAKING and (is_aligned or SYNC in (self.mode, hello.node_status)):
            record.state = ACTIVE
        self.good(record)
        if self.mode == SYNC and is_aligned:
            self._ask_range(record)

    def _hello_reply(self, record: Record, reply: HelloReply) -> None:
        record.exchange |= reply.exchange_enabled
        record.state = ACTIVE
        self.good(record)
        if not record.exchange:
            return
        if self.mode == SYNC:
            self._ask_range(record)
        elif record.head_number > self.head + 2:
            self._to_sync()
            self._ask_range(record)

    # -- modes (section 9)

    def _to_forward(self) -> None:
        if self.mode == FORWARD:
            return
        self.mode, self._retries, self._progress, self._forward_since = FORWARD, 0, None, self.now
        for record in self.records.values():
            if record.state == SYNCING:
                record.state = ACTIVE
            if record.state == ACTIVE and not record.exchange and record.head_number > 0:
                record.exchange = self.access.is_known(record.head_id)
        for record in self.live():
            self.send(record, self._our_status())

    def _to_sync(self) -> None:
        if self.mode == FORWARD:
            self.mode, self._retries, self._last_block_at = SYNC, 0, self.now

    def fall_back(self) -> None:
        """It syncs, which peers hear with its next post-validation status (sections 9.2, 15)."""
        self._to_sync()
        for record in self.live():
            self.send(record, self._our_status())

    def catch_up(self) -> None:
        """It has caught up."""
        self._to_forward()

    def _our_status(self) -> ForkStatus:
        chain = self.access
        return ForkStatus(0, chain.head_id, self.head, chain.lib_id, self.lib, self.earliest, self.latest, self.mode)

    def _check_catch_up(self) -> None:
        known = [record for record in self.live() if record.head_number]
        if self.mode != SYNC or not self.head or any(self.head < record.head_number for record in known):
            return
        if known and self._highest <= self.head + 2:
            self._to_forward()

    def tick(self, now: float) -> None:
        """The periodic task (section 21)."""
        self.now = now
        for record in list(self.records.values()):
            if record.state == HANDSHAKING and now - record.since > 10:
                self.close(record, "lifecycle timeout")
            elif record.batch_at is not None and now - record.batch_at > 30:
                record.batch_at = None
                self.strike(record)
        if self.mode == SYNC and self._last_block_at is not None and now - self._last_block_at >= 30:
            self._retries += 1
            if self._retries >= 3:
                self._to_forward()
            else:
                for record in self.live():
                    self._ask_range(record)
                self._last_block_at = now
        self._check_catch_up()
        if self.mode == FORWARD and now - self._forward_since >= 15:
            ahead = any(record.head_number > self.head + 2 for record in self.live())
            self._catch_up_if(is_behind=ahead)
        self._check_stagnation()
        self._ask_gap()

    def _check_stagnation(self) -> None:
        if self.mode != FORWARD:
            return
        if self._progress is None or self.head > self._progress[0]:
            self._progress = self.head, self.now
        elif self.now - self._progress[1] > 30:
            self._progress = self.head, self.now
            self._catch_up_if(is_behind=any(record.head_number > self.head for record in self.live()))

    def _catch_up_if(self, *, is_behind: bool) -> None:
        if is_behind:
            self._to_sync()
            for record in self.live():
                if record.exchange and record.head_number > self.head:
                    self._ask_range(record)

    # -- ranges (section 10)

    def _ask_range(self, record: Record) -> None:
        reach = max(record.latest, record.head_number)
        if self.head >= reach:
            others = [max(each.latest, each.head_number) for each in self.live()]
            if self.mode == SYNC and all(other <= self.head for other in others):
                self._to_forward()
            return
        start = self.lib if reach - self.head > 2 and 0 < self.lib < self.head else self.head
        start = max(start, record.earliest)
        if start > reach:
            return
        self.send(record, GetBlockRange(start, min(start + 199, reach), self.access.head_id))
        record.state, record.since, record.expected = SYNCING, self.now, 0

    def _get_range(self, record: Record, request: GetBlockRange) -> None:
        blocks: list[bytes] = []
        size = 5
        for number in range(request.start_block_num, min(request.end_block_num, self.latest) + 1):
            packed = self.read(number)
            if packed is None:
                continue
            if blocks and size + len(pack_varint(len(blocks))) + len(packed) > RANGE_BUDGET:
                self.frame(record, range_reply_frame(blocks, number, is_last=False))
                return
            blocks.append(packed)
            size += len(packed)
        last = block_number_of(BlockId(blocks[-1][:20])) + 1 if blocks else 0
        is_last = bool(blocks) and last >= self.latest
        self.frame(record, range_reply_frame(blocks, last + 1 if blocks and not is_last else 0, is_last=is_last))
        self.good(record)

    def _range_reply(self, record: Record, reply: BlockRangeReply) -> None:
        if not reply.blocks:
            self.good(record)
            return
        last = reply.blocks[-1].number
        record.head_number, self._highest = max(record.head_number, last), max(self._highest, last)
        record.batch_at = self.now
        outcomes = set()
        for block in reply.blocks:
            if record.expected and block.number < record.expected and self.access.is_known(block.id):
                continue
            outcome = self._accept(record, block)
            outcomes.add(outcome)
            if outcome is Acceptance.DEAD_FORK:
                self.ban(record, f"dead-fork block #{block.number}")
                return
            if outcome is not Acceptance.REJECTED:
                record.expected = max(record.expected, block.number + 1)
        record.batch_at = None
        is_applied, is_forked = Acceptance.ACCEPTED in outcomes, Acceptance.FORK_DB_ONLY in outcomes
        if is_applied or is_forked:
            self.good(record)
        else:
            self.strike(record)
        if self.mode == SYNC and (is_applied or is_forked):
            self._after_range(record, reply, is_applied=is_applied)

    def _after_range(self, record: Record, reply: BlockRangeReply, *, is_applied: bool) -> None:
        """Section 10.4, step 7."""
        if is_applied and reply.is_last:
            self._to_forward()
        if is_applied:
            record.fork_batches = 0
        elif reply.last_block_next_available > 0:
            record.fork_batches += 1
        if record.fork_batches >= 5:
            self.ban(record, "fork-only spam: 5 batches with no progress")
        elif reply.last_block_next_available > 0 and not (is_applied and reply.is_last):
            self._ask_range(record)

    # -- single blocks (section 11)

    def push(self, block: Block) -> None:
        """A block of its own."""
        self.to_all(block_frame(block.packed, 0, is_last=True), None, block.id)
        self._applied(block)

    def _block(self, record: Record, message: BlockReply) -> None:
        block, head = message.block, self.head
        record.head_number = max(record.head_number, block.number)
        self._highest = max(self._highest, block.number)
        if record.expected and block.number != record.expected:
            if block.number < record.expected and self.access.is_known(block.id):
                self.good(record)
                return
            if block.number > head + 1:
                self._ask_gap()
            is_beside = block.number > head and block_number_of(block.previous) == head
            if is_beside and block.previous not in (self.access.head_id, NO_BLOCK):
                self.send(record, GetBlock(head, NO_BLOCK))
        outcome = self._accept(record, block, knows=True)
        if outcome is Acceptance.REJECTED:
            self._count_rejection(block.number)
            self.strike(record)
            return
        if outcome is Acceptance.DEAD_FORK:
            self.ban(record, f"dead-fork block #{block.number}")
            return
        if outcome is Acceptance.ACCEPTED:
            frame = block_frame(block.packed, message.next_available, is_last=message.is_last)
            self.to_all(frame, record, block.id)
            self._check_catch_up()
        record.expected = max(record.expected, block.number + 1)
        self.good(record)

    def _get_block(self, record: Record, request: GetBlock) -> None:
        packed, number = self.read(request.block_num), request.block_num
        if packed is None:
            self.send(record, NotAvailable(number))
        else:
            following = number + 1 if number < self.latest else 0
            self.frame(record, block_frame(packed, following, is_last=number >= self.latest))
        self.good(record)

    def _accept(self, record: Record, block: Block, *, knows: bool = False) -> Acceptance:
        """Section 12, and what every accepted block leads to."""
        outcome = self.access.accept_block(block, self.now, is_syncing=False)
        if outcome is Acceptance.ACCEPTED:
            self._last_block_at = self.now
            record.exchange = True
            if knows:
                self.knows(record, block.id)
            self._applied(block)
        return outcome

    def _applied(self, block: Block) -> None:
        self.mempool -= {transaction.id for transaction in block.transactions}
        for record in self.records.values():
            if 0 < record.expected < block.number + 1:
                record.expected = block.number + 1

    # -- gaps (section 13)

    def _ask_gap(self) -> None:
        if self._gap_asked is not None and self.now - self._gap_asked <= 15:
            return
        self._gap_asked = None
        base = self.head
        if self.now - self._gap_at < 5 or self.now < self._quiet_until or base == 0:
            return
        if 0 < self._override < base:
            base = self._override
        self._override = 0
        able = [r for r in self.live() if (r.earliest == 0 or r.earliest <= base + 1) and r.head_number > base]
        best = max((r for r in able if r.exchange), key=lambda r: (r.head_number, -r.id), default=None)
        ceiling = max(best.head_number if best else base, self._highest)
        if ceiling <= base:
            return
        self._gap_at = self.now
        target = best or next(iter(able), None)
        if target is not None:
            self._gap_asked = self.now
            self.send(target, GapFillRequest(tuple(range(base, min(ceiling, base + 99) + 1))))

    def _gap_request(self, record: Record, request: GapFillRequest) -> None:
        if not 0 < len(request.block_nums) <= 100:
            self.strike(record)
            return
        wanted = (number for number in request.block_nums if self.earliest <= number <= self.head + 100)
        blocks = [packed for number in wanted if (packed := self.read(number)) is not None]
        self.frame(record, gap_reply_frame(blocks))
        self.good(record)

    def _gap_reply(self, record: Record, reply: GapFillReply) -> None:
        self._gap_asked = None
        for block in reply.blocks:
            outcome = self._accept(record, block)
            if outcome is Acceptance.REJECTED:
                self._count_rejection(block.number)
            elif outcome is Acceptance.DEAD_FORK:
                if max(record.latest, record.head_number) > self.head:
                    self._override = self.lib if 0 < self.lib < self.head else 0
                    self._to_sync()
                    self._ask_range(record)
                else:
                    self.ban(record, "dead-fork block in gap fill")
                    return
                break
        self.good(record)

    def _count_rejection(self, number: int) -> None:
        last, count = self._rejected
        self._rejected = (number, count + 1 if number == last else 1)
        if self._rejected[1] == 3:
            self._quiet_until, self._rejected = self.now + 120, (0, 0)

    # -- the rest (sections 14 to 17)

    def _fork_status(self, record: Record, status: ForkStatus) -> None:
        has_joined = record.node_status == SYNC and status.node_status == FORWARD and record.state == ACTIVE
        record.head_id, record.head_number = status.head_block_id, status.head_block_num
        record.earliest, record.latest = status.dlt_earliest_block, status.dlt_latest_block
        record.node_status = status.node_status
        if has_joined and not record.exchange and record.head_number and self.access.is_known(record.head_id):
            record.exchange = True
        self._highest = max(self._highest, record.head_number)
        self.good(record)

    def _exchange(self, record: Record) -> None:
        self.send(record, PeerExchangeReply(()))
        self.good(record)
