"""The producer: `tick`, four times a second on the chain's thread, decides and acts; `run` is the timer."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Protocol

from ledgerd.chain.chain import Chain
from ledgerd.chain.forks.outcome import Outcome, Unlinked
from ledgerd.chain.interface.observer import Observer
from ledgerd.chain.ledger.events import BlockApplied
from ledgerd.chain.ledger.skip import Skip, SkipFlags
from ledgerd.chain.pending.generation import BlockDraft
from ledgerd.producer.decision import OWN_FORK, Guards, decide
from ledgerd.producer.doppelganger import Doppelganger
from ledgerd.producer.facts import BRIDGED_SLOTS, Facts, next_own_slot, read_facts
from ledgerd.producer.outcome import Decision, Duty, TickOutcome
from ledgerd.producer.settings import ProducerSettings
from ledgerd.producer.signing.double_sign import SigningRecord
from ledgerd.producer.signing.signings import SignerReply, judged
from ledgerd.producer.streaks import Streaks
from ledgerd.producer.testnet_start import TestnetStart, is_self_starting, with_initiator
from ledgerd.producer.time.clock import SECOND, Microseconds, StepGuard, wait_before_tick
from ledgerd.protocol.blocks.block import Block, BlockHeader
from ledgerd.protocol.crypto.keys import NULL_KEY, PublicKey
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.types.time_text import time_text

log = logging.getLogger(__name__)

ATTEMPTS = 2
BATCH = 200
HEADS_REMEMBERED = 64
"""Times of the latest heads that are remembered."""
WAIT_AFTER_LAG = 3 * SECOND

RunOnChain = Callable[[Callable[[], int]], Awaitable[int]]

NetworkSleep = Callable[[float], Awaitable[None]]

Sign = Callable[[PublicKey, BlockHeader], Awaitable[SignerReply]]


class Peers(Protocol):
    """The network as a producer uses it, on the thread of the chain: nothing of it may wait."""

    @property
    def count(self) -> int: ...

    def broadcast_block(self, block: Block) -> None: ...

    def resync(self) -> None: ...


class NoPeers:
    """A private network of one."""

    count = 0

    def broadcast_block(self, _block: Block) -> None:
        pass

    def resync(self) -> None:
        pass


class Producer(Observer):
    """Makes the blocks of its validators."""

    def __init__(
        self,
        chain: Chain,
        settings: ProducerSettings,
        signed: SigningRecord,
        clock: Microseconds,
        *,
        peers: Peers | None = None,
        ask_time: Callable[[], None] = lambda: None,
        doppelganger: Doppelganger | None = None,
    ) -> None:
        self._start = TestnetStart() if is_self_starting(chain.network, settings) else None
        self.settings = with_initiator(settings) if self._start else settings
        self._signed = signed
        self._clock = clock
        self._peers: Peers = peers or NoPeers()
        self._ask_time = ask_time
        self._guards = Guards(self.settings.allows_stale)
        self._step = StepGuard()
        self.streaks = Streaks()
        self._doppelganger = doppelganger
        self.signing_refusal: Callable[[], str] = str
        """Why nothing may be signed for now; empty if it may."""
        self.draft: BlockDraft | None = None
        """The draft that the signer is asked to sign before the next tick."""
        self._drafted: Decision | None = None
        """The decision for the slot that the signer was asked for last."""
        self._head_times: deque[int] = deque(maxlen=HEADS_REMEMBERED)
        self.move_to(chain)

    def move_to(self, chain: Chain) -> None:
        self.chain = chain
        chain.observe(self)

    def set_settings(self, settings: ProducerSettings) -> None:
        self.settings = with_initiator(settings) if self._start else settings
        if self._doppelganger is not None:
            self._doppelganger.set_keys(self.settings.keys)

    # -- before the first tick

    def begin(self) -> None:
        names = self.settings.names
        if not names:
            log.warning(
                "No validators configured! This node makes no blocks: name a validator and its key where it should."
            )
            return
        self.streaks.began = self._clock() // SECOND
        block = self._signed.unapplied(self.chain.head_id, self.chain.head_time)
        if block is not None:
            self._apply_interrupted(block)
        log.info("Launching block production for %(count)d validators.", {"count": len(names)})
        log.info("validators of this node: %(validators)s", {"validators": " ".join(names)})
        if self._guards.allows_stale and self.chain.head_number == 0:
            log.info(
                "NEW CHAIN: %(network)s begins here, with the first block of this node",
                {"network": self.chain.network.name},
            )

    def _apply_interrupted(self, block: Block) -> None:
        problem = self.chain.push_block(block).violation
        if problem is not None:
            log.error(
                "block #%(block)d, signed before the stop, cannot be applied: %(rule)s",
                {"block": block.number, "rule": problem},
            )
            return
        log.info("block #%(block)d was signed before the stop, and is applied and sent now", {"block": block.number})
        self._peers.broadcast_block(block)

    # -- one tick

    def tick(self) -> int:
        if self._start is not None:
            self._start.step(self.chain)
        facts = self._bridge(self._clock() // SECOND)
        now = self._clock()
        decision = decide(now, facts, self.settings, self._guards)
        decision = self._unless_clock_in_doubt(decision, facts, now // SECOND)
        decision = self._unless_doppelganger(decision, now // SECOND)
        decision = self._unless_refused(decision)
        if decision.outcome is TickOutcome.LAG:
            decision = self._decided(decision.duty) or decision
        if decision.duty is not None and decision.outcome is TickOutcome.PRODUCED:
            decision = self._produce(decision, decision.duty, facts)
        if decision.asks_for_resync:
            self._peers.resync()
        if decision.duty is not None or decision.asks_for_resync:  # something may have happened to the chain
            facts = self._facts()
        if decision.outcome is TickOutcome.PRODUCED:
            now = self._clock()
        self._follow_up(decision, facts, now)
        return self._pause(decision)

    def _unless_clock_in_doubt(self, decision: Decision, facts: Facts, second: int) -> Decision:
        """Make no block while the clock is in doubt; a network of one has nobody who could confirm it."""
        is_in_doubt = self._step.is_in_doubt(second, facts.head_time)
        if not is_in_doubt or facts.is_network_of_one or self._guards.allows_stale or decision.duty is None:
            return decision
        reason = (
            f"Not producing block for {decision.duty.name}: our clock was set forward to {time_text(second)}, and the "
            f"head block is of {time_text(facts.head_time)}. Is the time right?"
        )
        return Decision(TickOutcome.CLOCK_STEPPED, reason, decision.duty)

    def _unless_doppelganger(self, decision: Decision, second: int) -> Decision:
        """Make no block before the doppelganger check has watched for a round, and none after it has found one."""
        if self._doppelganger is None:
            return decision
        self._doppelganger.count(second, self._peers.count)
        duty = decision.duty
        if duty is None or decision.outcome is not TickOutcome.PRODUCED:
            return decision
        state = self._doppelganger.refusal(duty.name)
        if state.stopped:
            return Decision(TickOutcome.DOPPELGANGER, state.stopped, duty)
        return Decision(TickOutcome.WATCHING, state.watching, duty) if state.watching else decision

    def _unless_refused(self, decision: Decision) -> Decision:
        reason, duty = self.signing_refusal(), decision.duty
        if not reason or duty is None or decision.outcome not in {TickOutcome.PRODUCED, TickOutcome.LAG}:
            return decision
        return Decision(TickOutcome.HELD, f"Not producing block for {duty.name}: {reason}", duty)

    def _facts(self) -> Facts:
        return read_facts(self.chain, self.settings.names)

    def _pause(self, decision: Decision) -> int:
        now = self._clock()
        if decision.outcome is TickOutcome.LAG and decision.duty is not None:
            passed = now - decision.duty.time * SECOND
            # A quarter before the next slot, where the reference wakes up at its beginning and has less time left.
            if 0 <= passed < WAIT_AFTER_LAG - SECOND // 4:
                return WAIT_AFTER_LAG - SECOND // 4 - passed
        return wait_before_tick(now)

    # -- making a block

    def _bridge(self, second: int) -> Facts:
        """After a long stop of a network of one: blocks so close that no emergency begins, made durable in batches.
        Nothing of a batch is sent before all of it is in the state, so none of it needs a record of its own.
        """
        count, facts = 0, self._facts()
        while not self.signing_refusal() and facts.needs_bridge(second):
            name, time = facts.scheduled_at(BRIDGED_SLOTS), facts.slot_time(BRIDGED_SLOTS)
            key = self.settings.keys.get(facts.keys.get(name, NULL_KEY))
            if key is None or self._signed.refusal(time, facts.head_time):
                break
            self.chain.push_block(self.chain.generate_block(time, name, key), commit=False).or_raise()
            count, facts = count + 1, self._facts()
            if count % BATCH == 0:
                self.chain.commit()
        if count:
            self.chain.commit()
            log.info(
                "the network stood still until %(until)s: %(blocks)d blocks bridge the time",
                {"until": time_text(second), "blocks": count},
            )
        return facts

    def make_block(self, second: int) -> bool:
        """Fill the slot of this time, or the next one, at once; `False` if it is not ours. Used by `ledgerd dev`."""
        if self._start is not None:
            self._start.step(self.chain)
        facts = self._bridge(second)
        slot = max(1, facts.slot_at(second))
        name = facts.scheduled_at(slot)
        if facts.keys.get(name) not in self.settings.keys:
            return False
        duty = Duty(facts.slot_time(slot), name)
        return self._produce(Decision(TickOutcome.PRODUCED, duty=duty), duty, facts).outcome is TickOutcome.PRODUCED

    def _produce(self, decision: Decision, duty: Duty, facts: Facts) -> Decision:
        refusal = self._signed.refusal(duty.time, facts.head_time)
        if refusal:
            return Decision(TickOutcome.ALREADY_SIGNED, f"Not producing block for {duty.name}: {refusal}", duty)
        if self.settings.is_signed_elsewhere:
            return self._ask_signer(decision, duty, facts)
        key, problem = self.settings.keys[facts.keys[duty.name]], None
        for _ in range(ATTEMPTS):
            try:
                block = self.chain.generate_block(duty.time, duty.name, key, self._skipped)
                self._record(block)
            except RuleViolation as error:
                problem = error
            else:
                pushed = self.chain.push_block(block, self._skipped, instead_of=decision.discarded)
                problem = pushed.violation
                if isinstance(pushed, Unlinked):
                    return self._unlinked(duty, problem)
                if problem is None:
                    self._send(block)
                    return decision
            log.warning(
                "the block of %(validator)s is not made: %(reason)s", {"validator": duty.name, "reason": problem}
            )
            self.chain.forget_waiting()
        return Decision(TickOutcome.EXCEPTION, f"Got exception while generating block: {problem}", duty)

    @staticmethod
    def _unlinked(duty: Duty, problem: RuleViolation | None) -> Decision:
        reason = f"MINORITY FORK DETECTED: our block does not link: {problem}; {OWN_FORK}"
        return Decision(TickOutcome.MINORITY_FORK, reason, duty, asks_for_resync=True)

    def _record(self, block: Block) -> None:
        self._signed.record(block)
        if self._doppelganger is not None:
            self._doppelganger.remember(block)

    # -- with a signer elsewhere

    def _ask_signer(self, decision: Decision, duty: Duty, facts: Facts) -> Decision:
        """Make the block of a slot, to be signed between two ticks: once, as its signer signs one for a slot."""
        last = self._decided(duty)
        if last is not None:
            return last
        try:
            self.draft = self.chain.draft_block(duty.time, duty.name, facts.keys[duty.name], self._skipped)
        except RuleViolation as problem:
            self.chain.forget_waiting()
            return Decision(TickOutcome.EXCEPTION, f"Got exception while generating block: {problem}", duty)
        self._drafted = decision._replace(outcome=TickOutcome.ASKED)
        return self._drafted

    def _decided(self, duty: Duty | None) -> Decision | None:
        """The decision on a slot for which the signer was asked in time, which is logged already; None for any other
        slot.
        """
        last = self._drafted
        is_over = last is not None and last.duty == duty and last.outcome is not TickOutcome.PRODUCED
        return last._replace(reason="") if last is not None and is_over else None

    def settle(self, signing: SignerReply) -> int:
        """Apply and send the block that was signed, or record why none was; the microseconds until the next tick."""
        draft, asked, self.draft = self.draft, self._drafted, None
        if draft is None or asked is None or asked.duty is None:
            return self._pause(Decision(TickOutcome.NOT_TIME_YET))
        decision = self._settled(draft, asked, asked.duty, signing)
        self._drafted = decision
        if decision.asks_for_resync:
            self._peers.resync()
        self._follow_up(decision, self._facts(), self._clock())
        return self._pause(decision)

    def _settled(self, draft: BlockDraft, asked: Decision, duty: Duty, signing: SignerReply) -> Decision:
        outcome, reason = judged(draft, signing)
        signature = None if signing.answer is None else signing.answer.signature
        if outcome is not TickOutcome.PRODUCED or signature is None:
            return Decision(outcome, f"Not producing block for {duty.name}: {reason}", duty)
        if reason := self.signing_refusal():  # since the signer was asked
            return Decision(TickOutcome.HELD, f"Not sending the block of {duty.name}: {reason}", duty)
        block = draft.with_signature(signature)
        self._record(block)
        pushed = self.chain.push_block(block, self._skipped, instead_of=asked.discarded)
        if isinstance(pushed, Unlinked):
            return self._unlinked(duty, pushed.violation)
        if pushed.violation is not None:
            return Decision(TickOutcome.EXCEPTION, f"Got exception while generating block: {pushed.violation}", duty)
        self._send(block)
        return asked._replace(outcome=outcome)

    @property
    def _skipped(self) -> SkipFlags:
        return Skip.UNDO_HISTORY if self._guards.allows_stale else Skip.NOTHING

    def _send(self, block: Block) -> None:
        log.info(
            "Validated block #%(block)d with timestamp %(timestamp)s at time %(made_at)s by %(validator)s "
            "with %(transactions)d transactions",
            {
                "block": block.number,
                "timestamp": time_text(block.timestamp),
                "made_at": time_text(self._clock() // SECOND),
                "validator": block.validator,
                "transactions": len(block.transactions),
            },
        )
        self._peers.broadcast_block(block)

    # -- after a decision

    def applied(self, event: BlockApplied) -> None:
        self._head_times.append(event.block.timestamp)

    def pushed(self, block: Block, outcome: Outcome) -> None:
        if self._doppelganger is not None:
            self._doppelganger.inspect(block, outcome)

    def _follow_up(self, decision: Decision, facts: Facts, now: int) -> None:
        second, streaks = now // SECOND, self.streaks
        if decision.outcome in {TickOutcome.PRODUCED, TickOutcome.NOT_MY_TURN}:
            self._guards.deferred = 0
        lines = streaks.count(decision, facts, now)
        lines += streaks.missed(facts, frozenset(self._head_times))
        lines += streaks.silence(facts, second)
        if decision.outcome is not TickOutcome.LAG:
            lines += streaks.watch(facts, self.settings, second, self._peers.count)
        for line in lines:
            log.log(line.level, "%s", line.text)
        if self.settings.is_verbose:
            log.info(
                "tick: %(outcome)s, head #%(block)d, slot %(slot)d",
                {"outcome": decision.outcome.name, "block": facts.head_number, "slot": facts.slot_at(second)},
            )
        if streaks.wants_time or decision.outcome in {TickOutcome.LAG, TickOutcome.FORK_COLLISION}:
            self._ask_time()

    def seconds_to_own_slot(self) -> int | None:
        """The seconds for which others may keep the chain to themselves; None if no slot of ours is near."""
        second = (self._clock() + SECOND // 4) // SECOND
        held = None if self.settings.is_signed_elsewhere else frozenset(self.settings.keys)
        slot = next_own_slot(self._facts(), second, held)
        return None if slot is None else slot.time - second


async def run(
    producer: Producer,
    on_chain: RunOnChain,
    clock: Microseconds,
    sleep: NetworkSleep = asyncio.sleep,
    sign: Sign | None = None,
) -> None:
    wait = wait_before_tick(clock())
    while True:
        await sleep(wait / SECOND)
        wait = await on_chain(producer.tick)
        draft = producer.draft
        if draft is not None and sign is not None:
            signing = await sign(draft.key, draft.header)
            wait = await on_chain(partial(producer.settle, signing))
