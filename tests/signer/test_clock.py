"""The signer's clock: set by a person, corrected by servers, and when neither can be believed."""

from __future__ import annotations

import pytest

from ledgerd.signer.clock import CheckedClock
from ledgerd.signer.rule import ROUND_SECONDS, SECOND

START = 1_800_000_000 * SECOND


class Machine:
    """Two clocks in the test's hand."""

    def __init__(self) -> None:
        self.passed, self.error = 0, 0
        self.offset: int | None = 0
        self.clock = CheckedClock(lambda: self.passed, lambda: START + self.passed + self.error, lambda: self.offset)

    def set_by(self, seconds: float) -> None:
        self.error += int(seconds * SECOND)


def test_a_steady_clock_is_believed() -> None:
    machine = Machine()
    machine.passed = 3600 * SECOND
    assert machine.clock() == (START + 3600 * SECOND, "", 0)


@pytest.mark.parametrize("seconds", [1.1, -1.1, 3600, -3600])
def test_a_clock_that_is_set_is_not_believed_for_a_round(seconds: float) -> None:
    machine = Machine()
    machine.set_by(seconds)
    assert machine.clock().doubt == f"the signer's clock was set: nothing is signed for {ROUND_SECONDS + 1} s"

    machine.passed = (ROUND_SECONDS - 1) * SECOND
    assert machine.clock().doubt
    machine.passed = ROUND_SECONDS * SECOND
    assert machine.clock() == (START + machine.passed + machine.error, "", 1)


def test_small_steps_are_added_up() -> None:
    machine = Machine()
    machine.set_by(0.9)
    assert not machine.clock().doubt
    machine.set_by(0.9)
    assert machine.clock().doubt


def test_with_time_servers_nothing_is_believed_before_one_has_answered_and_then_by_its_time() -> None:
    machine = Machine()
    machine.offset = None
    assert machine.clock().doubt.startswith("no time server has answered yet")

    machine.offset = -2 * SECOND
    assert machine.clock() == (START - 2 * SECOND, "", 0)


def test_time_servers_that_give_another_time_at_once_set_the_clock_and_drift_does_not() -> None:
    machine = Machine()
    for _ in range(10):
        machine.offset = (machine.offset or 0) + SECOND
        assert machine.clock().settings == 0
    machine.offset += 2 * SECOND  # type: ignore[operator]

    assert machine.clock().doubt.startswith("the signer's clock was set")
    machine.passed += ROUND_SECONDS * SECOND
    assert machine.clock() == (START + machine.passed + 12 * SECOND, "", 1)
