from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from ledgerd.node.config.logging.handlers import HourlyFile

ONE_O_CLOCK = 1_795_179_600.0
"""2026-11-20, 13:00 UTC."""
HOUR = 3_600


@pytest.fixture
def handler(tmp_path: Path) -> Iterator[HourlyFile]:
    handler = HourlyFile(tmp_path / "logs" / "p2p.log")
    yield handler
    handler.close()


def say(handler: HourlyFile, text: str, *, at: float) -> None:
    record = logging.LogRecord("ledgerd", logging.INFO, "peers.py", 1, text, None, None)
    record.created = at
    handler.handle(record)


def files(tmp_path: Path) -> dict[str, str]:
    return {path.name: path.read_text(encoding="utf-8") for path in sorted((tmp_path / "logs").iterdir())}


def test_an_hour_has_a_file_and_the_current_one_a_second_name(handler: HourlyFile, tmp_path: Path) -> None:
    say(handler, "first", at=ONE_O_CLOCK + 1)
    say(handler, "second", at=ONE_O_CLOCK + HOUR - 0.001)

    assert files(tmp_path) == {"p2p.log": "first\nsecond\n", "p2p.log.20261120T130000": "first\nsecond\n"}


def test_a_new_hour_begins_a_new_file(handler: HourlyFile, tmp_path: Path) -> None:
    say(handler, "first", at=ONE_O_CLOCK)
    say(handler, "second", at=ONE_O_CLOCK + HOUR)

    assert files(tmp_path) == {
        "p2p.log": "second\n",
        "p2p.log.20261120T130000": "first\n",
        "p2p.log.20261120T140000": "second\n",
    }


def test_files_are_kept_for_a_day_and_others_are_left_alone(handler: HourlyFile, tmp_path: Path) -> None:
    say(handler, "first", at=ONE_O_CLOCK)
    say(handler, "second", at=ONE_O_CLOCK + HOUR)
    (tmp_path / "logs" / "p2p.log.bak").write_text("mine", encoding="utf-8")
    say(handler, "third", at=ONE_O_CLOCK + 25 * HOUR)

    assert list(files(tmp_path)) == ["p2p.log", "p2p.log.20261120T140000", "p2p.log.20261121T140000", "p2p.log.bak"]


def test_a_restart_within_the_hour_goes_on_in_its_file(handler: HourlyFile, tmp_path: Path) -> None:
    say(handler, "first", at=ONE_O_CLOCK)
    handler.close()
    say(handler, "second", at=ONE_O_CLOCK + 1)

    assert files(tmp_path)["p2p.log"] == "first\nsecond\n"
