"""How many lines of a kind are written, and how many are counted; times are arguments."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ledgerd.supervision.line_rates import COUNT_SECONDS, LineRate, LineRates

SLOW = LineRate("slow lines", burst=3, a_second=0.1)


def test_a_burst_is_written_and_then_as_many_as_the_rate_allows() -> None:
    rates = LineRates()
    assert [rates.admits("a", SLOW, 0.0) for _ in range(5)] == [True] * 3 + [False] * 2
    assert not rates.admits("a", SLOW, 9.0)
    assert rates.admits("a", SLOW, 10.0)
    assert not rates.admits("a", SLOW, 10.0)
    assert rates.admits("b", SLOW, 10.0)


def test_the_count_of_each_kind_is_told_once_a_minute_after_the_first_line_left_out() -> None:
    rates = LineRates()
    for kind, lines in (("a", 10), ("b", 5), ("c", 3)):
        for _ in range(lines):
            rates.admits(kind, SLOW, 0.0)
    assert [*rates.due(COUNT_SECONDS - 1)] == []
    assert [*rates.due(COUNT_SECONDS)] == [("a", 7), ("b", 2)]
    assert [*rates.due(10 * COUNT_SECONDS)] == []


@given(st.lists(st.tuples(st.integers(0, 30), st.sampled_from("ab")), max_size=200))
def test_every_line_is_written_or_counted(lines: list[tuple[int, str]]) -> None:
    rates, now, written, told = LineRates(), 0.0, 0, 0
    for wait, kind in lines:
        now += wait
        written += rates.admits(kind, SLOW, now)
        told += sum(count for _, count in rates.due(now))
    assert written + told + sum(count for _, count in rates.due(now + COUNT_SECONDS)) == len(lines)
    assert written <= 2 * (SLOW.burst + now * SLOW.a_second)


def test_a_clock_that_goes_back_gives_no_lines_and_loses_none() -> None:
    rates = LineRates()
    admitted = [rates.admits("a", SLOW, now) for now in (100.0, 50.0, 50.0, 50.0, 40.0)]
    assert admitted == [True, True, True, False, False]
    assert [*rates.due(-COUNT_SECONDS)] == [("a", 2)]
