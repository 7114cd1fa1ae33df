from __future__ import annotations

import logging

import pytest

from ledgerd.producer.outcome import Decision, Duty, TickOutcome
from ledgerd.producer.settings import ProducerSettings
from ledgerd.producer.streaks import IDLE_WARNING, Streaks
from ledgerd.producer.time.clock import SECOND
from ledgerd.protocol.constants import COMMITTEE_ACCOUNT
from ledgerd.protocol.types.time_text import time_text
from tests.producer.test_decision import FACTS, HEAD_TIME, OURS, SETTINGS, SLOT

NOW = SLOT * SECOND


def test_a_head_that_stays_ahead_of_our_clock_is_warned_of_a_few_times() -> None:
    streaks, early = Streaks(), (HEAD_TIME - 7) * SECOND

    lines = [streaks.count(Decision(TickOutcome.NOT_TIME_YET), FACTS, early) for _ in range(130)]

    assert [number for number, said in enumerate(lines, start=1) if said] == [3, 10, 60, 120]
    assert "7 s ahead of our clock" in lines[2][0].text
    streaks.count(Decision(TickOutcome.NOT_TIME_YET), FACTS, NOW)
    assert streaks.behind_head == 0


def test_the_time_servers_are_asked_when_the_clock_looks_wrong() -> None:
    streaks, early = Streaks(), (HEAD_TIME - 7) * SECOND

    asked = []
    for _ in range(12):
        streaks.count(Decision(TickOutcome.NOT_TIME_YET), FACTS, early)
        asked.append(streaks.wants_time)

    assert asked == [False] * 9 + [True] + [False] * 2


def test_a_schedule_without_us_is_warned_of_once() -> None:
    streaks = Streaks()

    said = [streaks.count(Decision(TickOutcome.NOT_MY_TURN), FACTS, NOW) for _ in range(2 * IDLE_WARNING)]

    assert [number for number, lines in enumerate(said, start=1) if lines] == [IDLE_WARNING]


@pytest.mark.parametrize(
    ("outcome", "level", "times"),
    [
        (TickOutcome.NOT_MY_TURN, logging.ERROR, 1),
        (TickOutcome.NO_PRIVATE_KEY, logging.INFO, 4),
        (TickOutcome.LOW_PARTICIPATION, logging.ERROR, 4),
        (TickOutcome.MINORITY_FORK, logging.ERROR, 4),
        (TickOutcome.ALREADY_SIGNED, logging.ERROR, 4),
        (TickOutcome.LAG, logging.ERROR, 48),
        (TickOutcome.FORK_COLLISION, logging.WARNING, 48),
        (TickOutcome.EXCEPTION, logging.ERROR, 48),
    ],
)
def test_the_log_lines_of_a_reason_are_throttled(outcome: TickOutcome, level: int, times: int) -> None:
    streaks = Streaks()

    lines = []
    for tick in range(48):
        lines += streaks.count(Decision(outcome, "why"), FACTS, NOW + tick * SECOND // 4)

    assert lines == [(level, "why")] * times


def test_a_slot_of_ours_that_the_head_has_passed_is_told_of() -> None:
    streaks = Streaks()
    streaks.count(Decision(TickOutcome.LAG, "late", Duty(SLOT, OURS)), FACTS, NOW)

    assert streaks.missed(FACTS, frozenset()) == []
    (line,) = streaks.missed(FACTS._replace(head_time=SLOT + 3), frozenset([SLOT + 3]))
    assert line.text.startswith(f"MISSED-SLOT-OUR-VALIDATOR: ours has no block at {time_text(SLOT)}")
    assert streaks.missed(FACTS._replace(head_time=SLOT + 6), frozenset()) == []


def test_a_slot_of_ours_that_has_a_block_is_not_missed() -> None:
    streaks = Streaks()
    streaks.count(Decision(TickOutcome.LAG, "late", Duty(SLOT, OURS)), FACTS, NOW)

    assert streaks.missed(FACTS._replace(head_time=SLOT), frozenset([SLOT])) == []


def test_silence_is_told_of_once_a_minute() -> None:
    streaks = Streaks()

    said = {gap: streaks.silence(FACTS, HEAD_TIME + gap) for gap in (59, 60, 61, 119, 120)}

    assert [gap for gap, lines in said.items() if lines] == [60, 120]
    assert said[60][0].text == (
        f"NO NEW BLOCKS: head=#100 produced at {time_text(HEAD_TIME)}, now={time_text(HEAD_TIME + 60)}, gap=60s "
        f"(1 min). Next expected: block #101 by alice at {time_text(HEAD_TIME + 60)}. "
        "Emergency consensus activates in ~1140s."
    )


@pytest.mark.parametrize(("validators", "missed"), [(1, 0), (21, 1)])
def test_a_slot_that_began_before_the_start_is_no_error(validators: int, missed: int) -> None:
    facts = FACTS._replace(max_validators=validators)
    streaks, late = Streaks(began=SLOT + 1), Decision(TickOutcome.LAG, "too late", Duty(SLOT, OURS))

    [line] = streaks.count(late, facts, NOW + SECOND)
    assert (line.level, line.text) == (
        logging.INFO,
        f"no block is made for the slot {time_text(SLOT)} of {OURS}, which began before this node did",
    )
    assert len(streaks.missed(facts._replace(head_time=SLOT + 3), frozenset())) == missed
    assert [each.level for each in streaks.count(late._replace(duty=Duty(SLOT + 3, OURS)), facts, NOW)] == [
        logging.ERROR
    ]


def test_a_network_of_one_that_was_down_is_not_called_silent() -> None:
    alone = FACTS._replace(max_validators=1)
    streaks = Streaks(began=HEAD_TIME + 5_000)

    assert streaks.silence(alone, HEAD_TIME + 5_059) == []
    assert streaks.silence(alone, HEAD_TIME + 5_060) != []
    assert Streaks(began=HEAD_TIME + 5_000).silence(FACTS._replace(max_validators=21), HEAD_TIME + 5_000) != []


def test_the_watchdog_warns_when_production_stops() -> None:
    streaks = Streaks()
    assert streaks.watch(FACTS, SETTINGS, SLOT, 3) == []
    streaks.count(Decision(TickOutcome.PRODUCED, duty=Duty(SLOT, OURS)), FACTS, NOW)
    fresh = FACTS._replace(head_time=SLOT + 181)

    assert streaks.watch(fresh, SETTINGS, SLOT + 180, 3) == []
    streaks.behind_head = streaks.idle = 5
    lines = streaks.watch(fresh, SETTINGS, SLOT + 181, 0)
    assert lines[0].text.startswith("VALIDATOR-WATCHDOG: no block of ours for 181 s")
    assert (streaks.behind_head, streaks.idle) == (5, 5)
    assert streaks.watch(fresh, SETTINGS, SLOT + 210, 3) == []
    assert (streaks.behind_head, streaks.idle) == (0, 0)
    assert streaks.watch(FACTS._replace(participation=100), SETTINGS, SLOT + 400, 3) == []


def test_the_watchdog_of_an_emergency_master_is_less_patient() -> None:
    master = ProducerSettings(names=(COMMITTEE_ACCOUNT,), keys={})
    streaks = Streaks()
    streaks.count(Decision(TickOutcome.PRODUCED, duty=Duty(SLOT, COMMITTEE_ACCOUNT)), FACTS, NOW)

    assert streaks.watch(FACTS._replace(is_emergency=True), master, SLOT + 61, 1) != []


def test_a_minority_fork_silences_the_watchdog_until_a_block_is_made() -> None:
    streaks = Streaks()
    streaks.count(Decision(TickOutcome.PRODUCED, duty=Duty(SLOT, OURS)), FACTS, NOW)
    streaks.count(Decision(TickOutcome.MINORITY_FORK, "alone"), FACTS, NOW)
    assert streaks.watch(FACTS, SETTINGS, SLOT + 999, 3) == []

    streaks.count(Decision(TickOutcome.PRODUCED, duty=Duty(SLOT, OURS)), FACTS, NOW)
    assert not streaks.left_minority
