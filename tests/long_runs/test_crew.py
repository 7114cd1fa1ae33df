"""The workers of long runs: what they are told, what they answer, and how they end."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from itertools import count
from pathlib import Path
from random import Random

import pytest

from tests.long_runs import worker
from tests.long_runs.crew import Crew, play
from tests.long_runs.runs import Run, fuzzed
from tests.long_runs.worker import Told


class Nothing:
    """Accepts half of its inputs, and breaks down at one number."""

    def make(self, random: Random) -> int:
        return random.randrange(100)

    def survive(self, given: int) -> bool:
        if given == 7:
            raise KeyError(given)
        return given % 2 == 0


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[Run, str], list[Told]]:
    """What a worker answers to the lines that it is given."""

    def asked(run: Run, lines: str) -> list[Told]:
        out = io.StringIO()
        monkeypatch.setattr("sys.stdin", io.StringIO(lines))
        monkeypatch.setattr("sys.stdout", out)
        worker.play(run, tmp_path)
        return [Told(**json.loads(line)) for line in out.getvalue().splitlines()]

    return asked


def test_a_worker_plays_each_seed_and_stops_at_one_that_fails(answers: Callable[[Run, str], list[Told]]) -> None:
    run = fuzzed("nothing", 10, "", lambda _: Nothing(), a_seed=4)

    told = answers(run, "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n19\n20\n" * 20)

    assert [each.seed for each in told[:-1]] == [*range(1, len(told))]
    assert all(each.done == 4 and not each.problem for each in told[:-1])
    assert told[-1].done == 0
    assert "KeyError: 7" in told[-1].problem
    assert f"of seed {told[-1].seed}: 7" in told[-1].problem


def test_seeds_are_shared_among_workers_until_there_are_no_more() -> None:
    told: list[Told] = []

    def take(each: Told) -> bool:
        told.append(each)
        return True

    play("last-signed-block", Crew(2), iter([1, 2, 3, 4]), take, lambda: False)

    assert sorted(each.seed for each in told) == [1, 2, 3, 4]
    assert [each.problem for each in told] == [""] * 4
    assert all(each.done == 1_000 and 0 < (each.accepted or 0) < 1_000 for each in told)


def test_a_worker_that_dies_is_a_failure_of_its_seed(capfd: pytest.CaptureFixture[str]) -> None:
    told: list[Told] = []

    def take(each: Told) -> bool:
        told.append(each)
        return not each.problem

    play("no-such-run", Crew(1), count(5), take, lambda: False)

    assert [(each.seed, each.problem[:5]) for each in told] == [(5, "Died:")]
    assert "no-such-run" in capfd.readouterr().err
