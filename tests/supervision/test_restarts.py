"""Restart pauses and giving up, with times as arguments."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ledgerd.supervision.work import (
    FAILURE_SECONDS,
    FIRST_PAUSE,
    LONGEST_PAUSE,
    MOST_FAILURES,
    STEADY_SECONDS,
    Restarts,
)

Life = tuple[int, int | None]
"""Seconds until it works, and for how long it then works; nothing where it never does."""

LIVES = st.lists(
    st.tuples(st.integers(0, 100), st.one_of(st.none(), st.integers(0, 2 * int(STEADY_SECONDS)))),
    min_size=1,
    max_size=60,
)


def ends(lives: list[Life]) -> list[tuple[float, bool, float | None]]:
    """For each life, when it has ended, whether it has worked, and the pause; no more after the last start."""
    restarts, now, told = Restarts(), 0.0, []
    for start, worked in lives:
        now += start
        if worked is not None:
            restarts.working(now)
            restarts.working(now + worked / 2)
            now += worked
        pause = restarts.ended(now)
        told.append((now, worked is not None, pause))
        if pause is None:
            break
        now += pause
    return told


def test_the_first_pause_is_a_second_at_most_and_each_doubles_up_to_a_minute() -> None:
    restarts = Restarts()
    pauses = []
    for day in range(9):
        restarts.working(now := day * 100_000.0)
        pauses.append(restarts.ended(now + 1))

    assert FIRST_PAUSE <= 1
    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60, 60]


def test_what_has_worked_for_a_minute_begins_with_the_first_pause_again() -> None:
    restarts = Restarts()
    assert [restarts.ended(0), restarts.ended(1)] == [1, 2]
    restarts.working(10)
    assert restarts.ended(10 + STEADY_SECONDS - 1) == 4
    restarts.working(100)
    assert restarts.ended(100 + STEADY_SECONDS) == 1


def test_the_tenth_failed_start_in_ten_minutes_is_the_last() -> None:
    restarts = Restarts()
    assert None not in [restarts.ended(number * 66.0) for number in range(9)]
    assert restarts.ended(600) is None


def test_ten_failed_starts_in_more_than_ten_minutes_are_not_too_many() -> None:
    restarts = Restarts()
    assert None not in [restarts.ended(number * 67.0) for number in range(100)]


def test_what_has_worked_is_no_failed_start() -> None:
    restarts = Restarts()
    for number in range(100):
        restarts.working(number)
        assert restarts.ended(number) is not None


@given(LIVES)
def test_every_pause_is_within_its_bounds_and_grows_unless_it_was_steady(lives: list[Life]) -> None:
    before = 0.0
    for (_, worked), (_, _, pause) in zip(lives, ends(lives), strict=False):
        if pause is None:
            break
        assert 0 < pause <= LONGEST_PAUSE
        grown = max(FIRST_PAUSE, min(LONGEST_PAUSE, 2 * before))
        is_steady = worked is not None and worked >= STEADY_SECONDS
        assert pause == (FIRST_PAUSE if is_steady else grown)
        before = pause


@given(LIVES)
def test_it_is_given_up_exactly_when_ten_starts_have_failed_in_ten_minutes(lives: list[Life]) -> None:
    told = ends(lives)
    for number, (now, _, pause) in enumerate(told):
        failed = [at for at, has_worked, _ in told[: number + 1] if not has_worked and now - at <= FAILURE_SECONDS]
        assert (pause is None) == (len(failed) >= MOST_FAILURES)
