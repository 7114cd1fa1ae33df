"""When a node is wedged, and which step is next; it only decides. Wedged: the network is known to be far ahead, by
signatures or two trusted peers, and our irreversible block has not moved for five minutes. Each step is taken once an
incident, and there are three incidents a day.
"""

from __future__ import annotations

import logging
from enum import Enum
from typing import NamedTuple

import msgspec

from ledgerd.basics.durations import DAY
from ledgerd.p2p.sync.survey import FAR_BLOCKS, NetworkSurvey

CONFIRM_SECONDS = 300.0
MOST_INCIDENTS = 3
"""Incidents within a day after which the node does nothing more by itself."""
CLAIMS_EVERY = 600.0
"""Seconds between two lines on claims that nobody has proven."""
CLAIMS_LAST = 120.0
"""Seconds for which claims last before the first such line: peers need time to show blocks."""


class RecoveryStep(Enum):
    """The steps, in their order. The first two lose nothing that the network has."""

    FORGET = "forget the branches"
    GO_BACK = "go back to the irreversible block"
    FETCH = "fetch a snapshot"


MOST_CUT_OFF = 3
"""Steps of an incident that begin again because the node ended in the middle of them."""

STEP_SECONDS = {RecoveryStep.FORGET: 60.0, RecoveryStep.GO_BACK: 60.0, RecoveryStep.FETCH: 3600.0}
"""Seconds without progress that a step has before the next one."""


class Incident(msgspec.Struct):
    """One dead end, as it is kept over a restart."""

    began: int
    """Seconds since 1970."""
    head: int
    steps: list[str]
    is_over: bool = False
    unfinished: bool = False
    """Whether the last step has begun and not ended: if the node ends meanwhile, it is cut off."""
    cut_off: int = 0


class Permissions(NamedTuple):
    """The actions that the operator allows."""

    may_step: bool = True
    may_fetch: bool = False


class RecoveryLine(NamedTuple):
    """A line for the log."""

    level: int
    text: str


class Verdict(NamedTuple):
    """The result of an inspection."""

    step: RecoveryStep | None
    lines: tuple[RecoveryLine, ...]
    reason: str
    """Why the node is not in step with the network; empty if it is."""


class WedgeRule:
    """Remembers what was seen, and the incidents of the last day."""

    def __init__(self, incidents: list[Incident], permissions: Permissions, now: float) -> None:
        self.incidents = incidents
        self._permissions = permissions
        self._irreversible = -1
        self._since: float | None = None
        """The time since which the network is known to be far ahead while ours makes no progress."""
        self._acted: float = now
        """The time of the last step or the last progress."""
        self._claimed_at: float | None = None
        """The time of the last report of claims, or from which it counts."""
        self._is_given_up = False
        self._is_first = True
        self._lines: list[RecoveryLine] = []

    @property
    def incident(self) -> Incident | None:
        last = self.incidents[-1] if self.incidents else None
        return None if last is None or last.is_over else last

    def inspect(self, now: float, wall: int, survey: NetworkSurvey) -> Verdict:
        """Inspect the network, given steady seconds and seconds since 1970; returns what follows."""
        self._lines = []
        if self._is_first:
            self._is_first = False
            self._resume_cut_off(now, survey)
        self._record_progress(now, survey)
        is_behind = survey.is_ahead_known
        self._report_claims(now, survey, is_behind=is_behind)
        if not is_behind:
            self._since = None
            self._close(survey)
            return self._verdict(None, survey)
        if self._since is None:
            self._since = now
            self._report(
                logging.WARNING, f"{_distance_of(survey)}; if that lasts {CONFIRM_SECONDS:.0f} s, steps follow"
            )
        if self.incident is None and now - self._since < CONFIRM_SECONDS:
            return Verdict(None, tuple(self._lines), "")
        if self.incident is None:
            self._open(now, wall, survey)
        return self._verdict(self._next_step(now), survey)

    def _record_progress(self, now: float, survey: NetworkSurvey) -> None:
        if survey.irreversible <= self._irreversible:
            return  # after blocks are undone, the state tells of the irreversible block of then
        has_risen = self._irreversible >= 0
        self._irreversible = survey.irreversible
        if has_risen:
            self._acted = now
            self._is_given_up = False
            if self._since is not None:
                self._since = now

    def _report_claims(self, now: float, survey: NetworkSurvey, *, is_behind: bool) -> None:
        if is_behind or not survey.claiming:
            self._claimed_at = None
            return
        if self._claimed_at is None:
            self._claimed_at = now + CLAIMS_LAST - CLAIMS_EVERY
        if now - self._claimed_at < CLAIMS_EVERY:
            return
        self._claimed_at = now
        self._report(
            logging.WARNING,
            f"{survey.claiming} peers claim to be {FAR_BLOCKS} blocks or more ahead of block {survey.head}; nobody has "
            f"shown blocks that {survey.needed} validators have signed (at most {survey.signers}), so nothing follows",
        )

    def _open(self, now: float, wall: int, survey: NetworkSurvey) -> None:
        self.incidents[:] = [each for each in self.incidents if each.began > wall - DAY]
        self.incidents.append(Incident(wall, survey.head, []))
        self._acted = now
        self._is_given_up = False
        self._report(
            logging.CRITICAL,
            f"WEDGED at block {survey.head}: {_distance_of(survey)}, and no block of ours became irreversible for "
            f"{CONFIRM_SECONDS:.0f} s. Validators of this node sign nothing meanwhile",
        )

    def _resume_cut_off(self, now: float, survey: NetworkSurvey) -> None:
        """A step that the end of the node has cut off begins again, a few times, unless it has replaced the state."""
        incident = self.incident
        if incident is None or not incident.unfinished:
            return
        incident.unfinished = False
        if survey.head > incident.head or incident.cut_off >= MOST_CUT_OFF:
            return
        incident.cut_off += 1
        self._acted = now - max(STEP_SECONDS.values())
        self._report(logging.WARNING, f"wedged: {incident.steps.pop()}: cut off by the end of the node, begins again")

    def ended(self) -> None:
        if self.incident is not None:
            self.incident.unfinished = False

    def _close(self, survey: NetworkSurvey) -> None:
        incident = self.incident
        if incident is not None and survey.is_in_step:
            incident.is_over = True
            steps = ", ".join(incident.steps) or "no step"
            self._report(logging.WARNING, f"in step again at block {survey.head}, after: {steps}")

    def _next_step(self, now: float) -> RecoveryStep | None:
        incident = self.incident
        if incident is None or self._is_given_up:
            return None
        taken = [RecoveryStep(each) for each in incident.steps]
        wait = STEP_SECONDS[taken[-1]] if taken else 0.0
        if now - self._acted < wait:
            return None
        step = next((each for each in RecoveryStep if each not in taken), None)
        refusal = self._refusal(step)
        if refusal:
            self._is_given_up = True
            self._report(logging.CRITICAL, f"still wedged at block {incident.head}: {refusal}")
            return None
        if step is not None:
            incident.steps.append(step.value)
            incident.unfinished = True
            self._acted = now
            self._report(logging.CRITICAL, f"wedged: {step.value}")
        return step

    def _refusal(self, step: RecoveryStep | None) -> str:
        if step is None:
            return "all steps were taken, and an operator has to see to it"
        if len(self.incidents) > MOST_INCIDENTS:
            return f"there were {MOST_INCIDENTS} incidents within a day already, and an operator has to see to it"
        if not self._permissions.may_step:
            return "recover-from-wedge is off"
        if step is RecoveryStep.FETCH and not self._permissions.may_fetch:
            return (
                "auto-resync-on-wedge is off, or no trusted-snapshot-peer is named, so no snapshot replaces the state "
                "by itself"
            )
        return ""

    def _report(self, level: int, text: str) -> None:
        self._lines.append(RecoveryLine(level, text))

    def _verdict(self, step: RecoveryStep | None, survey: NetworkSurvey) -> Verdict:
        reason = ""
        if self.incident is not None:
            distance = _distance_of(survey) if survey.is_ahead_known else "not in step with the network yet"
            reason = f"wedged at block {survey.head}: {distance}"
        return Verdict(step, tuple(self._lines), reason)

    def has_failed(self, reason: str) -> RecoveryLine:
        """A step could not be carried out: the next one is due at once."""
        self.ended()
        self._acted -= max(STEP_SECONDS.values())
        return RecoveryLine(logging.CRITICAL, f"wedged: {reason}")


def _distance_of(survey: NetworkSurvey) -> str:
    by = (
        f"{survey.signers} validators have signed"
        if survey.signers >= survey.needed > 0
        else f"{survey.trusted} trusted peers have"
    )
    return f"{by} blocks up to {survey.highest}, {survey.highest - survey.head} above our head"
