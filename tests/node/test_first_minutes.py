"""From nothing to a node that follows: `ledgerd init`, a snapshot of a trusted peer, in step, in a network whose nodes
keep the last blocks only.
"""

from __future__ import annotations

from pathlib import Path

from tests.node.processes import LOOPBACK, NodeProcess, run_to_end
from tests.node.testnet.born_of_snapshots import Shape, born_of_snapshots, words_of_newcomer

STEPS = (
    "no state yet: asking 1 trusted peers for a snapshot",
    " has the snapshot of block ",
    "downloading the snapshot of block ",
    "fetching the snapshot: 1 of 1 MB",
    "importing the state of block ",
    "importing: record ",
    "checking the imported state: check ",
    "=== P2P Snapshot Sync complete",
    "DLT P2P node started, connecting to 2 seed nodes",
    "in step with the network at block ",
)
"""What the log says, in this order."""


def test_a_newcomer_is_told_every_step_from_nothing_to_the_head(tmp_path: Path) -> None:
    shape = Shape(nodes=2, every=5, kept=30)
    with born_of_snapshots(tmp_path / "network", shape) as serving:
        serving.wait_until(lambda head: serving.snapshots(1) == 1 and serving.network.watch.head == head)
        data = tmp_path / "newcomer"
        done = run_to_end(*words_of_newcomer(serving, data), folder=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.splitlines()[-2:] == ["nothing is wrong.", f"Next: ledgerd --data-dir {data}"]
        with NodeProcess("--data-dir", str(data), *LOOPBACK, "--snapshot-serve-endpoint=127.0.0.1:0") as node:
            node.wait_for(STEPS[-1])
            told = [next(number for number, line in enumerate(node.lines) if step in line) for step in STEPS]
            assert node.stop() == 0
    assert told == sorted(told)
