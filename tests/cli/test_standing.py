from __future__ import annotations

from pathlib import Path

import pytest

import ledgerd
from ledgerd.cli.standing import ROOMS, describe
from tests.house.source_tree import FLOORS, write_tree


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty house in the place of the real one."""
    monkeypatch.setattr(ledgerd, "__path__", [str(tmp_path)])
    return tmp_path


def test_every_room_below_the_command_line_is_described() -> None:
    assert list(ROOMS) == [room for floor in FLOORS for room in floor if room != "cli"]


def test_a_room_with_modules_is_counted_and_its_door_is_not(house: Path) -> None:
    write_tree(house, {"codec/__init__.py": "", "codec/a.py": "", "codec/deep/b.py": "", "state/c.py": ""})

    lines = describe("0.1.0").splitlines()

    assert [line.split()[:3] for line in lines if line.startswith(("  codec", "  state"))] == [
        ["codec", "2", "modules"],
        ["state", "1", "module"],
    ]


def test_a_room_with_nothing_but_its_door_is_not_built(house: Path) -> None:
    write_tree(house, {"codec/__init__.py": ""})

    assert sum("not built" in line for line in describe("0.1.0").splitlines()) == len(ROOMS)


def test_it_says_that_there_is_no_node_until_there_is_one(house: Path) -> None:
    assert "There is no node to start yet" in describe("0.1.0")

    write_tree(house, {"node/lifecycle.py": ""})

    assert "There is no node to start yet" not in describe("0.1.0")
