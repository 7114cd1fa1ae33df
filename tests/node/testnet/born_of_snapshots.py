"""A network like the real one: every node began with a snapshot, and keeps the last blocks only. A newcomer needs a
snapshot of a trusted node, since nobody has the blocks from before.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from ledgerd.chain.chain import Chain
from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.history.settings import HISTORY_FOLDER
from ledgerd.node.testnet.founding import SMALL
from ledgerd.node.testnet.network import LocalNetwork, LocalNetworkSettings, prepare
from ledgerd.node.testnet.plan import HOST, Member, Plan
from ledgerd.protocol.networks.chain_file import load_parameters
from ledgerd.snapshot.file.directory import name_of
from ledgerd.snapshot.file.export import create
from ledgerd.snapshot.importing.build import build_state, read_snapshot
from tests.node.forking import copied_children
from tests.node.processes import PROGRAM
from tests.patience import PATIENCE
from tests.ports import free_port

LOOK_SECONDS = 0.1
SNAPSHOTS = "snapshots"


class Shape(NamedTuple):
    """What the network is like."""

    nodes: int = 3
    validators: int = 1
    """The nodes behind those with validators serve snapshots."""
    block_time: float = 0.5
    kept: int = 60
    """The last blocks that a node keeps; 100,000 in the real network."""
    every: int = 20
    """Blocks between two snapshots."""


class Serving(NamedTuple):
    """A network that runs."""

    plan: Plan
    network: LocalNetwork
    snapshot_peers: tuple[str, ...]

    @property
    def seeds(self) -> tuple[str, ...]:
        return tuple(f"{HOST}:{member.p2p_port}" for member in self.plan.members)

    def wait_until(self, is_so: Callable[[int], bool]) -> int:
        """Return the head when something is so of it."""
        deadline = time.monotonic() + PATIENCE
        while True:
            self.network.watch.inspect()
            if is_so(head := self.network.watch.head):
                return head
            if time.monotonic() > deadline:
                words = "\n".join(each.last_words() for each in self.network.processes)
                raise AssertionError(f"the network stands at block {head}:\n{words}")
            time.sleep(LOOK_SECONDS)

    def snapshots(self, number: int) -> int:
        """How many peers serve one of this block or a later one."""
        folders = [member.folder / SNAPSHOTS for member in self.plan.members]
        newest = [max((each.name for each in folder.glob("*.vizjson")), default="") for folder in folders]
        return sum(each >= name_of(number) for each in newest if each)


@contextmanager
def born_of_snapshots(
    folder: Path, shape: Shape, grow: Callable[[Chain, Plan], None] = lambda *_: None
) -> Iterator[Serving]:
    """Found a network, let its chain grow, give each node the state of a snapshot and no older block, and run it."""
    plan = prepare(folder, LocalNetworkSettings(shape.nodes, shape.validators, shape.block_time))
    network = load_parameters(plan.chain_file)
    source = plan.members[0].folder
    with Chain.open(source, network, clock=time.monotonic, space=SMALL) as chain:
        grow(chain, plan)
        number = chain.head_number
    first = folder / name_of(number)
    create(source / STATE_FOLDER, source / STATE_FOLDER, network, first, 0)
    peers = []
    for member in plan.members:
        for each in (STATE_FOLDER, HISTORY_FOLDER):
            shutil.rmtree(member.folder / each)
        build_state(member.folder / STATE_FOLDER, read_snapshot(first), network, SMALL)
        port = free_port()
        if not member.validators:
            peers.append(f"{HOST}:{port}")
        _configure(member, shape, port)
    with copied_children(), LocalNetwork(plan, PROGRAM) as running:
        running.start()
        serving = Serving(plan, running, tuple(peers))
        serving.wait_until(lambda head: head > number)
        yield serving


def _configure(member: Member, shape: Shape, port: int) -> None:
    lines = [f"dlt-block-log-max-blocks = {shape.kept}"]
    if not member.validators:
        lines += [
            "plugin = snapshot",
            f"snapshot-every-n-blocks = {shape.every}",
            f"snapshot-dir = {member.folder / SNAPSHOTS}",
            "allow-snapshot-serving = true",
            f"snapshot-serve-endpoint = {HOST}:{port}",
            "disable-snapshot-anti-spam = true",
        ]
    member.config.write_text("\n".join(lines) + "\n" + member.config.read_text())


def words_of_newcomer(serving: Serving, data: Path) -> list[str]:
    """What `ledgerd init` is given to join."""
    words = ["init", "--kind", "full", "--chain", str(serving.plan.chain_file), "--data-dir", str(data)]
    words += [f"--seed={each}" for each in serving.seeds]
    return words + [f"--snapshot-peer={each}" for each in serving.snapshot_peers]
