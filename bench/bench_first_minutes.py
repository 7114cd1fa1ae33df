"""From nothing to a node that follows, by steps: a package, `ledgerd init`, the snapshot of a trusted peer, in step.

The network is like the real one: four nodes that began with a snapshot and keep the last blocks only. They run on the
same processors, with a block every `BLOCK_TIME` seconds. `ACCOUNTS` is how many the state has. `PROGRAM` names the zip
of a release, which is unpacked and measured in place of this checkout.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from bench.nodes import start_node
from ledgerd.chain.chain import Chain
from ledgerd.node.testnet.plan import Plan
from tests.chain.crowds import populate_chain
from tests.node import processes
from tests.node.processes import LOOPBACK
from tests.node.testnet.born_of_snapshots import Serving, Shape, born_of_snapshots, words_of_newcomer

ACCOUNTS = int(os.environ.get("ACCOUNTS", "20000"))
BLOCK_TIME = float(os.environ.get("BLOCK_TIME", "0.25"))
BEHIND = 250
"""Blocks that a newcomer has to fetch, at least."""
SHAPE = Shape(nodes=4, block_time=BLOCK_TIME, kept=2_000, every=100)
STEPS = {
    "start": "no state yet: asking ",
    "find a snapshot": "downloading the snapshot of block ",
    "fetch and compare it": "importing the state of block ",
    "import and check it": "=== P2P Snapshot Sync complete",
    "catch up": "in step with the network at block ",
}
"""What the log says at the end of each."""


class Walk(NamedTuple):
    """One walk: what each step took, and what the node had said."""

    seconds: dict[str, float]
    lines: list[str]
    blocks: int


def main() -> None:
    """Print the steps of one walk."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        with born_of_snapshots(folder / "network", SHAPE, _grow) as serving:
            at = serving.wait_until(lambda _: serving.snapshots(1) == len(serving.snapshot_peers))
            serving.wait_until(lambda head: head >= at + BEHIND)
            _print(_walked(serving, folder))


def _grow(chain: Chain, _plan: Plan) -> None:
    populate_chain(chain, ACCOUNTS)


def _walked(serving: Serving, folder: Path) -> Walk:
    seconds, began = dict[str, float](), perf_counter()

    def ended(step: str) -> None:
        nonlocal began
        now = perf_counter()
        seconds[step], began = now - began, now

    program: tuple[str, ...] = processes.PROGRAM
    if archive := os.environ.get("PROGRAM"):
        program = _unpacked(Path(archive), folder)
        ended("unpack the package")
    data = folder / "newcomer"
    words = (*program, *words_of_newcomer(serving, data))
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - our own program
    ended("ledgerd init")
    listens = ("--data-dir", str(data), *LOOPBACK[:-1], "--snapshot-serve-endpoint=127.0.0.1:0")
    with start_node(*listens, program=program) as node:
        for step, line in STEPS.items():
            node.wait_for(line)
            ended(step)
        first, last = _blocks(node.lines)
        node.port()
        ended("begin to answer")
        return Walk(seconds, [*node.lines], last - first)


def _unpacked(archive: Path, folder: Path) -> tuple[str, ...]:
    with zipfile.ZipFile(archive) as files:
        for each in files.infolist():
            place = Path(files.extract(each, folder))
            place.chmod(each.external_attr >> 16 or 0o644)
    return (str(folder / "ledgerd" / "ledgerd"),)


def _blocks(lines: list[str]) -> tuple[int, int]:
    """The block of the snapshot, and the one at which the node was in step."""
    found = [next(line for line in lines if STEPS[step] in line) for step in ("fetch and compare it", "catch up")]
    first, last = (int(line.rpartition(" ")[2]) for line in found)
    return first, last


def _print(walk: Walk) -> None:
    print(f"  {ACCOUNTS:,} accounts, {walk.blocks} blocks to fetch, {SHAPE.nodes} nodes on {os.cpu_count()} processors")
    for step, seconds in walk.seconds.items():
        print(f"  {step:24}{seconds:7.1f} s")
    print(f"  {'all of it':24}{sum(walk.seconds.values()):7.1f} s")
    for line in _shown(walk.lines):
        print(f"    {line}", file=sys.stderr)


def _shown(lines: list[str]) -> Iterator[str]:
    """What the node said until it was in step, without the place in the code."""
    for line in lines:
        yield line.partition("] ")[2] or line
        if STEPS["catch up"] in line:
            return


if __name__ == "__main__":
    main()
