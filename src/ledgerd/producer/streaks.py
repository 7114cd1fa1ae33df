"""What follows from the outcomes of many ticks: warnings, throttled log lines and the watchdog (spec 06, sections 10.4
and 10.6). It returns what is to be logged.
"""

from __future__ import annotations

import logging
from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from ledgerd.producer.decision import HEALTHY_PARTICIPATION
from ledgerd.producer.facts import Facts
from ledgerd.producer.outcome import Decision, Duty, TickOutcome
from ledgerd.producer.settings import ProducerSettings
from ledgerd.producer.time.clock import SECOND
from ledgerd.protocol.constants import BLOCK_INTERVAL, EMERGENCY_CONSENSUS_TIMEOUT_SEC
from ledgerd.protocol.crypto.keys import NULL_KEY
from ledgerd.protocol.types.time_text import time_text

MISSING_KEY_EVERY = CLOCK_STEPPED_EVERY = DOPPELGANGER_EVERY = HELD_EVERY = 60
MOST_OWED = 64
"""Slots whose outcome is not known yet, and are remembered."""
IDLE_WARNING = 500
BEHIND_HEAD_WARNINGS = (3, 10, 60, 120)
TIME_ASKED_AT = 10
SILENT_HEAD = 60
SILENT_SECONDS, SILENT_MASTER_SECONDS = 180, 60
WATCHDOG_EVERY = 30
FRESH_HEAD = 30

QUIET = {
    TickOutcome.NOT_MY_TURN: (logging.ERROR, MISSING_KEY_EVERY),
    TickOutcome.ALREADY_SIGNED: (logging.ERROR, BLOCK_INTERVAL),
    TickOutcome.CLOCK_STEPPED: (logging.ERROR, CLOCK_STEPPED_EVERY),
    TickOutcome.WATCHING: (logging.INFO, DOPPELGANGER_EVERY),
    TickOutcome.DOPPELGANGER: (logging.ERROR, DOPPELGANGER_EVERY),
    TickOutcome.HELD: (logging.ERROR, HELD_EVERY),
    TickOutcome.MINORITY_FORK: (logging.ERROR, BLOCK_INTERVAL),
    TickOutcome.LOW_PARTICIPATION: (logging.ERROR, BLOCK_INTERVAL),
    TickOutcome.NO_PRIVATE_KEY: (logging.INFO, BLOCK_INTERVAL),
    TickOutcome.SIGNED_BY_ANOTHER: (logging.INFO, 0),
}
"""The level of a reason, and the seconds in which it is logged once. The reference repeats most of them four times a
second."""
LOUD = {
    TickOutcome.LAG: logging.ERROR,
    TickOutcome.EXCEPTION: logging.ERROR,
    TickOutcome.FORK_COLLISION: logging.WARNING,
    TickOutcome.SIGNER_AWAY: logging.ERROR,
    TickOutcome.SIGNER_REFUSED: logging.ERROR,
}


class LogLine(NamedTuple):
    """A line for the log."""

    level: int
    text: str


@dataclass
class Streaks:
    """Counts outcomes of past ticks."""

    began: int = 0
    """Seconds since 1970 at the start: no block could be made here for a slot from before."""
    behind_head: int = 0
    idle: int = 0
    left_minority: bool = False
    """Whether the node has asked its peers again because of a minority fork, and has made no block since."""
    last_production: int = 0
    """Seconds since 1970; 0 for never."""
    owed: dict[int, Decision] = field(default_factory=dict)
    """Slots of ours that have begun and have no block yet, by their times, and what was decided last for them."""
    lost: Counter[TickOutcome] = field(default_factory=Counter)
    """Slots of ours that the head has passed without a block, by the reason."""
    _logged: dict[str, int] = field(default_factory=dict)

    def count(self, decision: Decision, facts: Facts, now: int) -> list[LogLine]:
        second, outcome = now // SECOND, decision.outcome
        lines: list[LogLine] = []
        if outcome is TickOutcome.NOT_TIME_YET:
            lines += self._count_behind_head(facts, now)
        elif outcome is TickOutcome.NOT_MY_TURN:
            self.behind_head = 0
            self.idle += 1
            if self.idle == IDLE_WARNING:
                lines.append(LogLine(logging.WARNING, f"no slot of ours in {IDLE_WARNING} looks at the schedule"))
        elif outcome is TickOutcome.PRODUCED:
            self.behind_head = self.idle = 0
        if outcome is TickOutcome.PRODUCED:
            self.last_production, self.left_minority = second, False
        elif outcome is TickOutcome.MINORITY_FORK:
            self.left_minority = True
        if outcome is TickOutcome.LAG and decision.duty is not None and decision.duty.time < self.began:
            return lines + self._before_the_start(decision, decision.duty, facts)
        if decision.duty is not None:
            self._owe(decision, decision.duty)
        return lines + self._reason(decision, second)

    def _before_the_start(self, decision: Decision, duty: Duty, facts: Facts) -> list[LogLine]:
        """Every start may come within a slot of ours. Where others make blocks too, the slot counts as missed."""
        if not facts.is_network_of_one:
            self._owe(decision, duty)
        text = f"no block is made for the slot {time_text(duty.time)} of {duty.name}, which began before this node did"
        return [LogLine(logging.INFO, text)]

    def _owe(self, decision: Decision, duty: Duty) -> None:
        self.owed.pop(duty.time, None)
        if decision.outcome is not TickOutcome.PRODUCED:
            self.owed[duty.time] = decision
        if len(self.owed) > MOST_OWED:
            del self.owed[min(self.owed)]

    def _count_behind_head(self, facts: Facts, now: int) -> list[LogLine]:
        self.behind_head = self.behind_head + 1 if now <= facts.head_time * SECOND else 0
        if self.behind_head not in BEHIND_HEAD_WARNINGS:
            return []
        ahead = facts.head_time - now // SECOND
        return [LogLine(logging.WARNING, f"the head block is {ahead} s ahead of our clock: is the time right?")]

    def _reason(self, decision: Decision, second: int) -> list[LogLine]:
        if not decision.reason:
            return []
        if decision.outcome in LOUD:
            return [LogLine(LOUD[decision.outcome], decision.reason)]
        level, pause = QUIET[decision.outcome]
        return [LogLine(level, decision.reason)] if self._is_due(decision.outcome.name, second, pause) else []

    def _is_due(self, what: str, second: int, pause: int) -> bool:
        if second - self._logged.get(what, -pause) < pause:
            return False
        self._logged[what] = second
        return True

    @property
    def wants_time(self) -> bool:
        return self.behind_head == TIME_ASKED_AT

    def missed(self, facts: Facts, head_times: frozenset[int]) -> list[LogLine]:
        lines = []
        for time in sorted(each for each in self.owed if each <= facts.head_time):
            decision = self.owed.pop(time)
            if time in head_times or decision.duty is None:
                continue
            self.lost[decision.outcome] += 1
            text = f"MISSED-SLOT-OUR-VALIDATOR: {decision.duty.name} has no block at {time_text(time)}"
            lines.append(LogLine(logging.WARNING, f"{text}, the head is #{facts.head_number}"))
        return lines

    def silence(self, facts: Facts, second: int) -> list[LogLine]:
        gap = second - facts.head_time
        if facts.is_network_of_one and second - self.began < SILENT_HEAD:
            return []  # who could have made any while this node was down?
        if gap < SILENT_HEAD or facts.head_number == 0 or self._logged.get("silence") == gap // 60:
            return []
        self._logged["silence"] = gap // 60
        slot = max(1, facts.slot_at(second))
        left = max(0, EMERGENCY_CONSENSUS_TIMEOUT_SEC - gap)
        return [
            LogLine(
                logging.WARNING,
                f"NO NEW BLOCKS: head=#{facts.head_number} produced at {time_text(facts.head_time)}, "
                f"now={time_text(second)}, gap={gap}s ({gap // 60} min). Next expected: block "
                f"#{facts.head_number + 1} by {facts.scheduled_at(slot)} at {time_text(facts.slot_time(slot))}. "
                f"Emergency consensus activates in ~{left}s.",
            )
        ]

    def watch(self, facts: Facts, settings: ProducerSettings, second: int, peers: int) -> list[LogLine]:
        is_master = facts.is_emergency and settings.is_emergency_master
        is_expected = is_master if facts.is_emergency else facts.participation >= HEALTHY_PARTICIPATION
        longest = SILENT_MASTER_SECONDS if is_master else SILENT_SECONDS
        silent = second - self.last_production
        if not self.last_production or self.left_minority or not is_expected or silent <= longest:
            return []
        lines = []
        if self._is_due("watchdog", second, WATCHDOG_EVERY):
            # The producer in a line (spec 06, section 10.10); it has made a block, or nothing would be expected of it.
            state = f"head=#{facts.head_number} last_prod={silent}s_ago minority_rcv={int(self.left_minority)}"
            text = f"VALIDATOR-WATCHDOG: no block of ours for {silent} s; validator[{state}]"
            lines.append(LogLine(logging.ERROR, text))
        ready = [name for name in settings.names if facts.keys.get(name, NULL_KEY) != NULL_KEY]
        is_clear = (
            second - facts.head_time < FRESH_HEAD and peers > 0 and any(name in facts.scheduled for name in ready)
        )
        if is_clear:
            self.behind_head = self.idle = 0
        return lines
