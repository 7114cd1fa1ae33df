"""What an operator reads of work that takes long; times are arguments."""

from __future__ import annotations

from itertools import pairwise

import pytest

from ledgerd.supervision.progress import (
    LONGEST_LINE_SECONDS,
    MEGABYTES,
    STEP_SECONDS,
    ProgressLine,
    ProgressStep,
    duration,
    many,
)


def step(line: ProgressLine, done: int, total: int, now: float) -> ProgressStep:
    found = line.at(done, total, now)
    assert found is not None
    return found


def test_a_step_has_height_rate_and_time_left() -> None:
    line = ProgressLine("replaying", 1_000, 100.0)
    found = step(line, 9_000, 81_000, 105.0)

    assert found.text == "replaying: block 9,000 of 81,000 (11 %), 1,600 blocks/s, 45 s left"
    assert found.fields == {"block": 9_000, "of": 81_000, "a_second": 1_600.0, "seconds_left": 45}
    assert found.is_line
    assert not found.is_last


def test_steps_come_a_few_times_a_second_and_lines_every_few_seconds() -> None:
    line = ProgressLine("replaying", 0, 0.0)
    steps = [line.at(tick, 100_000, tick / 100) for tick in range(1, 1_000)]

    told = [each for each in steps if each is not None]
    assert len(told) == pytest.approx(9.99 / STEP_SECONDS, abs=1)
    assert [each.is_line for each in told].count(True) == 1


def test_work_of_hours_has_a_line_a_minute() -> None:
    line, day = ProgressLine("replaying", 0, 0.0), 86_400
    told = [step(line, second, day, float(second)) for second in range(1, day + 1)]

    lines = [number for number, each in enumerate(told) if each.is_line]
    late = [after - before for before, after in pairwise(lines[200:-1])]
    assert set(late) == {int(LONGEST_LINE_SECONDS)}


def test_the_rate_is_that_of_the_latest_seconds() -> None:
    line = ProgressLine("replaying", 0, 0.0)
    for second in range(1, 31):
        found = step(line, 1_000 * second, 1_000_000, float(second))
    for second in range(31, 61):
        found = step(line, 30_000 + 10 * (second - 30), 1_000_000, float(second))
    assert found.fields["a_second"] == 10


def test_the_end_is_a_line_whenever_it_comes() -> None:
    line = ProgressLine("checking", 0, 0.0, "record")
    step(line, 10, 20, 1.0)
    found = step(line, 20, 20, 1.01)
    assert found.is_line
    assert found.is_last
    assert found.text == "checking: record 20 of 20 (100 %), 20 records/s, 0 s left"
    assert step(ProgressLine("checking", 0, 0.0), 0, 0, 0.0).text == "checking: block 0 of 0 (100 %), 0 blocks/s"


def test_megabytes_stand_behind_the_numbers() -> None:
    line = ProgressLine("fetching", 0, 0.0, MEGABYTES)
    assert step(line, 12, 58, 4.0).text == "fetching: 12 of 58 MB (20 %), 3 MB/s, 15 s left"
    assert step(ProgressLine("fetching", 0, 0.0, MEGABYTES), 0, 58, 4.0).text == "fetching: 0 of 58 MB, waiting for MB"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.4, "0 s"), (59, "59 s"), (60, "1 min 0 s"), (3_725, "1 h 2 min"), (200_000, "2 d 7 h")],
)
def test_a_time_is_told_in_its_two_largest_units(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_a_count_has_its_noun() -> None:
    assert [many(count, "peer") for count in (0, 1, 2)] == ["0 peers", "1 peer", "2 peers"]
