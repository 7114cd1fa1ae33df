"""The walk through a hand-over: inspects once a second, reports the next step at a change, and writes our record."""

from __future__ import annotations

import time
from collections.abc import Callable

from ledgerd.adopt.handover import Handover, HandoverStep, Stage
from ledgerd.adopt.handover_facts import HandoverStatus, OtherNode, OurNode
from ledgerd.compare.node import NotComparable
from ledgerd.protocol.blocks.block import Block
from ledgerd.state.errors import StoreLocked

PAUSE_SECONDS = 1.0
REPEAT_SECONDS = 10.0
"""Seconds between two lines of one stage, whose words may hold what a stranger answers."""


class HandoverWalk:
    """One hand-over as it goes on."""

    def __init__(self, handover: Handover, ours: OurNode, other: OtherNode, report: Callable[[str], None]) -> None:
        self._handover = handover
        self._ours = ours
        self._other = other
        self._report = report
        self._record_block: Block | None = None
        """The block that our record will end with: our node signs nothing up to its slot."""
        self._reported = HandoverStep(Stage.IN_STEP, "")
        self._reported_at = 0.0

    def inspect(self) -> HandoverStatus:
        """Everything that can be seen now. Our record is read last, see `Handover`."""
        theirs = self._other.facts(self._ours.node)
        try:
            chain, problem = self._ours.chain(self._handover.plan.validator), ""
        except NotComparable as fault:
            chain, problem = None, str(fault)
        return HandoverStatus(chain, problem, self._ours.facts(), theirs)

    def advance(self) -> HandoverStep:
        step = self._handover.step(self.inspect())
        try:
            if step.stage is Stage.RECORD:
                self._record_block = self._ours.head_block()
                self._handover.has_record_block = True
            elif step.stage is Stage.WRITE and self._record_block is not None:
                self._ours.record(self._record_block)
        except (NotComparable, StoreLocked):
            pass  # our node has stopped or started at this moment; the next inspection sees it
        return step

    def run(self, seconds: float) -> bool:
        until = time.monotonic() + seconds
        while True:
            step = self.advance()
            self._report_step(step, time.monotonic())
            if step.stage is Stage.DONE:
                return True
            if time.monotonic() >= until:
                return False
            time.sleep(PAUSE_SECONDS)

    def _report_step(self, step: HandoverStep, now: float) -> None:
        is_new = step.stage is not self._reported.stage or (
            step != self._reported and now - self._reported_at >= REPEAT_SECONDS
        )
        if is_new:
            self._report(step.words)
            self._reported, self._reported_at = step, now
