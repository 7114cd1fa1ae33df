from __future__ import annotations

from pathlib import Path

from ledgerd.node.config.options.beside import MOST_WATCHED
from tests.node.configurations import problems, read


def test_names_are_read_once_each_in_their_order(tmp_path: Path) -> None:
    assert read(
        tmp_path, "validator-monitor = bob\nvalidator-monitor = alice\nvalidator-monitor = bob\n"
    ).validator_monitor.names == ("bob", "alice")


def test_the_number_of_watched_validators_is_bounded(tmp_path: Path) -> None:
    lines = [f"validator-monitor = validator-{number}\n" for number in range(MOST_WATCHED + 1)]

    assert len(read(tmp_path, "".join(lines[1:])).validator_monitor.names) == MOST_WATCHED
    (problem,) = problems(tmp_path, "".join(lines))
    assert "65 validators are named, and 64 are the most" in problem
