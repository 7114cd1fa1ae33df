"""Plays scenarios at the same time: each goes on as far as it can, then all wait for the next block."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from ledgerd.codec.json.text import Json
from ledgerd.protocol.constants import BLOCK_INTERVAL
from ledgerd.recording.journal import RecordingJournal
from ledgerd.recording.network import HeadMoment, RecordedNetwork, RecordingRefused, Sent
from ledgerd.recording.steps import AskFact, Cast, LookUp, Scenario, ScenarioStep, SendOperations, WaitUntil

MOST_STEPS = 10_000
"""The most steps of a scenario: none has a tenth of it."""

PAUSE = 1.0
"""Seconds between two looks whether there is a new block."""


class Playing:
    """A scenario that is under way."""

    def __init__(self, scenario: Scenario, cast: Cast, network: RecordedNetwork, journal: RecordingJournal) -> None:
        self.name = scenario.name
        self._network = network
        self._journal = journal
        self._play = scenario.play(cast)
        self._step: ScenarioStep | None = next(self._play)
        self._sent: Sent | None = None
        self._count = 0
        for line in journal.steps()[scenario.name]:
            if "sent" in line:
                self._sent = Sent(*line["sent"])
            else:
                self._go_on(line["result"])
        self._is_resumed = self._sent is not None
        """Whether the last transaction was signed before an interruption, and perhaps not sent."""

    @property
    def is_done(self) -> bool:
        return self._step is None

    @property
    def waits_for(self) -> int | None:
        """The time that it waits for, if it does."""
        return self._step.time if isinstance(self._step, WaitUntil) else None

    def advance(self) -> bool:
        """Do what can be done before the next block; whether there was anything."""
        moved = False
        while self._step is not None:
            done = self._done(self._step)
            if done is None:
                return moved
            line, result = done
            self._journal.add({"scenario": self.name, **line, "result": result})
            self._go_on(result)
            moved = True
        return moved

    def _go_on(self, result: Json) -> None:
        self._sent = None
        self._count += 1
        if self._count > MOST_STEPS:
            raise RecordingRefused(f"{self.name} has more than {MOST_STEPS:,} steps")
        try:
            self._step = self._play.send(result)
        except StopIteration:
            self._step = None

    def _done(self, step: ScenarioStep) -> tuple[dict[str, Any], Json] | None:
        """The line of a step for the journal, and its result; None while the step has to wait."""
        match step:
            case WaitUntil(time):
                now = self._network.head.time
                return ({}, now) if now >= time else None
            case LookUp(api, method, arguments):
                return {}, self._network.value(api, method, *arguments)
            case AskFact(api, method, arguments):
                fact = self._network.fact(self._count + 1, api, method, arguments)
                return {"fact": list(fact)}, _result_of(fact.answer)
            case SendOperations():
                return self._taken(step)

    def _taken(self, step: SendOperations) -> tuple[dict[str, Any], Json] | None:
        """Send operations once. A transaction that was signed before an interruption, has expired and is in no block is
        sent again.
        """
        head = self._network.head
        if self._sent is not None and self._is_resumed and head.time > self._sent.expiration:
            self._sent = None if self._network.block_of(self._sent) is None else self._sent
        if self._sent is None:
            self._is_resumed = False
            self._sent = self._network.signed(step.operations, step.signers)
            self._journal.add({"scenario": self.name, "sent": list(self._sent)})
            self._network.send(self._sent)
        block = self._network.block_of(self._sent)
        if block is not None:
            return {"transaction": self._sent.id, "operations": step.operations}, block
        if head.time > self._sent.expiration:
            raise RecordingRefused(
                f"{self.name}: no block took transaction {self._sent.id}; the log of the node says why"
            )
        return None


def _result_of(answer: str) -> Json:
    envelope = json.loads(answer)
    return envelope.get("result") if isinstance(envelope, dict) else None


def play(
    playing: Iterable[Playing], network: RecordedNetwork, wait: Callable[[float], None], report: Callable[[str], None]
) -> None:
    """Play all scenarios to their ends."""
    left = list(playing)
    while left:
        moved = [each.advance() for each in left]  # each of them, whatever the others did
        for each in left:
            if each.is_done:
                report(f"{each.name}: recorded")
        left = [each for each in left if not each.is_done]
        if left and not any(moved):
            _let_pass(left, network, wait)


def _let_pass(left: list[Playing], network: RecordedNetwork, wait: Callable[[float], None]) -> None:
    """Move the clock, if that can be done, to the time that the first scenario waits for, or by a block; else wait for
    a block.
    """
    times = [each.waits_for for each in left]
    awaited = [time for time in times if time is not None]
    head: HeadMoment = network.head
    if network.can_travel:
        is_waiting = len(awaited) == len(left)
        network.travel(max(1, min(awaited) - head.time) if is_waiting else BLOCK_INTERVAL)
    else:
        wait(PAUSE)
