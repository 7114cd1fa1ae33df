"""Replicas of a running node: they follow its blocks, over kills of the process that serves them."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from ledgerd.replica.settings import StreamSettings, read_stream_place
from tests.node.processes import NodeProcess, words_of_testnet
from tests.replica.nodes import RunningReplica, assert_equal


def test_a_replica_follows_a_running_node_over_a_kill_of_the_process_that_serves_it(tmp_path: Path) -> None:
    place = f"unix:{tmp_path / 'socket'}"
    words = words_of_testnet(tmp_path / "node", f"--state-stream-endpoint={place}")
    with NodeProcess(*words) as node:
        node.wait_for("changes of the state are sent at")
        with RunningReplica(StreamSettings(read_stream_place(place)), tmp_path / "replica") as replica:
            first = replica.wait_for(lambda status: status.is_sound and status.head > 0)
            for child in children_of(node.process.pid, b"replica_server"):
                os.kill(child, signal.SIGKILL)
            replica.wait_for(lambda status: bool(status.problem))
            later = replica.wait_for(lambda status: status.head > first.head + 1 and not status.problem)
            assert later.behind <= 1
            assert node.stop() == 0
            replica.wait_for(lambda status: bool(status.problem))
    assert "the process that serves replicas" in node.log
    assert_equal(tmp_path / "node" / "state", tmp_path / "replica" / "state")


def children_of(parent: int, what: bytes) -> list[int]:
    """The child processes whose command names something."""
    found = [int(each) for each in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]
    return [each for each in found if what in Path(f"/proc/{each}/cmdline").read_bytes()]
