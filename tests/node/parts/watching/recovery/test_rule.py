"""When a node is wedged, and what follows: the rule alone, with its time passed in."""

from __future__ import annotations

import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.node.parts.watching.recovery.rule import (
    CONFIRM_SECONDS,
    MOST_CUT_OFF,
    MOST_INCIDENTS,
    Incident,
    Permissions,
    RecoveryStep,
    Verdict,
    WedgeRule,
)
from ledgerd.p2p.sync.survey import FAR_BLOCKS, NetworkSurvey

FORGET, GO_BACK, FETCH = RecoveryStep
ALL = Permissions(may_step=True, may_fetch=True)
DAY = 86_400
WELL = NetworkSurvey(1_000, 985, 0, 0, 0, 14, 0, 14, 3.0)
BEHIND = NetworkSurvey(1_000, 985, 5, 1_000 + FAR_BLOCKS, 14, 14, 0, 2, 600.0)


class Run:
    """A rule, and the time that goes by for it."""

    def __init__(self, permissions: Permissions = ALL, incidents: list[Incident] | None = None) -> None:
        self.incidents = [] if incidents is None else incidents
        self.now = 100.0
        self.wall = 1_800_000_000
        self.rule = WedgeRule(self.incidents, permissions, self.now)
        self.taken: list[tuple[float, RecoveryStep]] = []
        self.said: list[str] = []
        self.verdict = Verdict(None, (), "")

    def see(self, survey: NetworkSurvey, seconds: float = 0.0) -> list[RecoveryStep]:
        """See the same for a while; the steps that follow."""
        before, end = len(self.taken), self.now + seconds
        while True:
            self.verdict = self.rule.inspect(self.now, self.wall, survey)
            self.said += [line.text for line in self.verdict.lines]
            if self.verdict.step is not None:
                self.taken.append((self.now, self.verdict.step))
            if self.now >= end:
                return [step for _, step in self.taken[before:]]
            self.now += 5
            self.wall += 5


def test_five_minutes_without_progress_and_with_proof_are_a_dead_end() -> None:
    run = Run()
    assert run.see(BEHIND, CONFIRM_SECONDS - 5) == []
    assert run.verdict.reason == ""
    assert run.see(BEHIND, 10) == [FORGET]
    assert run.verdict.reason.startswith("wedged at block 1000: 14 validators have signed blocks up to 1200")


@pytest.mark.parametrize(
    "survey",
    [
        BEHIND._replace(signers=13),
        BEHIND._replace(highest=1_000 + FAR_BLOCKS - 1),
        BEHIND._replace(signers=0, trusted=1),
        BEHIND._replace(signers=0, trusted=0, claiming=64),
        BEHIND._replace(needed=0, signers=0),
    ],
)
def test_less_than_proof_causes_no_step(survey: NetworkSurvey) -> None:
    run = Run()
    assert run.see(survey, 3_600) == []
    assert run.incidents == []


def test_two_trusted_peers_are_as_good_as_signatures() -> None:
    run = Run()
    assert run.see(BEHIND._replace(signers=0, trusted=2), CONFIRM_SECONDS) == [FORGET]
    assert "2 trusted peers have blocks up to 1200" in run.verdict.reason


def test_progress_starts_the_five_minutes_anew() -> None:
    run = Run()
    for number in range(20):
        assert run.see(BEHIND._replace(irreversible=985 + number), CONFIRM_SECONDS - 10) == []
    assert run.incidents == []


def test_the_irreversible_block_of_an_undone_state_is_no_progress() -> None:
    run = Run()
    run.see(BEHIND, CONFIRM_SECONDS)
    taken = [*run.see(BEHIND._replace(irreversible=980), 30), *run.see(BEHIND, 35)]
    assert taken == [GO_BACK]


def test_each_step_is_taken_once_and_then_an_operator_is_called() -> None:
    run = Run()
    assert run.see(BEHIND, 6 * 3_600) == [FORGET, GO_BACK, FETCH]
    assert [text for text in run.said if "an operator has to see to it" in text] == [run.said[-1]]
    assert run.incidents[0].steps == [step.value for step in RecoveryStep]


def test_all_steps_are_due_within_ten_minutes() -> None:
    run = Run()
    began = run.now
    run.see(BEHIND, 600)
    assert [step for _, step in run.taken] == [FORGET, GO_BACK, FETCH]
    assert run.taken[-1][0] - began <= 480


def test_a_step_that_brings_progress_is_given_time() -> None:
    run = Run()
    run.see(BEHIND, CONFIRM_SECONDS)
    for number in range(30):
        assert run.see(BEHIND._replace(irreversible=986 + number), 50) == []


def test_a_node_is_in_step_only_when_its_own_blocks_show_it() -> None:
    run = Run()
    run.see(BEHIND, CONFIRM_SECONDS)
    for doubtful in (WELL._replace(own_signers=13), WELL._replace(age=61.0), BEHIND._replace(highest=0, signers=0)):
        run.see(doubtful, 30)
        assert run.rule.incident is not None
        assert run.verdict.reason
    run.see(WELL)
    assert run.rule.incident is None
    assert run.verdict.reason == ""
    assert "in step again at block 1000, after: forget the branches" in run.said


def test_three_incidents_a_day_and_no_more() -> None:
    run = Run()
    for _ in range(MOST_INCIDENTS):
        assert run.see(BEHIND, CONFIRM_SECONDS) == [FORGET]
        run.see(WELL)
    assert run.see(BEHIND, 3_600) == []
    assert run.verdict.reason
    assert "there were 3 incidents within a day" in run.said[-1]
    run.see(WELL)
    run.wall += DAY
    assert run.see(BEHIND, CONFIRM_SECONDS) == [FORGET]


def test_what_the_operator_forbids_is_not_done_and_is_named() -> None:
    run = Run(Permissions(may_step=False, may_fetch=True))
    assert run.see(BEHIND, 3_600) == []
    assert "recover-from-wedge is off" in run.said[-1]
    run = Run(Permissions(may_step=True, may_fetch=False))
    assert run.see(BEHIND, 3_600) == [FORGET, GO_BACK]
    assert "auto-resync-on-wedge is off" in run.said[-1]
    assert run.verdict.reason, "nothing is signed all the same"


def test_a_restart_does_not_take_a_step_again() -> None:
    run = Run()
    run.see(BEHIND, CONFIRM_SECONDS + 65)
    run.rule.ended()
    again = Run(incidents=run.incidents)
    assert again.rule.incident is not None
    assert again.see(BEHIND, 3_600) == [FETCH]


def test_a_step_that_fails_makes_way_at_once() -> None:
    run = Run()
    run.see(BEHIND, CONFIRM_SECONDS + 125)
    assert [step for _, step in run.taken] == [FORGET, GO_BACK, FETCH]
    line = run.rule.has_failed("nobody has a snapshot")
    assert (line.level, line.text) == (logging.CRITICAL, "wedged: nobody has a snapshot")
    run.see(BEHIND, 5)
    assert "all steps were taken" in run.said[-1]


def test_claims_are_told_of_at_intervals() -> None:
    run = Run()
    claims = WELL._replace(claiming=64, signers=3)
    run.see(claims, 100)
    assert run.said == []
    run.see(claims, 1_900)
    told = [text for text in run.said if text.startswith("64 peers claim")]
    assert len(told) == len(run.said) == 4
    assert "(at most 3)" in told[0]


SIGHTS = st.builds(
    NetworkSurvey,
    st.integers(0, 2_000),
    st.integers(0, 2_000),
    st.integers(0, 64),
    st.integers(0, 3_000),
    st.integers(0, 21),
    st.just(14),
    st.integers(0, 3),
    st.integers(0, 21),
    st.floats(0, 1_000),
)


@given(st.lists(st.tuples(SIGHTS, st.integers(1, 30)), max_size=60))
def test_whatever_is_seen_no_step_is_taken_twice_or_too_soon(seen: list[tuple[NetworkSurvey, int]]) -> None:
    run = Run()
    for survey, looks in seen:
        run.see(survey, 5.0 * looks)
    for incident in run.incidents:
        assert len(set(incident.steps)) == len(incident.steps)
        assert incident.steps == [step.value for step in RecoveryStep][: len(incident.steps)]
    assert len([each for each in run.incidents if each.steps]) <= MOST_INCIDENTS
    assert all(when - 100.0 >= CONFIRM_SECONDS for when, _ in run.taken)


def test_a_step_that_the_end_of_the_node_cuts_off_begins_again_a_few_times() -> None:
    run = Run()
    assert run.see(BEHIND, CONFIRM_SECONDS) == [FORGET]
    for _ in range(MOST_CUT_OFF):
        run = Run(incidents=run.incidents)
        assert run.see(BEHIND) == [FORGET]
        assert run.said[0] == "wedged: forget the branches: cut off by the end of the node, begins again"

    run = Run(incidents=run.incidents)
    assert run.see(BEHIND, 30) == []
    assert run.see(BEHIND, 60) == [GO_BACK]


def test_a_step_that_is_over_is_not_repeated_after_a_restart() -> None:
    run = Run()
    run.see(BEHIND, CONFIRM_SECONDS)
    run.rule.ended()

    run = Run(incidents=run.incidents)
    assert run.see(BEHIND, 60) == [GO_BACK]


def test_a_step_that_has_replaced_the_state_is_over() -> None:
    incidents = [Incident(1_800_000_000, 1_000, ["forget the branches", "fetch a snapshot"], unfinished=True)]
    run = Run(incidents=incidents)

    assert run.see(WELL._replace(head=1_300)) == []
    assert (incidents[0].is_over, incidents[0].unfinished, incidents[0].cut_off) == (True, False, 0)
