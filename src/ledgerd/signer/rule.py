"""The rule by which headers are signed: never two for one slot, whatever is asked for. Times are handed in."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple, Protocol

from ledgerd.basics.printable import printable
from ledgerd.producer.signing.signing_frames import SigningVerdict
from ledgerd.protocol.blocks.block import Block, BlockHeader, signed_block
from ledgerd.protocol.constants import BLOCK_INTERVAL
from ledgerd.protocol.crypto.keys import PrivateKey, PublicKey, public_key_text
from ledgerd.protocol.crypto.signatures import Signature, sign
from ledgerd.protocol.errors import OperatorError
from ledgerd.protocol.networks.parameters import MAINNET
from ledgerd.protocol.types.time_text import time_text

SECOND = 1_000_000
MOST_AHEAD = SECOND
"""Microseconds by which a slot may lie ahead of the signer's clock."""
MOST_BEHIND = BLOCK_INTERVAL * SECOND
"""Microseconds by which a slot may lie behind it. Without a limit, whoever has taken a node over could have slots of
the past signed that are after the last one: after a long stop, or after a whole disk was put back with the mark of a
clean stop.
"""
LONGEST_SHOWN = 16
"""Characters of a validator's name, which may be any bytes here."""
ROUND_SECONDS = MAINNET.max_validators * BLOCK_INTERVAL

Microseconds = Callable[[], int]

MOST_APART = 60 * SECOND
"""How far time servers may be from the clock of the machine. It is less than a round: when they lie together, no slot
looks as if it came after the wait that was signed before the record was lost.
"""

MOST_STEP = SECOND
"""A clock that goes this much ahead of or behind the one that nobody sets was set."""


class ClockReading(NamedTuple):
    """The time, and why it should not be believed; empty if it may."""

    now: int
    """Microseconds since 1970."""
    doubt: str = ""
    settings: int = 0


class Judgement(NamedTuple):
    """The judgement of a header."""

    verdict: SigningVerdict
    reason: str = ""
    signature: Signature | None = None


class LastSignature(Protocol):
    """The record of what was signed last."""

    @property
    def block(self) -> Block | None: ...
    def record(self, block: Block) -> None: ...


class SigningRule:
    """The keys of a signer, its validators, and what it has signed last."""

    def __init__(
        self,
        keys: Mapping[PublicKey, PrivateKey],
        validators: Collection[str],
        record: LastSignature,
        *,
        has_stopped_cleanly: bool,
    ) -> None:
        self._keys = keys
        self._validators = frozenset(validators)
        self._record = record
        self._last = record.block
        self._nothing_up_to = 0
        """The last slot that is not signed after an unclean stop."""
        self._waits_since: int | None = None
        """The number of times the clock had been set when that slot was computed; None until the clock can be
        believed.
        """
        self._has_stopped_cleanly = has_stopped_cleanly

    @property
    def last_slot(self) -> int:
        return 0 if self._last is None else self._last.timestamp

    def problem(self, clock: ClockReading) -> str:
        return self._held(clock.now // SECOND + 1, clock).reason

    def judge(self, key: PublicKey, header: BlockHeader, clock: ClockReading) -> Judgement:
        private = self._keys.get(key)
        if private is None:
            return Judgement(SigningVerdict.NO_KEY, f"this signer does not hold the key {public_key_text(key)}")
        if header.validator not in self._validators:
            named = printable(header.validator[:LONGEST_SHOWN])
            return Judgement(SigningVerdict.NOT_NAMED, f"this signer does not sign for {named}")
        refusal = self._out_of_order(header)
        if refusal is not None:
            return refusal
        if self._last is not None and header.timestamp == self._last.timestamp:
            return self._again(key, header, self._last)
        held = self._held(header.timestamp, clock)
        return self._signed(private, header) if held.verdict is SigningVerdict.SIGNED else held

    def _out_of_order(self, header: BlockHeader) -> Judgement | None:
        slot = header.timestamp
        if slot % BLOCK_INTERVAL:
            return Judgement(SigningVerdict.OUT_OF_STEP, f"no slot begins at {time_text(slot)}")
        if slot < self.last_slot:
            last = time_text(self.last_slot)
            return Judgement(SigningVerdict.OLDER, f"slot {time_text(slot)} is before {last}, which was signed last")
        return None

    def _again(self, key: PublicKey, header: BlockHeader, last: Block) -> Judgement:
        """Answer a repeated header with the signature that was given for it before."""
        if header.digest == last.header.digest and last.signee == key:
            return Judgement(SigningVerdict.SIGNED, signature=last.validator_signature)
        return Judgement(
            SigningVerdict.SIGNED_ANOTHER,
            f"slot {time_text(header.timestamp)} is signed: block {last.id.hex()} is on the way",
        )

    def _wait(self, clock: ClockReading) -> None:
        """After an unclean stop: have a round pass by a clock that can be believed, and again if it was put forward.

        By a clock that was behind, a round ended before the slots that may have been signed. One that is put back
        shortens no wait.
        """
        if self._has_stopped_cleanly or clock.settings == self._waits_since:
            return
        if self._waits_since is not None or not clock.doubt:
            self._nothing_up_to = max(self._nothing_up_to, clock.now // SECOND + ROUND_SECONDS)
            self._waits_since = clock.settings

    def _held(self, slot: int, clock: ClockReading) -> Judgement:
        self._wait(clock)
        if clock.doubt:
            return Judgement(SigningVerdict.CLOCK, clock.doubt)
        if slot * SECOND > clock.now + MOST_AHEAD:
            now = time_text(clock.now // SECOND)
            return Judgement(SigningVerdict.AHEAD, f"slot {time_text(slot)} is ahead of the signer's clock, {now}")
        if slot * SECOND < clock.now - MOST_BEHIND:
            now = time_text(clock.now // SECOND)
            return Judgement(SigningVerdict.LATE, f"slot {time_text(slot)} is over by the signer's clock, {now}")
        if slot <= self._nothing_up_to:
            until = time_text(self._nothing_up_to)
            return Judgement(
                SigningVerdict.WAITING, f"the signer was not stopped cleanly, or is new: it signs slots after {until}"
            )
        return Judgement(SigningVerdict.SIGNED)

    def _signed(self, private: PrivateKey, header: BlockHeader) -> Judgement:
        block = signed_block(header, (), sign(private, header.digest))
        try:
            self._record.record(block)
        except OperatorError as problem:
            return Judgement(SigningVerdict.FAILED, str(problem))
        block.header.remember_signee(private.public)
        self._last = block
        return Judgement(SigningVerdict.SIGNED, signature=block.validator_signature)


class CheckedClock:
    """The wall clock, with the offset that the time servers give.

    Where it is set while the signer runs, nothing is signed for a round: whatever was right, the clock then stands
    still, and the operator had time to see to it.
    """

    def __init__(
        self, monotonic: Microseconds, wall: Microseconds, offset: Callable[[], int | None] = lambda: 0
    ) -> None:
        self._monotonic = monotonic
        self._wall = wall
        self._offset = offset
        """Microseconds to add; nothing while servers are asked and none has answered."""
        self._base = wall() - monotonic()
        self._known_offset: int | None = None
        self._settings = 0
        self._doubted_until = 0
        """The monotonic time until which the wall clock is not trusted."""

    def __call__(self) -> ClockReading:
        offset, monotonic, wall = self._offset(), self._monotonic(), self._wall()
        if self._was_set(wall - monotonic, offset):
            self._base = wall - monotonic
            self._settings += 1
            self._doubted_until = monotonic + ROUND_SECONDS * SECOND
        if offset is None:
            doubt = "no time server has answered yet, so that the signer's clock is not known"
            return ClockReading(wall, doubt, self._settings)
        if abs(offset) > MOST_APART:
            apart = abs(offset) // SECOND
            doubt = f"the time servers and the clock of this machine are {apart} s apart: one of them is wrong"
            return ClockReading(wall + offset, doubt, self._settings)
        doubt = ""
        if monotonic < self._doubted_until:
            left = (self._doubted_until - monotonic) // SECOND + 1
            doubt = f"the signer's clock was set: nothing is signed for {left} s"
        return ClockReading(wall + offset, doubt, self._settings)

    def _was_set(self, base: int, offset: int | None) -> bool:
        """Whether the clock was set: by a person, or in one step by a time server. A slow correction is drift."""
        moved = 0 if offset is None or self._known_offset is None else offset - self._known_offset
        if offset is not None:
            self._known_offset = offset
        return abs(base - self._base) > MOST_STEP or abs(moved) > MOST_STEP
