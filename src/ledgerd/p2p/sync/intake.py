"""Blocks of peers, which are pushed to the chain, and the mode of the node (spec 04, sections 9 to 13)."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Collection

from ledgerd.chain.forks.outcome import FARTHEST_AHEAD
from ledgerd.codec import DecodeError, codec_of
from ledgerd.p2p.shared.actions import Batch, Origin
from ledgerd.p2p.shared.chain_access import Acceptance
from ledgerd.p2p.shared.core import Core
from ledgerd.p2p.shared.modes import TRANSITIONS, Cause, Mode
from ledgerd.p2p.shared.peer import Life, Peer
from ledgerd.p2p.sync.admission import Admission
from ledgerd.p2p.sync.gap_fill import GapFill
from ledgerd.p2p.sync.range_sync import RangeSync
from ledgerd.p2p.sync.survey import RECENT_SECONDS, Survey
from ledgerd.p2p.sync.watch import CommitSchedule, ForkTracking, SyncReport, SyncWatchdog
from ledgerd.p2p.talk.handshake import our_status
from ledgerd.p2p.talk.mempool import Mempool
from ledgerd.p2p.talk.offers import Offers
from ledgerd.p2p.talk.relay import push_block
from ledgerd.p2p.wire.frames import Frame
from ledgerd.p2p.wire.messages import BlockRangeReply, BlockReply, GapFillReply, GetBlock, TransactionMessage
from ledgerd.p2p.wire.replies import ReplyReader
from ledgerd.protocol.blocks.block import Block, SignedHeader
from ledgerd.protocol.constants import MAX_TIME_UNTIL_EXPIRATION
from ledgerd.protocol.types.identifiers import NO_BLOCK, block_number_of
from ledgerd.supervision.progress import shown

log = logging.getLogger(__name__)


class Intake:
    """Accepts blocks, requests missing ones, and changes the mode."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self.admission = Admission(core)
        self.ranges = RangeSync(core)
        self.gaps = GapFill(core, self.admission)
        self.survey = Survey(core)
        self.mempool = Mempool(core.settings, core.chain.is_anchored)
        self.offers = Offers(core)
        self.watch = SyncWatchdog(core)
        self.fork_tracking = ForkTracking(core)
        self._batch: Batch | None = None
        self._batches: deque[Batch] = deque()
        self._warned = False
        self.commits = CommitSchedule(core)
        self._report = SyncReport()

    # -- the mode

    def change_mode(self, cause: Cause | None) -> bool:
        core = self._core
        mode = None if cause is None else TRANSITIONS.get((core.mode, cause))
        if mode is None:
            return False
        log.info(
            "%(cause)s: %(before)s -> %(after)s at block %(block)d",
            {"cause": cause, "before": core.mode.name, "after": mode.name, "block": core.chain.head_number},
        )
        core.mode = mode
        self.watch.mode_changed()
        if mode is Mode.FORWARD:
            self._enter_forward()
        else:
            self.ranges.plan()
        return True

    def _enter_forward(self) -> None:
        """Tell every peer that we are in FORWARD and want transactions (spec 04, section 9.1)."""
        core = self._core
        self.ranges.stop()
        self.commits.commit()
        if core.now - core.chain.head_time <= RECENT_SECONDS and any(core.live()):
            log.info("in step with the network at block %(block)d", {"block": core.chain.head_number})
        for peer in core.peers():
            is_unsure = peer.life is Life.ACTIVE and not peer.exchange and peer.head_number > 0
            if is_unsure and core.chain.is_known(peer.head_id):
                peer.exchange = peer.is_aligned = True
        status = our_status(core)
        for peer in core.peers():
            # Also peers in their handshake: our hello told them that we are in SYNC.
            core.send(peer, status)
        self.mempool.confirm()
        self.offers.serve_all()

    def tick(self) -> None:
        """The part of the periodic task that watches the sync (spec 04, section 21, steps 6 to 10)."""
        core, watch = self._core, self.watch
        for block in self.admission.early():
            self.enqueue(Batch(Origin.EARLY, 0, (block,)))
        self.change_mode(watch.stagnated())
        self.change_mode(watch.caught_up())
        self.change_mode(watch.behind())
        self.change_mode(watch.stalled())
        self.ranges.plan()
        self.request_gap()
        self.survey.tick()
        if core.mode is Mode.SYNC and self.ranges.needs_snapshot() and not self._warned:
            self._warned = True
            log.warning(
                "no peer has block %(block)d any more: this node needs a snapshot of a later block, by "
                "trusted-snapshot-peer and sync-snapshot-from-trusted-peer = true with the plugin snapshot, or from a "
                "file: --snapshot FILE",
                {"block": core.chain.head_number + 1},
            )

    def report(self) -> None:
        core = self._core
        ahead = [reach for peer in core.trusted() if (reach := core.reach_of(peer)) > core.chain.head_number]
        target = max(ahead, default=core.chain.head_number)
        if core.on_catch_up is not None and self._report.begins(core.chain.head_number, target):
            core.on_catch_up(target - core.chain.head_number)
        step = self._report.step(core.now, core.chain.head_number, target, len(ahead))
        if step is not None:
            log.info("%s", step.text, extra=shown(step))

    # -- a single block, pushed or requested

    def block(self, peer: Peer, message: BlockReply) -> None:
        """Push a block to the chain; relay it if it is the new head (spec 04, section 11.3)."""
        core, block = self._core, message.block
        peer.claimed = max(peer.claimed, block.number)
        peer.head_number = max(peer.head_number, core.credible(block.number))
        head = core.chain.head_number
        is_beside = block.number == head + 1 and block.previous not in (core.chain.head_id, NO_BLOCK)
        if is_beside and not core.chain.is_known(block.previous):
            core.send(peer, GetBlock(block_number_of(block.previous), NO_BLOCK))
        outcome = self.admission.admit(peer, block, is_syncing=False)
        if outcome is Acceptance.REJECTED:
            self.admission.count_rejection(block.number)
            core.strike(peer, f"block {block.number} breaks a rule")
        elif outcome is not Acceptance.DEAD_FORK:
            core.good(peer)
        elif not core.chain.is_signed(block):
            # The reference bans for any dead-fork block, and forgets the ban at once. Who comes back from a split
            # pushes what its validators make before it has found the way: what they signed is nobody's spam.
            core.strike(peer, f"dead-fork block #{block.number}")
        if outcome is Acceptance.ACCEPTED:
            self._accepted(peer, message)
        elif outcome in (Acceptance.FORK_DB_ONLY, Acceptance.DEAD_FORK) and not is_beside:
            self._ask_below(peer, block)

    def _ask_below(self, peer: Peer, block: Block) -> None:
        core = self._core
        if core.chain.is_linked(block.id):
            return
        peer.beaten_until = 0.0
        if block.number <= core.chain.head_number < core.height_of(peer):
            self.gaps.go_back()
        self.request_gap()

    def request_gap(self) -> None:
        """A peer is higher than known before: request blocks at once, unless ranges are requested already."""
        if self.ranges.is_idle and not self.is_busy:
            self.gaps.ask()

    def _accepted(self, peer: Peer, message: BlockReply) -> None:
        block = message.block
        if self._core.mode is Mode.FORWARD:
            peer.pushed_late = self._core.now - block.timestamp
            if self._core.meter is not None:
                self._core.meter.pushed_late_by(peer.pushed_late)
        log.info(
            "Got block #%(block)d with %(transactions)d transaction(s) validated by %(validator)s [%(peer)s]",
            {
                "block": block.number,
                "transactions": len(block.transactions),
                "validator": block.validator,
                "peer": peer.endpoint,
            },
        )
        self.applied(block)
        peer.known_blocks.append(block.id)
        push_block(self._core, block, peer, message.next_available, is_last=message.is_last)
        self.change_mode(self.watch.caught_up())

    def applied(self, block: Block) -> None:
        """Note that a block was applied (spec 04, section 11.5). The transactions of an old one have expired."""
        if block.timestamp + MAX_TIME_UNTIL_EXPIRATION >= self._core.now:
            for transaction in block.transactions:
                self.mempool.include(transaction)
                self.offers.include(transaction.id)
        self.fork_tracking.applied(block.number)

    # -- many blocks

    def is_unwanted(self, peer: Peer, frame: Frame) -> bool:
        """Whether a message need not be decoded: it answers no request (spec 04, section 27, item 4), or its first
        bytes decide its outcome.
        """
        match frame.number:
            case BlockRangeReply.NUMBER:
                return not self.ranges.awaits(peer)
            case GapFillReply.NUMBER:
                return not (self.gaps.awaits(peer) or self.survey.numbers_of(peer))
            case BlockReply.NUMBER:
                return self._is_settled(peer, frame.payload)
            case TransactionMessage.NUMBER:
                is_large = len(frame.payload) > self._core.settings.mempool_max_tx_size
                if is_large and peer.is_greeted:
                    self._core.strike(peer, "a transaction that is too large")
                # Nothing would be done with one from an address without signatures left; decoding takes up to a turn.
                return is_large or (peer.is_greeted and peer.allowance.signatures.left(self._core.now) <= 0)
        return False

    def reader_of(self, peer: Peer, frame: Frame) -> ReplyReader | None:
        """The reader of a reply with blocks: it decodes some at a time, and none that were not requested."""
        match frame.number:
            case BlockRangeReply.NUMBER:
                asked: Collection[int] = self.ranges.asked_of(peer)
            case GapFillReply.NUMBER:
                asked = self.gaps.numbers.union(self.survey.numbers_of(peer))
            case _:
                return None
        return ReplyReader(frame, asked, self._core.chain.largest_block)

    def _is_settled(self, peer: Peer, payload: bytes) -> bool:
        """Whether size and header already decide on a pushed block; decoding it whole takes many times longer."""
        core = self._core
        if not peer.is_greeted:
            return False
        if len(payload) > core.chain.largest_block + BlockReply.BESIDE_BLOCK:
            core.strike(peer, f"a block of {len(payload)} bytes")
            return True
        try:
            header = codec_of(SignedHeader).decode(payload)
        except DecodeError:
            return False
        if header.number > core.chain.head_number + FARTHEST_AHEAD:
            self._record_height(peer, header.number)
            self.ranges.plan_for(peer)
            return True
        if core.chain.is_linked(header.id):
            self._record_height(peer, header.number)
            return True
        return not core.chain.is_signed(header) and not peer.allowance.pushed.spend(len(payload), core.now)

    def _record_height(self, peer: Peer, number: int) -> None:
        peer.head_number = max(peer.head_number, self._core.credible(number))
        peer.claimed = max(peer.claimed, number)
        self._core.good(peer)

    def blocks_of_range(self, peer: Peer, reply: BlockRangeReply) -> None:
        core = self._core
        core.good(peer)
        if not self.ranges.receive(peer, reply):
            return
        self._next_ready()
        self.ranges.plan()
        if not reply.blocks:
            self.request_gap()

    def blocks_of_gap(self, peer: Peer, reply: GapFillReply) -> None:
        core = self._core
        core.good(peer)
        if self._is_for_survey(peer, reply):
            self.survey.receive(peer, reply)
            return
        if self.gaps.receive(peer, reply) and reply.blocks:
            self.enqueue(Batch(Origin.GAP, peer.id, reply.blocks))

    def _is_for_survey(self, peer: Peer, reply: GapFillReply) -> bool:
        """Whether a reply answers the survey and not a gap fill, of which each peer may have one to answer."""
        if not reply.blocks or not self.gaps.awaits(peer):
            return not self.gaps.awaits(peer)
        number = reply.blocks[0].number
        return number in self.survey.numbers_of(peer) and number not in self.gaps.numbers

    def waits_for(self, batch: Batch) -> bool:
        return not self.is_busy and self.ranges.is_next(batch)

    def precomputed(self, batch: Batch) -> None:
        batch.is_precomputed = True
        self._next_ready()

    def enqueue(self, batch: Batch) -> None:
        """Queue a batch. The queue is short: one gap fill at a time, and blocks from the future."""
        self._batches.append(batch)

    def _next_ready(self) -> None:
        while self._batch is None and (batch := self.ranges.pop_ready()) is not None:
            if batch.last > self._core.chain.head_number:
                self._batch = batch
                return
            self._finish(batch)

    @property
    def is_busy(self) -> bool:
        return self._batch is not None or bool(self._batches)

    @property
    def waiting(self) -> int:
        return len(self._batches)

    def work(self) -> bool:
        if self._batch is None:
            self._next_ready()
        if self._batch is None and self._batches:
            self._batch = self._batches.popleft()
        batch = self._batch
        if batch is None:
            return False
        if batch.blocks:
            self._apply(batch)
        if not batch.blocks:
            self._batch = None
            self._finish(batch)
        return True

    def _apply(self, batch: Batch) -> None:
        core = self._core
        peer = core.find(batch.peer)
        is_syncing = batch.origin is Origin.RANGE
        if is_syncing and len(together := self.admission.continuing(batch.blocks)) > 1:
            for block, outcome in zip(together, self.admission.admit_all(peer, together), strict=False):
                batch.blocks.popleft()
                self._admitted(batch, peer, block, outcome)
            return
        block = batch.blocks.popleft()
        if block.number > core.chain.head_number or not core.chain.is_known(block.id):
            self._admitted(batch, peer, block, self.admission.admit(peer, block, is_syncing=is_syncing))

    def _admitted(self, batch: Batch, peer: Peer | None, block: Block, outcome: Acceptance) -> None:
        """Continue with the rest of the batch, given the outcome for one block."""
        if outcome is Acceptance.ACCEPTED:
            batch.applied += 1
            self.applied(block)
        elif outcome is Acceptance.FORK_DB_ONLY:
            batch.forked += 1
            batch.is_linked = self._core.chain.is_linked(block.id)
        elif outcome is Acceptance.REJECTED:
            self._refused(batch, peer, block)
        elif outcome is Acceptance.DEAD_FORK:
            batch.give_up()
            self._dead_fork(batch, peer, block)

    def _refused(self, batch: Batch, peer: Peer | None, block: Block) -> None:
        """A block broke a rule. The rest of its range is invalid too: it is requested from other peers."""
        if batch.origin is Origin.RANGE:
            batch.give_up()
            batch.refused_at = block.number
            if peer is not None:
                peer.doubt(self._core.now)
                self._core.strike(peer, f"block {block.number} of a range breaks a rule")
        elif batch.origin is Origin.GAP:
            self.admission.count_rejection(block.number)

    def _dead_fork(self, batch: Batch, peer: Peer | None, block: Block) -> None:
        """If the peer is ahead, our own branch may be the dead fork (spec 04, section 13.4)."""
        core = self._core
        if batch.origin is Origin.RANGE:
            batch.forked += 1
        elif peer is not None and peer.reach > core.chain.head_number:
            self.gaps.go_back()
            self.ranges.go_back()
            if not self.change_mode(Cause.ON_DEAD_FORK):
                self.ranges.plan()
        elif peer is not None:
            core.strike(peer, f"dead-fork block #{block.number} in gap fill")

    def _finish(self, batch: Batch) -> None:
        core = self._core
        peer = core.find(batch.peer)
        self.commits.record(batch)
        if batch.origin is Origin.RANGE:
            self.ranges.ended(batch, peer)
            if not self.ranges.has_more or self.commits.is_due:
                self.commits.commit()
            is_end = batch.is_last and batch.applied > 0 and self.ranges.is_idle
            if not (is_end and self.change_mode(Cause.RANGE_ENDED)):
                self.ranges.plan()
            self.request_gap()
            return
        self.commits.commit()
        if batch.origin is Origin.GAP:
            self.gaps.follow_up(batch, peer)
            self.change_mode(self.watch.caught_up())

    def forget(self, peer: Peer) -> None:
        self.ranges.forget(peer)
        self.gaps.forget(peer)
        self.survey.forget(peer)
        self.offers.forget(peer)
