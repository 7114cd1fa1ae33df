"""The slots of watched validators, from events and blocks that are made up."""

from __future__ import annotations

import pytest

from ledgerd.chain.forks.outcome import OnBranch, Outcome, Refused
from ledgerd.chain.ledger.events import (
    AFTER_TRANSACTIONS,
    NO_TRANSACTION,
    AppliedOperation,
    BlockApplied,
    MissedSlotOwners,
)
from ledgerd.node.parts.validators.tracker import (
    BEHIND,
    SETTLED_AFTER,
    SLOTS_KEPT,
    MissCause,
    SlotTracker,
    WatchedSlot,
)
from ledgerd.protocol.blocks.block import NO_TRANSACTIONS, Block, BlockHeader, sign_block
from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.operations.virtual import ValidatorReward
from ledgerd.protocol.types.assets import shares
from ledgerd.protocol.types.identifiers import BlockId
from ledgerd.protocol.types.names import AccountName

KEY = PrivateKey(b"\1" * 32)
ALICE, BOB, CAROL = (AccountName(name) for name in ("alice", "bob", "carol"))
START = 1_800_000_000


def block_of(number: int, name: str, time: int) -> Block:
    header = BlockHeader(BlockId((number - 1).to_bytes(4, "big") + bytes(16)), time, name, NO_TRANSACTIONS, ())
    return sign_block(header, (), KEY)


class Watch:
    """A tracker of alice and bob, whose blocks come half a second after their slots unless a test says otherwise."""

    def __init__(self) -> None:
        self.tracker = SlotTracker((ALICE, BOB))
        self.number = 100

    def apply(
        self, slot: int, name: str, missed: tuple[AccountName, ...] = (), late: float = 0.5, reward: int = 7
    ) -> Block:
        time = START + 3 * slot
        self.number += 1
        block = block_of(self.number, name, time)
        earned = ValidatorReward(AccountName(name), shares(reward))
        operation = AppliedOperation(NO_TRANSACTION, self.number, AFTER_TRANSACTIONS, 0, 1, time, earned)
        self.tracker.applied(BlockApplied(block, (operation,), 0, slot, 0, MissedSlotOwners(missed)), time + late)
        return block

    def see(self, slot: int, name: str, late: float, outcome: Outcome | None = None) -> None:
        time = START + 3 * slot
        self.tracker.record(block_of(self.number + 1, name, time), outcome or OnBranch(), time + late)

    def settled(self, slot: int = 1_000) -> list[WatchedSlot]:
        return list(self.tracker.settle(START + 3 * slot))


def test_a_block_is_counted_with_its_lateness_and_its_reward() -> None:
    watch = Watch()
    watch.apply(1, ALICE, late=0.25)
    watch.apply(2, CAROL)

    assert watch.settled() == [WatchedSlot(ALICE, START + 3, 101, 101, 0.25)]
    counts = watch.tracker.counts[ALICE]
    assert (counts.made, counts.reward, counts.timed, counts.late_sum) == (1, 7, 1, 0.25)


def test_a_reward_counts_in_whichever_block_it_is_paid() -> None:
    watch = Watch()
    earned = ValidatorReward(ALICE, shares(5))
    operation = AppliedOperation(NO_TRANSACTION, 101, AFTER_TRANSACTIONS, 0, 1, START + 3, earned)
    watch.tracker.applied(BlockApplied(block_of(101, CAROL, START + 3), (operation,), 0, 1, 0), START + 4)
    assert watch.tracker.counts[ALICE].reward == 5

    watch.tracker.undone(100)
    assert watch.tracker.counts[ALICE].reward == 0


def test_a_slot_is_settled_some_slots_later() -> None:
    watch = Watch()
    watch.apply(1, ALICE)
    enough = 1 + SETTLED_AFTER // 3

    assert watch.settled(enough - 1) == []
    assert len(watch.settled(enough)) == 1
    assert watch.settled(enough + 1) == []


def test_missed_slots_have_the_times_between_two_blocks() -> None:
    watch = Watch()
    watch.apply(1, CAROL)
    watch.apply(5, CAROL, missed=(ALICE, CAROL, BOB))

    assert [(slot.validator, slot.time, slot.cause) for slot in watch.settled()] == [
        (ALICE, START + 6, MissCause.UNSEEN),
        (BOB, START + 12, MissCause.UNSEEN),
    ]


def test_a_block_may_have_any_time_within_its_slot() -> None:
    watch = Watch()
    watch.see(2, BOB, 0.5)
    watch.tracker.applied(
        BlockApplied(block_of(7, ALICE, START + 11), (), 0, 3, 0, MissedSlotOwners([BOB])), START + 11.5
    )

    assert [(slot.validator, slot.time, slot.late) for slot in watch.settled()] == [
        (BOB, START + 6, None),
        (ALICE, START + 9, 2.5),
    ]


@pytest.mark.parametrize(
    ("late", "outcome", "cause"),
    [
        (0.5, OnBranch(), MissCause.BRANCH),
        (3.0, OnBranch(), MissCause.LATE),
        (20.0, OnBranch(), MissCause.LATE),
        (0.5, Refused(RuleViolation("it breaks a rule")), MissCause.REFUSED),
    ],
)
def test_the_block_of_a_missed_slot_says_why(late: float, outcome: Outcome, cause: MissCause) -> None:
    watch = Watch()
    watch.see(2, ALICE, late, outcome)
    watch.apply(3, CAROL, missed=(ALICE,))

    (slot,) = watch.settled()

    assert slot.cause is cause
    assert watch.tracker.counts[ALICE].missed[cause] == 1


def test_a_block_that_comes_after_the_next_one_still_says_why() -> None:
    watch = Watch()
    watch.apply(3, CAROL, missed=(ALICE,))
    watch.see(2, ALICE, 8.0)

    (slot,) = watch.settled()

    assert slot.cause is MissCause.LATE


def test_the_first_sight_of_a_block_counts_and_not_the_switch_to_its_branch() -> None:
    watch = Watch()
    watch.number += 1
    block = block_of(watch.number, ALICE, START + 3)
    watch.tracker.record(block, OnBranch(), START + 3.25)
    watch.tracker.record(block, OnBranch(), START + 8.0)
    watch.tracker.applied(BlockApplied(block, (), 0, 1, 0), START + 15.0)

    assert [slot.late for slot in watch.settled()] == [0.25]


def test_while_the_node_is_behind_nothing_is_said_of_times_and_causes() -> None:
    watch = Watch()
    watch.apply(3, ALICE, missed=(BOB,), late=BEHIND + 1)

    missed, made = watch.settled()

    assert (missed.cause, made.late) == (MissCause.NOT_WATCHED, None)
    assert watch.tracker.counts[ALICE].timed == 0


def test_what_is_undone_is_taken_back() -> None:
    watch = Watch()
    watch.apply(1, ALICE)
    watch.apply(2, CAROL)
    watch.apply(4, BOB, missed=(ALICE,))
    assert len(watch.settled()) == 3

    watch.tracker.undone(102)
    counts = watch.tracker.counts
    assert (counts[ALICE].made, sum(counts[ALICE].missed.values()), counts[BOB].made) == (1, 0, 0)
    assert (counts[BOB].reward, counts[BOB].timed) == (0, 0)

    watch.apply(4, BOB)
    watch.tracker.undone(102)
    assert watch.settled() == []
    assert len(watch.tracker.counts) == 2


def test_a_gap_longer_than_what_is_kept_is_counted_whole() -> None:
    watch = Watch()
    gap = MissedSlotOwners((ALICE, CAROL), 10 * SLOTS_KEPT + 1)
    watch.tracker.applied(BlockApplied(block_of(7, BOB, START), (), 0, 3, 0, gap), START + 0.5)
    told = watch.settled()

    assert watch.tracker.counts[ALICE].missed[MissCause.UNSEEN] == 5 * SLOTS_KEPT + 1
    assert (told[0].time, len(told)) == (START - 3 * SLOTS_KEPT + 3, SLOTS_KEPT // 2 + 1)
