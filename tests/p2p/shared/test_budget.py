"""Rate limits of one name, and of many together."""

from __future__ import annotations

from ledgerd.p2p.shared.budget import ACTIVE_SECONDS, MOST_ACTIVE, PART_SECONDS, SharedBudget, TokenBucket


def test_a_bucket_gives_a_burst_and_then_its_rate() -> None:
    bucket = TokenBucket(10, 2, 0)
    assert sum(bucket.take(1, 0) for _ in range(100)) == 10
    assert sum(bucket.take(1, 3) for _ in range(100)) == 6


def test_each_one_keeps_a_part_of_what_others_use_up() -> None:
    """Nine take as much as they get, every second, and one takes little: that one is never refused."""
    budget = SharedBudget(100, 100, 2, 0)
    hostile = 0
    for second in range(60):
        hostile += sum(budget.take(f"hostile {number}", 1, second) for _ in range(100) for number in range(9))
        assert all(budget.take("honest", 1, second) for _ in range(2))
    assert hostile < 100 + 60 * 200, "and all of them together have no more than twice the rate"


def test_a_part_is_as_large_as_the_number_of_those_who_ask_allows() -> None:
    budget = SharedBudget(1, 100, 2, 0)
    for _ in range(300):
        budget.take("first", 1, 0)
        budget.take("second", 1, 0)
    taken = sum(budget.take("first", 1, 4) for _ in range(1_000))
    assert 4 * 50 <= taken <= PART_SECONDS * 50 + 1


def test_who_has_long_asked_for_nothing_has_no_part() -> None:
    budget = SharedBudget(1, 10, 2, 0)
    for number in range(50):
        budget.take(str(number), 1, 0)
    assert len(budget) == 50
    budget.take("late", 1, ACTIVE_SECONDS + 1)
    assert len(budget) == 1


def test_so_many_have_a_part() -> None:
    budget = SharedBudget(1, 10, 2, 0)
    for number in range(MOST_ACTIVE + 50):
        budget.take(str(number), 1, 0)
    assert len(budget) == MOST_ACTIVE
