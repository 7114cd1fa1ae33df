"""The order in which the files of tests are run."""

from __future__ import annotations

from pathlib import Path

from tests.processes import TOGETHER
from tests.slowest import SLOWEST, place_of

TESTS = Path(__file__).parent


def test_the_slowest_files_are_there_and_named_once() -> None:
    assert [name for name in SLOWEST if not (TESTS / name).exists()] == []
    assert [name for name in SLOWEST if (TESTS / name).is_dir() != name.endswith("/")] == []
    assert len(set(SLOWEST)) == len(SLOWEST)


def test_they_are_run_before_all_others() -> None:
    places = [place_of(TESTS / name) for name in (*SLOWEST, "test_slowest.py")]

    assert places == list(range(len(SLOWEST) + 1))


def test_a_folder_that_stays_together_stands_there_as_a_whole() -> None:
    assert {f"tests/{name}" for name in SLOWEST if name.endswith("/")} == set(TOGETHER)
    assert place_of(TESTS / "house" / "test_sizes.py") == SLOWEST.index("house/")
