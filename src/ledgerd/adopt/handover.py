"""The hand-over of a validator, step by step: a function of what is seen, which says what comes next. No step is
taken on a promise: each comes when the chain, our files or the other program show that the one before is done.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import NamedTuple

from ledgerd.adopt.handover_facts import ChainFacts, HandoverStatus, OurFacts, Presence
from ledgerd.protocol.constants import BLOCK_INTERVAL
from ledgerd.protocol.crypto.keys import NULL_KEY, public_key_text

OLDEST_HEAD = 30.0
"""Seconds: a head block that is older means that a node is behind."""

BLOCKS_APART = 3
"""Blocks by which the heads of two nodes in step may differ when they are read one after the other."""

AFTER_WATCH = 6
"""Seconds more than the watch of our node takes: it may begin a slot or two later than it is seen here."""

QUIET_SLOTS = 4
"""Slots of others that have to come before the next one of the validator when its key is changed: the change is in a
block by then that all nodes have. With fewer, one node could sign with the old key while another signs with the new."""


class Stage(Enum):
    """The event that a hand-over waits for."""

    IN_STEP = "in step"
    MOMENT = "the right moment"
    DANGER = "danger"
    LOAD = "the new key is loaded"
    WATCH = "our node may sign"
    DECLARE = "the new key is declared"
    IN_FORCE = "the declaration is irreversible"
    STOP = "the other side signs no more"
    SILENCE = "a round without its blocks"
    RECORD = "our node is stopped"
    WRITE = "the record is written"
    START = "the key is taken over"
    PRODUCE = "the first block"
    DONE = "done"


class HandoverStep(NamedTuple):
    """The next step of a hand-over."""

    stage: Stage
    words: str
    """The step in words; they stay the same until something changes."""


class HandoverPlan(NamedTuple):
    """Which validator is handed over, and in which direction."""

    validator: str
    folder: Path
    key: str = ""
    """The new public key; empty if the key stays the same."""
    is_back: bool = False
    """Whether from our node to the `vizd`."""
    other: str = "the vizd"
    seconds_apart: float = OLDEST_HEAD


class Handover:
    """One hand-over, with what has to be remembered between two inspections. Begun again, it comes to the same step."""

    def __init__(self, plan: HandoverPlan) -> None:
        self.plan = plan
        self._stopped_at: int | None = None
        """The time of the chain when the side that gives was first seen to sign no more."""
        self._missed_at_first: int | None = None
        self._reached = 0
        """The time of the validator's latest block, which our record has to reach."""
        self._loaded_at: int | None = None
        """The time of the chain when our node was first seen in step with the new key loaded."""
        self._signed_by_ours: set[bytes] = set()
        """The signed hashes of blocks that our node was seen to sign."""
        self.has_record_block = False
        """Whether there is a block for our record, taken after a whole round of silence."""

    def step(self, seen: HandoverStatus) -> HandoverStep:
        self._remember(seen)
        if self.plan.key:
            steps = [self._in_step, self._one_key_each, self._loaded, self._declared, self._in_force]
        elif self.plan.is_back:
            steps = [self._handed_back, self._in_step, self._has_key, self._stopped, self._silent, self._caught_up]
        else:
            steps = [self._handed_over, self._while_stopped, self._in_step, self._has_key, self._no_pair, self._stopped]
            steps += [self._silent, self._recorded]
        for each in (*steps, self._produced):
            found = each(seen)
            if found is not None:
                return found
        return self._done()

    def _remember(self, seen: HandoverStatus) -> None:
        chain, is_with_same_key = seen.chain, not self.plan.key and not self.plan.is_back
        if seen.ours.signed is not None:
            self._signed_by_ours.add(seen.ours.signed.digest)
        if is_with_same_key and seen.theirs.presence is Presence.UP:
            self._stopped_at, self.has_record_block = None, False
        if chain is None or self.plan.key not in seen.ours.keys:
            self._loaded_at = None
        if chain is None:
            return
        if self._missed_at_first is None:
            self._missed_at_first = chain.missed
        if not self._signs_no_more(seen, chain):
            self._stopped_at, self.has_record_block = None, False
            return
        last = chain.last
        is_late = self._stopped_at is not None and last is not None and last.time > self._stopped_at
        if self._stopped_at is None or (is_late and not self.plan.key and self._is_of_giver(seen, chain)):
            self._stopped_at, self.has_record_block = chain.time, False
        self._reached = max(self._reached, 0 if last is None else last.time)

    def _signs_no_more(self, seen: HandoverStatus, chain: ChainFacts) -> bool:
        if self.plan.key:
            return chain.signing_key == self.plan.key
        if self.plan.is_back:
            return seen.ours.is_running and seen.ours.is_current and chain.signing_key not in seen.ours.keys
        if seen.theirs.presence is Presence.UP:
            return False
        was_gone = self._stopped_at is not None
        return was_gone or seen.theirs.presence is Presence.GONE or chain.missed > (self._missed_at_first or 0)

    def _is_of_giver(self, seen: HandoverStatus, chain: ChainFacts) -> bool:
        last, signed = chain.last, seen.ours.signed
        if last is None:
            return False
        # Our record is read after the chain: whatever ours has in the chain is not later than what it says.
        is_foreign = signed is None or (last.digest not in self._signed_by_ours and last.time > signed.time)
        return is_foreign != self.plan.is_back

    def _in_step(self, seen: HandoverStatus) -> HandoverStep | None:
        chain, theirs, plan = seen.chain, seen.theirs, self.plan
        if chain is None:
            keyless = " without the key" if not plan.key else ""
            return HandoverStep(
                Stage.IN_STEP,
                f"our node does not answer ({seen.problem}): start it{keyless}: ledgerd --data-dir {plan.folder}",
            )
        if not seen.ours.is_running:
            words = f"a node answers, but none runs in {plan.folder}: is that the directory of this node?"
            return HandoverStep(Stage.IN_STEP, words)
        if chain.age > plan.seconds_apart:
            return HandoverStep(
                Stage.IN_STEP,
                f"our node is behind, or its clock is wrong: wait until its head block is younger "
                f"than {plan.seconds_apart:.0f} s",
            )
        if theirs.problem and theirs.presence is Presence.UP:
            return HandoverStep(Stage.IN_STEP, f"{plan.other} cannot be relied on: {theirs.problem}")
        if theirs.head is None:
            return None
        if not theirs.is_common:
            return HandoverStep(
                Stage.IN_STEP, f"our node and {plan.other} follow different branches: do not go on before they agree"
            )
        ahead = theirs.head.number - chain.head.number
        if ahead > BLOCKS_APART:
            return HandoverStep(
                Stage.IN_STEP,
                f"{plan.other} says that it is ahead of our node by more than {BLOCKS_APART} blocks, "
                "and our head block is fresh: wait, or one of the clocks is wrong",
            )
        if plan.is_back and -ahead > BLOCKS_APART:
            return HandoverStep(Stage.IN_STEP, f"{plan.other} is behind our node: wait until it has caught up")
        return None

    def _has_key(self, seen: HandoverStatus) -> HandoverStep | None:
        if seen.chain is None or seen.chain.signing_key != public_key_text(NULL_KEY):
            return None
        words = (
            f"{self.plan.validator} has no signing key on the chain, so nothing can be handed over: declare one first"
        )
        return HandoverStep(Stage.IN_STEP, words)

    def _no_pair(self, seen: HandoverStatus) -> HandoverStep | None:
        """A danger if our node has the key loaded while the other program may run with it. Both use the same key, and
        must never have it at the same time.
        """
        if not self._holds(seen) or self._is_silent(seen):
            return None
        if seen.theirs.presence is not Presence.UP and self._reaches(seen.ours):
            return None  # a walk that is begun again, after the record was written
        return HandoverStep(
            Stage.DANGER,
            f"STOP OUR NODE AT ONCE: it has the key of {self.plan.validator} loaded, and {self.plan.other} may run "
            "with the same key. Take the key out of its configuration, and start it again without",
        )

    def _one_key_each(self, seen: HandoverStatus) -> HandoverStep | None:
        """Each program has a key of its own: neither may have the other's."""
        plan, declared = self.plan, seen.chain.signing_key if seen.chain else ""
        theirs = plan.key if plan.is_back else declared if declared != plan.key else ""
        if theirs not in seen.ours.keys:
            return None
        return HandoverStep(
            Stage.DANGER,
            f"our node has the key {theirs} loaded, which is that of {plan.other}: take it out (ledgerd key FILE "
            f"--remove KEY --data-dir {plan.folder}); only one node may have a key",
        )

    def _loaded(self, seen: HandoverStatus) -> HandoverStep | None:
        plan = self.plan
        if plan.is_back:
            if seen.theirs.presence is Presence.GONE:
                words = f"start {plan.other}, with the key {plan.key} in its configuration"
                return HandoverStep(Stage.LOAD, words)
            return None
        if plan.validator not in seen.ours.names or not seen.ours.is_current:
            line = f'validator = "{plan.validator}"'
            return HandoverStep(Stage.LOAD, f"write {line} into the configuration of our node, and start it again")
        if plan.key not in seen.ours.keys:
            return HandoverStep(
                Stage.LOAD,
                f"load the key {plan.key} in our node: name its file in private-key-file and start the node again, or "
                f"where the file is named already: ledgerd key FILE --data-dir {plan.folder}",
            )
        return self._watched(seen)

    def _watched(self, seen: HandoverStatus) -> HandoverStep | None:
        """A node that has started watches for a round before it signs, where it checks for others with its keys."""
        chain = seen.chain
        if chain is None or chain.signing_key == self.plan.key:
            return None
        if self._loaded_at is None:
            self._loaded_at = chain.time
        if chain.time - self._loaded_at >= chain.places * BLOCK_INTERVAL + AFTER_WATCH:
            return None
        return HandoverStep(
            Stage.WATCH, "wait a round: a node that has started watches for others with its keys before it signs"
        )

    def _declared(self, seen: HandoverStatus) -> HandoverStep | None:
        chain, plan = seen.chain, self.plan
        if chain is None or chain.signing_key == plan.key:
            return None
        command = f"ledgerd wallet validator rotate {plan.validator} {plan.key}"
        if plan.is_back:
            command += f" (make sure that {plan.other} has this key: nobody else can see that)"
        # In a short schedule, a validator in its middle never has so many.
        if chain.quiet_slots < min(QUIET_SLOTS, (chain.places - 1) // 2):
            return HandoverStep(
                Stage.MOMENT, f"wait: a slot of {plan.validator} is near, or not known yet; then declare the key"
            )
        return HandoverStep(Stage.DECLARE, f"NOW declare the key, while the next slot is some slots off: {command}")

    def _in_force(self, seen: HandoverStatus) -> HandoverStep | None:
        chain, plan = seen.chain, self.plan
        if chain is None or self._is_in_force(chain):
            return None if self._is_silent(seen) else self._silence()
        return HandoverStep(
            Stage.IN_FORCE, f"{plan.key} is declared: wait until the block with the declaration is irreversible"
        )

    def _is_in_force(self, chain: ChainFacts) -> bool:
        last = chain.last
        is_signed = last is not None and last.signee == self.plan.key and last.number <= chain.head.irreversible
        return is_signed or chain.irreversible_key == self.plan.key

    def _stopped(self, seen: HandoverStatus) -> HandoverStep | None:
        if self._stopped_at is not None:
            return None
        plan = self.plan
        if plan.is_back:
            return HandoverStep(
                Stage.STOP,
                f"take the key of {plan.validator} out of the configuration of our node (validator, private-key, "
                "private-key-file), and start the node again: it goes on without making blocks",
            )
        if seen.theirs.presence is Presence.UP:
            return HandoverStep(
                Stage.STOP,
                f"stop {plan.other}, best right after a block of {plan.validator}, and make sure that nothing starts "
                "it again (systemctl disable)",
            )
        return HandoverStep(
            Stage.STOP,
            f"stop {plan.other}; it cannot be seen from here whether it runs (give --vizd URL, or its directory), so a "
            f"slot of {plan.validator} without a block is waited for",
        )

    def _silent(self, seen: HandoverStatus) -> HandoverStep | None:
        if self._is_silent(seen) or (self.plan.is_back and self._is_made_there(seen)):
            return None
        return self._silence()

    def _silence(self) -> HandoverStep:
        return HandoverStep(
            Stage.SILENCE, f"wait for a whole round without a block of the side that {self.plan.validator} leaves"
        )

    def _is_silent(self, seen: HandoverStatus) -> bool:
        chain = seen.chain
        if chain is None or self._stopped_at is None:
            return False
        return chain.time - self._stopped_at >= chain.round_seconds + BLOCK_INTERVAL

    def _while_stopped(self, seen: HandoverStatus) -> HandoverStep | None:
        """Our node is down on purpose: its record is written, then it comes back with the key."""
        if seen.chain is not None or not self.has_record_block:
            return None
        if seen.ours.is_running:
            return HandoverStep(
                Stage.IN_STEP, f"our node is starting or stopping, and does not answer yet ({seen.problem})"
            )
        if not self._reaches(seen.ours):
            return HandoverStep(Stage.WRITE, "the record of what was signed is written")
        return self._start()

    def _recorded(self, seen: HandoverStatus) -> HandoverStep | None:
        """Our record has to reach the last block of the other side."""
        if self._reaches(seen.ours):
            return None if self._holds(seen) else self._start()
        return HandoverStep(
            Stage.RECORD,
            f"stop our node: last_signed_block in {self.plan.folder} is written then, so that our node signs no slot "
            f"that {self.plan.other} can have signed",
        )

    def _start(self) -> HandoverStep:
        plan = self.plan
        return HandoverStep(
            Stage.START,
            f'start our node with the same key: validator = "{plan.validator}" and private-key-file in '
            f"{plan.folder / 'config.ini'}; {plan.other} stays stopped",
        )

    def _caught_up(self, seen: HandoverStatus) -> HandoverStep | None:
        """Wait until the other program has the last block that our node signed, before it gets the key."""
        chain, theirs, plan = seen.chain, seen.theirs, self.plan
        if chain is None or self._is_made_there(seen):
            return None
        if theirs.head is not None and chain.last is not None and theirs.head.number < chain.last.number:
            return HandoverStep(
                Stage.IN_STEP, f"{plan.other} does not have block {chain.last.number}, the last of ours: wait"
            )
        if theirs.presence is not Presence.UP:
            return HandoverStep(Stage.START, f"start {plan.other} with the key of {plan.validator}")
        return None

    def _produced(self, seen: HandoverStatus) -> HandoverStep | None:
        chain, plan = seen.chain, self.plan
        if chain is not None and self._is_made(seen, chain):
            return None
        side = plan.other if plan.is_back else "our node"
        hint = f"; {side} has to run with the key, and start again if it was given just now" if plan.is_back else ""
        return HandoverStep(Stage.PRODUCE, f"wait for the first block of {plan.validator} that {side} makes{hint}")

    def _handed_over(self, seen: HandoverStatus) -> HandoverStep | None:
        """Whether our node makes the blocks already, at the end or when a walk is begun again."""
        if seen.chain is None or not self._holds(seen) or not self._is_made(seen, seen.chain):
            return None
        if seen.theirs.presence is Presence.UP:
            return HandoverStep(
                Stage.DANGER,
                f"STOP {self.plan.other.upper()} AT ONCE, or take its key away: our node makes the blocks of "
                f"{self.plan.validator} with the same key",
            )
        return self._done()

    def _handed_back(self, seen: HandoverStatus) -> HandoverStep | None:
        if seen.chain is None or self._holds(seen) or not self._is_made_there(seen):
            return None
        return self._done()

    def _done(self) -> HandoverStep:
        plan = self.plan
        side, rest = (plan.other, "our node") if plan.is_back else ("our node", plan.other)
        more = f"; the key that {rest} has left is of no use any more: take it out there" if plan.key else ""
        return HandoverStep(Stage.DONE, f"handed over: {side} makes the blocks of {plan.validator}{more}")

    def _is_made(self, seen: HandoverStatus, chain: ChainFacts) -> bool:
        last = chain.last
        if last is None or chain.head.number <= last.number or (self.plan.key and last.signee != self.plan.key):
            return False
        return self._is_made_there(seen) if self.plan.is_back else last.digest in self._signed_by_ours

    def _is_made_there(self, seen: HandoverStatus) -> bool:
        """Whether the latest block is of the `vizd`: by the key of the chain, and after all that ours has signed."""
        chain, signed = seen.chain, seen.ours.signed
        if chain is None or chain.last is None or chain.head.number <= chain.last.number:
            return False
        is_later = signed is None or chain.last.time > signed.time
        return chain.last.signee == chain.signing_key and is_later

    def _holds(self, seen: HandoverStatus) -> bool:
        return seen.chain is not None and seen.chain.signing_key in seen.ours.keys

    def _reaches(self, ours: OurFacts) -> bool:
        return ours.signed is not None and ours.signed.time >= self._reached


def words_of(plan: HandoverPlan) -> Iterator[str]:
    one, other = ("our node", plan.other) if plan.is_back else (plan.other, "our node")
    way = f"by the new key {plan.key}, without a missed slot" if plan.key else "with the same key: a round is missed"
    yield f"{plan.validator} goes from {one} to {other}, {way}"
    yield "each step is checked before the next one is said; Ctrl-C stops here, and the same command goes on"
