"""Each step of a hand-over is said when the one before is seen to be done, and nothing else is believed."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from ledgerd.adopt.handover import Handover, HandoverPlan, Stage, words_of
from ledgerd.adopt.handover_facts import ChainFacts, HandoverStatus, LastBlock, OtherFacts, OurFacts, Presence
from ledgerd.compare.asking import NodeHead
from ledgerd.producer.signing.double_sign import SignedSlot
from ledgerd.protocol.crypto.keys import NULL_KEY, public_key_text

OLD, NEW = "VIZ-old", "VIZ-new"
UP, GONE, UNKNOWN = (OtherFacts(each) for each in (Presence.UP, Presence.GONE, Presence.UNKNOWN))
THEIRS, OURS = b"made by the vizd", b"made by ours"
PLACES = 21
ROUND = 66
"""Seconds of a round, and one slot more."""


class At(NamedTuple):
    """What is seen at a time, with what is usual where nothing is said."""

    time: int
    last: int = 990
    by: bytes = THEIRS
    signee: str = OLD
    key: str = OLD
    loaded: tuple[str, ...] = ()
    signed: SignedSlot | None = None
    theirs: OtherFacts = UP
    missed: int = 5
    quiet: int = 10
    in_force: str = ""
    is_running: bool = True
    is_current: bool = True
    age: float = 1.0
    answers: bool = True

    @property
    def seen(self) -> HandoverStatus:
        head = NodeHead(self.time // 3, "", self.time // 3 - 15)
        last = LastBlock(self.last // 3, self.last, self.signee, self.by)
        chain = ChainFacts(
            head, self.time, self.age, self.key, self.missed, last, 63, PLACES, self.quiet, self.in_force
        )
        ours = OurFacts(self.is_running, frozenset(self.loaded), frozenset({"alice"}), self.is_current, self.signed)
        return HandoverStatus(chain if self.answers else None, "" if self.answers else "refused", ours, self.theirs)


def walk(key: str = "", *, is_back: bool = False) -> Handover:
    return Handover(HandoverPlan("alice", Path("/ours"), key, is_back))


def stages(handover: Handover, *seen: At) -> list[Stage]:
    return [handover.step(each.seen).stage for each in seen]


FENCE = SignedSlot(1_080, b"the head")


def test_the_same_key_goes_over_by_a_stop_a_round_of_silence_and_the_record() -> None:
    handover = walk()
    first = stages(handover, At(1_000), At(1_003), At(1_006, theirs=GONE), At(1_060, theirs=GONE))
    assert first == [Stage.STOP, Stage.STOP, Stage.SILENCE, Stage.SILENCE]

    assert stages(handover, At(1_006 + ROUND, theirs=GONE)) == [Stage.RECORD]
    handover.has_record_block = True
    down = At(1_080, theirs=GONE, answers=False, is_running=False)
    assert stages(handover, down, down._replace(signed=FENCE)) == [Stage.WRITE, Stage.START]

    back = At(1_090, theirs=GONE, signed=FENCE, loaded=(OLD,))
    assert stages(handover, back) == [Stage.PRODUCE]
    made = back._replace(time=1_110, last=1_100, by=OURS, signed=SignedSlot(1_100, OURS))
    assert stages(handover, made) == [Stage.DONE]
    assert stages(walk(), made) == [Stage.DONE], "begun again, it comes to the same step"


def test_another_key_goes_over_by_a_declaration_at_the_right_moment() -> None:
    handover = walk(NEW)
    loaded = At(1_000, loaded=(NEW,))
    assert stages(handover, At(1_000), loaded, loaded._replace(time=1_060)) == [Stage.LOAD, Stage.WATCH, Stage.WATCH]

    near, far = (loaded._replace(time=1_072, quiet=quiet) for quiet in (2, 4))
    assert stages(handover, near, far) == [Stage.MOMENT, Stage.DECLARE]

    declared = loaded._replace(time=1_080, key=NEW)
    assert stages(handover, declared) == [Stage.IN_FORCE]
    assert stages(handover, declared._replace(in_force=NEW)) == [Stage.SILENCE]
    silent = declared._replace(time=1_080 + ROUND, in_force=NEW)
    assert stages(handover, silent) == [Stage.PRODUCE]
    made = silent._replace(time=1_156, last=1_150, by=OURS, signee=NEW, signed=SignedSlot(1_150, OURS))
    assert stages(handover, made) == [Stage.DONE]


def test_the_same_key_goes_back() -> None:
    handover, signed = walk(is_back=True), SignedSlot(990, OURS)
    held = At(1_000, by=OURS, loaded=(OLD,), signed=signed)
    keyless = held._replace(loaded=(), time=1_003)
    assert stages(handover, held, keyless._replace(is_current=False)) == [Stage.STOP, Stage.STOP]
    assert stages(handover, keyless) == [Stage.SILENCE]
    assert stages(handover, keyless._replace(time=1_003 + ROUND, theirs=GONE)) == [Stage.START]
    made = keyless._replace(time=1_110, last=1_100, by=THEIRS)
    assert stages(handover, keyless._replace(time=1_003 + ROUND), made) == [Stage.PRODUCE, Stage.DONE]


def test_another_key_goes_back() -> None:
    handover = walk(NEW, is_back=True)
    held = At(1_000, by=OURS, loaded=(OLD,), signed=SignedSlot(990, OURS))
    assert stages(handover, held._replace(theirs=GONE), held) == [Stage.LOAD, Stage.DECLARE]
    declared = held._replace(key=NEW, time=1_010, in_force=NEW)
    made = declared._replace(time=1_080, last=1_070, by=THEIRS, signee=NEW)
    assert stages(handover, declared, made) == [Stage.SILENCE, Stage.DONE]


@pytest.mark.parametrize(
    ("seen", "words"),
    [
        (At(1_000, answers=False), "our node does not answer (refused): start it without the key"),
        (At(1_000, is_running=False), "a node answers, but none runs in /ours"),
        (At(1_000, age=90.0), "our node is behind, or its clock is wrong"),
        (At(1_000, theirs=OtherFacts(Presence.UP, problem="it lies")), "cannot be relied on: it lies"),
        (At(1_000, theirs=OtherFacts(Presence.UP, NodeHead(333, "", 0), "", is_common=False)), "different branches"),
        (At(1_000, theirs=OtherFacts(Presence.UP, NodeHead(9_999, "", 0))), "says that it is ahead of our node"),
        (At(1_000, key=public_key_text(NULL_KEY)), "has no signing key on the chain"),
    ],
)
def test_nothing_begins_before_both_are_in_step(seen: At, words: str) -> None:
    step = walk().step(seen.seen)

    assert step.stage is Stage.IN_STEP
    assert words in step.words


def test_our_node_with_the_key_beside_a_vizd_that_runs_is_a_danger() -> None:
    assert stages(walk(), At(1_000, loaded=(OLD,))) == [Stage.DANGER]
    made = At(1_000, loaded=(OLD,), by=OURS, signed=SignedSlot(990, OURS))
    assert stages(walk(), made) == [Stage.DANGER], "also when ours makes the blocks already"
    assert stages(walk(NEW), At(1_000, loaded=(OLD, NEW))) == [Stage.DANGER]
    assert stages(walk(NEW, is_back=True), At(1_000, loaded=(OLD, NEW))) == [Stage.DANGER]


def test_a_vizd_that_comes_back_or_signs_begins_the_silence_again() -> None:
    handover = walk()
    silent = At(1_006 + ROUND, theirs=GONE)
    assert stages(handover, At(1_006, theirs=GONE), silent) == [Stage.SILENCE, Stage.RECORD]
    handover.has_record_block = True
    down = At(1_080, theirs=UP, answers=False, is_running=False)
    assert stages(handover, down, down._replace(theirs=GONE)) == [Stage.IN_STEP, Stage.IN_STEP]
    again = At(1_090, theirs=GONE)
    assert stages(handover, again, again._replace(time=1_160), again._replace(time=1_160, last=1_150)) == [
        Stage.SILENCE,
        Stage.RECORD,
        Stage.SILENCE,
    ]


def test_a_vizd_that_cannot_be_seen_has_to_miss_a_slot() -> None:
    handover, unseen = walk(), At(1_000, theirs=UNKNOWN)
    later = unseen._replace(time=1_200)
    assert stages(handover, unseen, later, later._replace(missed=6)) == [Stage.STOP, Stage.STOP, Stage.SILENCE]


def test_an_old_record_does_not_do() -> None:
    """It is of the time before the validator went back to the other side."""
    handover, old = walk(), SignedSlot(500, OURS)
    seen = At(1_000, theirs=GONE, signed=old)
    assert stages(handover, seen, seen._replace(time=1_000 + ROUND)) == [Stage.SILENCE, Stage.RECORD]


def test_a_walk_begun_again_after_the_record_does_not_ask_for_it_again() -> None:
    handover, seen = walk(), At(1_100, theirs=GONE, signed=FENCE, loaded=(OLD,))
    assert stages(handover, seen, seen._replace(time=1_100 + ROUND)) == [Stage.SILENCE, Stage.PRODUCE]


def test_a_declaration_that_a_fork_takes_back_is_asked_for_again() -> None:
    handover, seen = walk(NEW), At(1_000, loaded=(NEW,))
    assert stages(handover, seen, seen._replace(time=1_080))[-1] is Stage.DECLARE
    assert stages(handover, seen._replace(time=1_083, key=NEW), seen._replace(time=1_086)) == [
        Stage.IN_FORCE,
        Stage.DECLARE,
    ]


def test_the_walk_says_which_way_it_goes() -> None:
    assert (
        next(iter(words_of(walk().plan)))
        == "alice goes from the vizd to our node, with the same key: a round is missed"
    )
    assert "by the new key VIZ-new" in next(iter(words_of(walk(NEW, is_back=True).plan)))
