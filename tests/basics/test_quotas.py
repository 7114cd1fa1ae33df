"""What one may cost, and many together; how fast it is forgotten, and how much is kept at a time."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ledgerd.basics.quotas import (
    ACTIVE_SECONDS,
    MOST_ACTIVE,
    PART_SECONDS,
    HeldAmounts,
    Quota,
    Quotas,
    Recent,
    SharedQuota,
)


def test_a_quota_gives_a_burst_and_then_its_rate() -> None:
    quota = Quota(10, 2, 0)
    assert sum(quota.spend(1, 0) for _ in range(100)) == 10
    assert sum(quota.spend(1, 3) for _ in range(100)) == 6


def test_each_one_keeps_a_part_of_what_others_use_up() -> None:
    """Nine take as much as they get, every second, and one takes little: that one is never refused."""
    quota = SharedQuota(100, 100, 2, 0)
    hostile = 0
    for second in range(60):
        hostile += sum(quota.spend(f"hostile {number}", 1, second) for _ in range(100) for number in range(9))
        assert all(quota.spend("honest", 1, second) for _ in range(2))
    assert hostile < 100 + 60 * 200, "and all of them together have no more than twice the rate"


def test_what_was_dearer_than_expected_is_charged_to_all_or_to_the_part_of_one() -> None:
    quota = SharedQuota(10, 1, 2, 0)
    assert quota.spend("dear", 1, 0)
    quota.charge("dear", 20, 0)
    assert quota.spend("dear", 1, 0), "of its own part"
    quota.charge("dear", 20, 0)
    assert not quota.spend("dear", 1, 0)
    assert quota.spend("other", 1, 0)
    assert not quota.spend("dear", 1, 5)
    assert quota.spend("dear", 1, 60)


def test_a_part_is_as_large_as_the_number_of_those_who_ask_allows() -> None:
    quota = SharedQuota(1, 100, 2, 0)
    for _ in range(300):
        quota.spend("first", 1, 0)
        quota.spend("second", 1, 0)
    taken = sum(quota.spend("first", 1, 4) for _ in range(1_000))
    assert 4 * 50 <= taken <= PART_SECONDS * 50 + 1


def test_who_has_long_asked_for_nothing_has_no_part() -> None:
    quota = SharedQuota(1, 10, 2, 0)
    for number in range(50):
        quota.spend(str(number), 1, 0)
    assert len(quota) == 50
    quota.spend("late", 1, ACTIVE_SECONDS + 1)
    assert len(quota) == 1


def test_so_many_have_a_part() -> None:
    quota = SharedQuota(1, 10, 2, 0)
    for number in range(MOST_ACTIVE + 50):
        quota.spend(str(number), 1, 0)
    assert len(quota) == MOST_ACTIVE


def test_a_whole_one_is_waited_for() -> None:
    quota = Quota(2, 0.5, 0)
    assert [quota.spend_one(0) for _ in range(3)] == [True, True, False]
    assert quota.wait(0) == 2
    assert quota.wait(1) == 1
    assert not quota.spend_one(1)
    assert quota.spend_one(2)


def test_a_clock_that_goes_back_gives_nothing_and_takes_nothing() -> None:
    quota = Quota(10, 1, 100)
    assert quota.spend(10, 100)
    assert quota.left(50) == 0
    assert quota.left(51) == 1


def test_without_a_rate_nothing_is_refused() -> None:
    quotas = Quotas(0)
    quotas.charge("a", 1_000, 0)
    assert all(quotas.allows("a", 0) for _ in range(1_000))
    assert not quotas.kept


@given(st.integers(1, 20), st.lists(st.floats(0, 1), max_size=60))
def test_no_name_is_allowed_more_than_its_rate_and_one_burst(rate: int, pauses: list[float]) -> None:
    quotas, now, allowed = Quotas(rate), 0.0, 0

    for pause in pauses:
        now += pause
        allowed += quotas.allows("a", now)

    assert allowed <= rate + rate * now + 1e-6
    assert quotas.allows("b", now)


def test_a_name_is_forgotten_when_its_time_makes_up_for_all_that_it_had() -> None:
    quotas = Quotas(2)
    assert [quotas.allows("a", 0) for _ in range(3)] == [True, True, False]
    quotas.charge("b", 100, 0)

    quotas.forget(0.9)
    assert not all(quotas.allows("a", 0.9) for _ in range(2))
    quotas.forget(5)

    assert [*quotas.kept] == ["b"]
    assert [quotas.allows("a", 5) for _ in range(3)] == [True, True, False]
    assert not quotas.allows("b", 49)


def test_so_many_names_are_kept_and_who_is_active_stays() -> None:
    recent = Recent(lambda now: [now], 10)
    first = recent.of("first", 1.0)
    for number in range(100):
        recent.of(str(number))
        assert recent.of("first", 2.0) is first
    assert len(recent.kept) == 10


def test_what_is_kept_is_counted_by_name() -> None:
    held = HeldAmounts(10)
    held.change("one", 4)
    held.change("two", 6)
    assert not held.is_too_much
    held.change("one", 3)
    assert held.is_too_much
    assert held.largest == "one"
    held.change("one", -7)
    assert (held.total, held.largest) == (6, "two")
    assert not HeldAmounts(0).is_too_much
