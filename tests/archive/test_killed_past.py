"""A node that began with a snapshot takes in blocks of a peer, fetches its past and records its history; each of the
three processes is killed at any moment, and in the end every answer is the recorded one.

A usual run kills three times; `PAST_KILLS=50 scripts/test tests/archive/test_killed_past.py` kills 50 times.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from random import Random

from tests.archive.files import served, write_archive
from tests.history.histories import closed_view, recorded_histories, shown_operations
from tests.history.past.pasts import ARCHIVE, born_of_snapshot
from tests.history.test_recorded_histories import assert_recorded
from tests.node.killing import Serving
from tests.node.processes import LOOK_SECONDS, LOOPBACK, PATIENCE, PROGRAM, NodeProcess
from tests.recorded import ANSWERED, recorded_answers, recorded_blocks

KILLS = int(os.environ.get("PAST_KILLS", "3"))
KILLS_A_ROUND = 5
LONGEST_LIFE = 2.0
NAME, SNAPSHOT = "open-pm2", 200
HEIGHT = ANSWERED[NAME]


class Round:
    """One past, until it is whole."""

    def __init__(self, folder: Path, peer: Serving, random: Random, kills: int) -> None:
        self.folder, self.left = folder, kills
        self._random = random
        self._words = (
            *("--data-dir", str(folder), "--chain=testnet", *LOOPBACK),
            f"--p2p-seed-node={peer.endpoint.host}:{peer.endpoint.port}",
        )
        (folder / "config.ini").write_text("plugin = database_api operation_history account_history\n")
        self._node = NodeProcess(*self._words)

    def work(self, *words: str) -> None:
        """Run a command to its end, however often it or the node is killed."""
        while not self._has_ended(words):
            pass

    def _has_ended(self, words: Sequence[str]) -> bool:
        command = [*PROGRAM, *words, "--data-dir", str(self.folder), "--chain=testnet"]
        with (
            (self.folder.parent / "told").open("wb") as told,
            subprocess.Popen(command, stdout=told, stderr=told) as process,  # noqa: S603 - our own program
        ):
            while self.left:
                try:
                    return self._ended_well(process.wait(self._random.uniform(0, LONGEST_LIFE)))
                except subprocess.TimeoutExpired:
                    self.left -= 1
                if self._random.random() < 0.5:
                    process.kill()
                    return False
                self._restart_node()
            return self._ended_well(process.wait(PATIENCE))

    def _ended_well(self, code: int) -> bool:
        assert code == 0, (self.folder.parent / "told").read_text()
        return True

    def _restart_node(self) -> None:
        self._node.process.kill()
        self._node.__exit__()
        self._node = NodeProcess(*self._words)

    def finish(self) -> None:
        """Until the node serves the whole past, and has every block of the peer."""
        wanted = recorded_answers(NAME, HEIGHT)["get_ops_in_block"][1, False]
        deadline = time.monotonic() + PATIENCE
        first = ""
        while first != wanted or self._node.head < HEIGHT:
            assert time.monotonic() < deadline, self._node.log
            time.sleep(LOOK_SECONDS / 5)
            answer = self._node.call("operation_history", "get_ops_in_block", 1, False)
            first = wanted if [each["op"][0] for each in answer] else ""
        assert self._node.call("database_api", "get_block", 1)["previous"] == "0" * 40
        assert "Traceback" not in self._node.log
        assert self._node.stop() == 0

    def close(self) -> None:
        self._node.__exit__()


def test_whoever_is_killed_the_past_is_whole_in_the_end(tmp_path: Path) -> None:
    made, others, random = tmp_path / "made", tmp_path / "others", Random(os.urandom(4))  # noqa: S311 - moments
    born_of_snapshot(made, NAME, SNAPSHOT, SNAPSHOT + 50)
    shutil.rmtree(made / ARCHIVE)
    write_archive(others, recorded_blocks(NAME)[:SNAPSHOT], 25)
    left = KILLS
    while left > 0:
        folder = tmp_path / "round" / "node"
        shutil.copytree(made, folder)
        with ExitStack() as opened:
            peer = Serving(recorded_blocks(NAME)[:HEIGHT])
            opened.callback(peer.stop)
            server = opened.enter_context(served(others))
            kills = min(left, KILLS_A_ROUND)
            one = Round(folder, peer, random, kills)
            opened.callback(one.close)
            one.work("archive", "fetch", server.url)
            one.work("history", "extend")
            one.finish()
            left -= max(1, kills - one.left)
        is_as_recorded(folder)
        shutil.rmtree(folder.parent)


def is_as_recorded(folder: Path) -> None:
    with closed_view(folder) as view:
        assert view.head_number == HEIGHT
        for (number, only_virtual), text in recorded_answers(NAME, HEIGHT)["get_ops_in_block"].items():
            assert shown_operations(view, number, only_virtual=only_virtual) == text
        for question, answer in recorded_histories(NAME).items():
            assert_recorded(view, question, answer)
