"""A node that began with a snapshot takes in blocks of a peer, fetches its past and records its history; each of the
three processes is killed at any moment, and in the end every answer is that of a node that was never killed.

A usual run kills twice; `PAST_KILLS=50 scripts/test tests/archive/test_killed_past.py` kills 50 times.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from random import Random

import pytest

from tests.archive.born_of_snapshot import HEIGHT, NAME, SNAPSHOT, Answers, BornOfSnapshot, Kills, make_snapshot
from tests.archive.files import served, write_archive
from tests.history.histories import closed_view, recorded_histories, shown_operations
from tests.history.test_recorded_histories import assert_recorded
from tests.recorded import recorded_answers, recorded_blocks

KILLS = int(os.environ.get("PAST_KILLS", "2"))
KILLS_A_ROUND = 5
RANGE = 25
RECORDING = Path("history.past") / "history"
"""What is there while the past is recorded."""


@pytest.fixture(scope="module")
def others(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("others")
    write_archive(folder, recorded_blocks(NAME)[: SNAPSHOT + 2 * RANGE], RANGE)
    return folder


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_snapshot(tmp_path_factory.mktemp("begin"))


@pytest.fixture(scope="module")
def unkilled(
    others: Path, snapshot: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Answers, dict[str, float]]:
    """The answers of a node that was never killed, and how long its commands took."""
    folder = tmp_path_factory.mktemp("unkilled") / "node"
    with served(others) as server, BornOfSnapshot(folder, snapshot) as born:
        assert born.node.call("database_api", "get_block", 1) is None
        assert born.node.call("operation_history", "get_ops_in_block", 1, False) == []
        born.work("archive", "fetch", server.url)
        born.wait_for_block(1)  # it is served without a new start
        born.work("history", "extend", paused=folder / RECORDING)
        answers = born.finish()
    is_as_recorded(folder)
    return answers, born.seconds


def test_a_node_serves_its_past_and_stays_in_step_while_its_history_is_recorded(
    unkilled: tuple[Answers, dict[str, float]],
) -> None:
    answers, _ = unkilled
    for number, packed in enumerate(recorded_blocks(NAME)[:HEIGHT], 1):
        question = json.dumps(("database_api", "get_block", [number]))
        previous = json.loads(answers[question])["result"]["previous"]
        assert previous == packed[:20].hex()


def test_whoever_is_killed_the_past_is_whole_in_the_end(
    unkilled: tuple[Answers, dict[str, float]], others: Path, snapshot: Path, tmp_path: Path
) -> None:
    answers, seconds = unkilled
    left, seed = KILLS, 0
    while left > 0:
        seed += 1
        assert seed <= KILLS, "the commands end before they are killed"
        folder = tmp_path / "round" / "node"
        folder.parent.mkdir()
        kills = Kills(min(left, KILLS_A_ROUND), Random(seed), seconds)  # noqa: S311 - moments
        first = kills._replace(most=kills.most // 2)
        with served(others) as server, BornOfSnapshot(folder, snapshot) as born:
            born.work("archive", "fetch", server.url, kills=first)
            born.work("history", "extend", kills=kills)
            found = born.finish()
        assert found == answers, f"seed {seed}"
        is_as_recorded(folder)
        left -= born.kills
        shutil.rmtree(folder.parent)


def is_as_recorded(folder: Path) -> None:
    with closed_view(folder) as view:
        assert view.head_number == HEIGHT
        for (number, only_virtual), text in recorded_answers(NAME, HEIGHT)["get_ops_in_block"].items():
            assert shown_operations(view, number, only_virtual=only_virtual) == text
        for question, answer in recorded_histories(NAME).items():
            assert_recorded(view, question, answer)
