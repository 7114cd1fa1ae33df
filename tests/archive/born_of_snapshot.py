"""A node as a process that began with a snapshot, a peer that has ever more blocks, and the commands that give the node
its past, any of which may be killed at any moment.
"""

from __future__ import annotations

import http.client
import json
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from random import Random
from typing import NamedTuple, Self

from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.chain.log.rolling import RollingBlockLogReader
from tests.chain.replays import copy_replayed
from tests.history.histories import recorded_histories
from tests.history.test_recorded_histories import RESULT
from tests.node.killing import Serving
from tests.node.processes import LOOPBACK, UNYIELDING, NodeProcess, run_to_end
from tests.patience import PATIENCE
from tests.recorded import ANSWERED, recorded_blocks

NAME, SNAPSHOT, BEGINNING = "open-pm2", 200, 260
"""The chain, the block of the snapshot, and so many blocks the peer has in the beginning."""
HEIGHT = ANSWERED[NAME]
GROWTH = 3
"""So many blocks come at a time."""
LOOK_SECONDS = 0.02
PLUGINS = "plugin = database_api operation_history account_history\n"

Words = Sequence[str]
Answers = dict[str, bytes]


class Kills(NamedTuple):
    """How many, and what chooses the moments."""

    most: int
    random: Random
    seconds: dict[str, float]
    """How long each command takes without a kill."""


def make_snapshot(folder: Path) -> Path:
    """The snapshot of the chain, made by a node that has all of it."""
    whole, snapshot = folder / "whole", folder / "begin.vizjson"
    copy_replayed(NAME, SNAPSHOT, whole)
    made = run_to_end("snapshot", "export", "--data-dir", str(whole), "--chain=testnet", str(snapshot), folder=folder)
    assert made.returncode == 0, made.stderr
    shutil.rmtree(whole)
    return snapshot


class BornOfSnapshot:
    """The node, until its past is whole."""

    def __init__(self, folder: Path, snapshot: Path) -> None:
        self.folder = folder
        self._common = ("--data-dir", str(folder), "--chain=testnet")
        made = run_to_end("snapshot", "import", *self._common, str(snapshot), folder=folder.parent)
        assert made.returncode == 0, made.stderr
        (folder / "config.ini").write_text(PLUGINS)
        self._height = BEGINNING
        self._peer = Serving(recorded_blocks(NAME)[:BEGINNING])
        self._words = (*self._common, *LOOPBACK, f"--p2p-seed-node=127.0.0.1:{self._peer.endpoint.port}")
        self.node = NodeProcess(*self._words)
        self.seconds: dict[str, float] = {}
        self.kills = 0
        self._wait(lambda: self.node.head == BEGINNING and self._has_log())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.node.__exit__()
        self._peer.stop()

    def _has_log(self) -> bool:
        log = RollingBlockLogReader.open(self.folder / STATE_FOLDER)
        try:
            return log.head_number > 0
        finally:
            log.close()

    def _wait(self, is_there: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE
        while not is_there():
            assert time.monotonic() < deadline, self.node.log
            time.sleep(LOOK_SECONDS)

    def grow(self, count: int = GROWTH) -> None:
        """The peer has new blocks."""
        new = recorded_blocks(NAME)[self._height : min(HEIGHT, self._height + count)]
        self._peer.grow(new)
        self._height += len(new)

    def wait_until_in_step(self) -> None:
        """Until the node has what the peer has."""
        self._wait(lambda: self.node.head == self._height)

    def wait_for_block(self, number: int) -> None:
        """Until the node gives a block of its past; a kept answer that has none is dropped soon after it is there."""
        self._wait(lambda: self.node.call("database_api", "get_block", number) is not None)

    def work(self, *words: str, kills: Kills | None = None, paused: Path | None = None) -> None:
        """Run a command to its end, however often it or the node is killed.

        It stands still once where a path is named: when that is there, until the node has taken in further blocks.
        """
        began = time.monotonic()
        while not self._has_ended(words, kills, paused):
            pass
        self.seconds[words[0]] = time.monotonic() - began

    def _has_ended(self, words: Words, kills: Kills | None, paused: Path | None) -> bool:
        told = self.folder.parent / "told"
        with (
            told.open("wb") as output,
            subprocess.Popen([*UNYIELDING, *words, *self._common], stdout=output, stderr=output) as process,  # noqa: S603 - ours
        ):
            if paused is not None:
                self._pause(process, paused)
            while kills is not None and self.kills < kills.most:
                self.grow()
                try:
                    process.wait(kills.random.uniform(0, kills.seconds[words[0]]))
                    break
                except subprocess.TimeoutExpired:
                    self.kills += 1
                which = kills.random.choice(("command", "node", "both"))
                if which != "command":
                    self._restart_node()
                if which != "node":
                    process.kill()
                    return False
            assert process.wait(PATIENCE) == 0, told.read_text()
        assert "Traceback" not in told.read_text()
        return True

    def _pause(self, process: subprocess.Popen[bytes], path: Path) -> None:
        self._wait(path.exists)
        process.send_signal(signal.SIGSTOP)
        assert process.poll() is None
        self.grow()
        self.wait_until_in_step()
        process.send_signal(signal.SIGCONT)

    def _restart_node(self) -> None:
        assert "Traceback" not in self.node.log
        self.node.process.kill()
        self.node.__exit__()
        self.node = NodeProcess(*self._words)

    def finish(self) -> Answers:
        """What the node answers when it has every block of the peer, and its history begins with the first block."""
        self.grow(HEIGHT)
        self.wait_until_in_step()
        self._wait(lambda: self.node.call("operation_history", "get_ops_in_block", 1, False) != [])
        answers = dict(self._answers())
        assert self.node.stop() == 0
        assert "Traceback" not in self.node.log
        return answers

    def _answers(self) -> Iterator[tuple[str, bytes]]:
        """Every answer about blocks and history, as it comes over the line; errors have the time in them."""
        numbers = range(HEIGHT + 2)
        asked = [question for question, answer in recorded_histories(NAME).items() if answer.startswith(RESULT)]
        questions = [
            *(("database_api", "get_block", [number]) for number in numbers),
            *(("database_api", "get_block_header", [number]) for number in numbers),
            *(
                ("operation_history", "get_ops_in_block", [number, real])
                for number in numbers
                for real in (True, False)
            ),
            *(("account_history", "get_account_history", [*question]) for question in asked),
        ]
        connection = http.client.HTTPConnection("127.0.0.1", self.node.port(), timeout=PATIENCE)
        with ExitStack() as opened:
            opened.callback(connection.close)
            for question in questions:
                body = json.dumps({"jsonrpc": "2.0", "method": "call", "params": question, "id": 1})
                connection.request("POST", "/", body)
                yield json.dumps(question), connection.getresponse().read()
