"""What is kept of long runs between two starts, and what the document says of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.long_runs.main import DOCUMENT, seeds_of
from tests.long_runs.progress import Counted, Progress, counts_of, failures, table, written
from tests.long_runs.runs import RUNS, Run, fuzzed
from tests.long_runs.test_crew import Nothing


@pytest.fixture
def run() -> Run:
    return fuzzed("nothing", 10, "inputs that are nothing", lambda _: Nothing())


def test_each_seed_is_played_once_in_whatever_order_seeds_are_done(run: Run) -> None:
    counted = Counted()
    for seed in (2, 3, 1, 5):
        counted.count(seed, 1, None, "aaaa", "2026-01-01")

    seeds = seeds_of(run, counted)

    assert (counted.next_seed, counted.ahead, counted.done) == (4, [5], 4)
    assert [next(seeds), next(seeds)] == [4, 6]


def test_no_seed_is_left_where_the_target_is_reached(run: Run) -> None:
    counted = Counted()
    counted.count(1, 10, None, "aaaa", "2026-01-01")

    assert list(seeds_of(run, counted)) == []


def test_a_seed_that_failed_counts_for_nothing_and_is_passed_over(run: Run) -> None:
    counted = Counted()
    counted.fail(1, "ValueError: it broke", "aaaa", "2026-01-01")

    assert (counted.done, counted.next_seed, [each.seed for each in counted.failures]) == (0, 2, [1])
    assert next(seeds_of(run, counted)) == 2


def test_what_was_done_is_there_at_the_next_start(tmp_path: Path) -> None:
    progress = Progress(tmp_path / "kept.json", {})
    progress.of("http").count(1, 1000, 300, "aaaa", "2026-01-01")
    progress.of("http").fail(2, "KeyError: 7", "bbbb", "2026-01-02")
    progress.save()

    again = Progress(tmp_path / "kept.json", {})

    assert again.runs == progress.runs
    assert again.of("http").accepted == 300


def test_the_table_tells_commits_and_dates() -> None:
    counted = Counted()
    counted.count(1, 1000, 300, "aaaa", "2026-01-01")
    counted.count(2, 1000, 200, "bbbb", "2026-01-02")

    assert table([("http", 40_000, "inputs", counted)]).splitlines()[-1] == (
        "| http | 2,000 | 40,000 inputs | 1 to 2 | 500 | 0 | aaaa to bbbb | 2026-01-02 |"
    )


def test_a_failure_is_told_with_the_command_that_repeats_it() -> None:
    counted = Counted()
    counted.fail(7, 'Traceback:\n  File "a"\ntests.Broken: a slot\ninput 3 of seed 7: b""', "aaaa", "2026-01-01")

    assert failures([("http", 1, "inputs", counted)]) == (
        "- 2026-01-01, commit aaaa: `scripts/long_runs http --seed 7`: `tests.Broken: a slot`\n"
    )
    assert failures([("http", 1, "inputs", Counted())]) == "None.\n"


def test_a_new_checkout_goes_on_from_the_document(tmp_path: Path) -> None:
    played, failing = Counted(), Counted()
    played.count(1, 1_000, 300, "aaaa", "2026-01-01")
    played.fail(2, "tests.Broken: a slot", "bbbb", "2026-01-02")
    played.count(3, 1_000, 0, "bbbb", "2026-01-02")
    failing.fail(1, "KeyError: 7", "cccc", "2026-01-03")
    there = [(name, 9_999, "inputs", each) for name, each in (("http", played), ("json", Counted()), ("log", failing))]
    document = written(
        "<!-- counts -->\n<!-- end of counts -->\n<!-- failures -->\n<!-- end of failures -->\n",
        {"counts": table(there), "failures": failures(there)},
    )

    here = Progress(tmp_path / "kept.json", counts_of(document))

    assert [here.of(name) for name, *_ in there] == [each for *_, each in there]


def test_a_document_without_a_place_for_the_counts_is_an_error() -> None:
    assert written("a\n<!-- n -->\nold\n<!-- end of n -->\nb", {"n": "new\n"}) == (
        "a\n<!-- n -->\nnew\n<!-- end of n -->\nb"
    )
    with pytest.raises(ValueError, match="no place for counts"):
        written("# Long runs\n", {"counts": ""})


def test_the_document_explains_every_run_and_has_a_place_for_the_counts() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")

    assert [run.name for run in RUNS if f"| `{run.name}` |" not in text] == []
    assert "<!-- end of counts -->" in written(text, {"counts": "", "failures": ""})


def test_the_runs_come_to_what_is_asked_of_them() -> None:
    targets = {run.name: run.target for run in RUNS}

    assert targets["simulations"] == 2_000
    assert targets["wedges"] == 500
    assert targets["signers"] == 1_000
    assert sum(count for name, count in targets.items() if name.startswith("kills-")) >= 1_000
    assert sum(run.target for run in RUNS if run.unit == "inputs") >= 10**8
    assert min(targets[name] for name in ("bytes", "json", "frames", "http")) >= 10**7
    assert min(targets[name] for name in ("config", "log", "index", "snapshot", "last-signed-block")) >= 10**5
