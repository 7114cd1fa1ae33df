"""The metrics of watched validators."""

from __future__ import annotations

from msgspec.structs import replace

from ledgerd.metrics.names import ValidatorPlaces
from ledgerd.metrics.table import validators as table
from ledgerd.node.parts.validators.tracker import MissCause
from ledgerd.node.parts.validators.watched import Lateness, WatchedGauges, WatchedValidator
from ledgerd.protocol.types.names import AccountName
from tests.metrics.memories import node_memory

ALICE = WatchedValidator(
    name=AccountName("alice"),
    slots=6,
    made=4,
    missed={**dict.fromkeys(MissCause, 0), MissCause.LATE: 2},
    lateness=Lateness(blocks=4, mean=0.5, most=2.0, last=0.25),
    reward=3_500_000,
    votes=8_000_000,
    counted_votes=6_000_000,
    penalty_percent=2_500,
    total_missed=9,
    is_scheduled=True,
    has_key=True,
)


def test_slots_lateness_votes_and_rewards_are_shown_by_validator() -> None:
    with node_memory() as node:
        places = ValidatorPlaces(node.memory, node.main())
        gauges = WatchedGauges(places)
        places.show(["alice"])
        gauges.sample([ALICE])
        values = node.values()

    slots = {labels: numbers[0] for labels, numbers in values[table.WATCHED_SLOTS.name].items() if numbers[0]}
    assert slots == {("alice", "made"): 4.0, ("alice", "late"): 2.0}
    assert values[table.WATCHED_DELAY.name]["alice", "most"] == [2.0]
    assert values[table.WATCHED_VOTES.name] == {("alice", "given"): [8.0], ("alice", "counted"): [6.0]}
    assert values[table.WATCHED_PENALTY.name] == {("alice",): [0.25]}
    assert values[table.WATCHED_REWARD.name] == {("alice",): [3.5]}
    assert values[table.WATCHED_KEY.name] == {("alice",): [1.0]}


def test_a_slot_that_is_taken_back_lets_no_counter_go_back() -> None:
    with node_memory() as node:
        places = ValidatorPlaces(node.memory, node.main())
        gauges = WatchedGauges(places)
        places.show(["alice"])
        for made in (4, 3, 5):
            gauges.sample([replace(ALICE, made=made, lateness=None)])
            shown = node.values()[table.WATCHED_SLOTS.name]["alice", "made"][0]
            assert shown == max(4, made)


def test_every_cause_has_a_value() -> None:
    assert {"made", *(cause.name.lower() for cause in MissCause)} == set(table.RESULT.values)
