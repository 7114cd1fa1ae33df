"""How several processes divide the tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.scheduling import TOGETHER, unit_of

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("test", "unit"),
    [
        ("tests/chain/test_chain.py::test_it", "tests/chain/test_chain.py"),
        ("tests/chain/test_chain.py::TestIt::test_it[a::b]", "tests/chain/test_chain.py"),
        ("tests/house/test_sizes.py::test_it", "tests/house/"),
    ],
)
def test_a_file_or_a_folder_is_run_by_one_process(test: str, unit: str) -> None:
    assert unit_of(test) == unit


def test_the_folders_that_stay_together_have_tests() -> None:
    assert all([*(ROOT / folder).rglob("test_*.py")] for folder in TOGETHER)
