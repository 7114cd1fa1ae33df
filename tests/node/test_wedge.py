"""A real node in a dead end, as no peer has the blocks that it needs: it starts again with a snapshot of trusted peers,
also when it is killed in the middle of that.
"""

from __future__ import annotations

import re
import shutil
import signal
from pathlib import Path

import pytest

from ledgerd.chain.chain import Chain
from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.cli import main as ledgerd
from ledgerd.history.settings import HISTORY_FOLDER
from ledgerd.node.parts.watching.recovery.part import read_incidents
from ledgerd.node.testnet.founding import SMALL, copy_chain
from ledgerd.node.testnet.network import LocalNetwork, LocalNetworkSettings, prepare
from ledgerd.node.testnet.plan import HOST, Plan, write_secret
from ledgerd.p2p.sync.survey import FAR_BLOCKS
from ledgerd.protocol.constants import BLOCK_INTERVAL
from ledgerd.protocol.networks.chain_file import load_parameters
from ledgerd.snapshot.file.directory import name_of
from tests.node.forking import copied_children
from tests.node.processes import LOOPBACK, PROGRAM, NodeProcess
from tests.ports import free_port

SETTINGS = LocalNetworkSettings(nodes=2, validators=21, block_time=0.1)
"""Thirty times as fast as the clock of the machine: the five minutes of the rule are 10 seconds."""
AHEAD = FAR_BLOCKS + 30


def go_on(plan: Plan, folder: Path, count: int) -> int:
    """Make blocks that only this folder has; the number of the last one."""
    with Chain.open(folder, load_parameters(plan.chain_file), clock=lambda: 0.0, space=SMALL) as chain:
        for _ in range(count):
            when = chain.head_time + BLOCK_INTERVAL
            name = chain.scheduled_at(chain.slot_at(when))
            chain.push_block(chain.generate_block(when, name, plan.keys.key_of(name)), commit=False).or_raise()
        chain.commit()
        return chain.head_number


def begin_with(plan: Plan, folder: Path, file: Path) -> None:
    """Put the state of a snapshot in the place of what a node has, and the file where it serves it from."""
    for each in (STATE_FOLDER, HISTORY_FOLDER):
        shutil.rmtree(folder / each)
    assert ledgerd(["snapshot", "import", "--data-dir", str(folder), "--chain", str(plan.chain_file), str(file)]) == 0
    (folder / "snapshots").mkdir()
    shutil.copy(file, folder / "snapshots" / file.name)


def serve_snapshots(plan: Plan) -> list[int]:
    """Have every node serve what it has; their ports."""
    ports = [free_port() for _ in plan.members]
    for member, port in zip(plan.members, ports, strict=True):
        served = f"snapshot-dir = {member.folder}/snapshots\nallow-snapshot-serving = true\n"
        served += f"snapshot-serve-endpoint = {HOST}:{port}\n"
        config = member.config.read_text(encoding="utf-8").replace("plugin = chain", f"{served}plugin = snapshot chain")
        write_secret(member.config, config)
    return ports


@pytest.fixture
def stranded(tmp_path: Path) -> tuple[Plan, Path, int]:
    """A network that has begun with a snapshot, and a node that stands far below that: its folder and its head."""
    plan = prepare(tmp_path / "network", SETTINGS)
    first = plan.members[0].folder
    left = tmp_path / "left"
    left.mkdir()
    copy_chain(first, left)
    head = go_on(plan, first, AHEAD)
    file = tmp_path / name_of(head)
    assert ledgerd(["snapshot", "export", "--data-dir", str(first), "--chain", str(plan.chain_file), str(file)]) == 0
    for member in plan.members:
        begin_with(plan, member.folder, file)
    return prepare(tmp_path / "network", SETTINGS), left, head


def test_a_node_that_no_peer_can_serve_starts_again_although_it_is_killed_on_the_way(
    stranded: tuple[Plan, Path, int],
) -> None:
    plan, left, head = stranded
    ports = serve_snapshots(plan)
    words = (
        *("--data-dir", str(left), "--chain", str(plan.chain_file), "--plugin", "snapshot database_api"),
        *(f"--p2p-seed-node={HOST}:{each.p2p_port}" for each in plan.members),
        *(f"--trusted-snapshot-peer={HOST}:{port}" for port in ports),
        *("--auto-resync-on-wedge", "--p2p-isolated-peers", *LOOPBACK),
    )
    with copied_children(), LocalNetwork(plan, PROGRAM) as network:
        network.start()
        with NodeProcess(*words) as node:
            node.wait_for("wedged: fetch a snapshot")
            node.wait_for("reading ")
            assert node.stop(signal.SIGKILL) == -signal.SIGKILL
        assert re.search(rf"WEDGED at block {head - AHEAD}: (1[4-9]|2[01]) validators have signed", node.log)
        (incident,) = read_incidents(left / STATE_FOLDER)
        assert incident.unfinished

        with NodeProcess(*words) as node:
            node.wait_for("fetch a snapshot: cut off by the end of the node, begins again")
            node.wait_for(f"peers confirm block {head}")
            node.wait_for("in step again at block ")
            assert node.stop() == 0
    with Chain.open(left, load_parameters(plan.chain_file), clock=lambda: 0.0, space=SMALL) as chain:
        assert chain.head_number > head
    (incident,) = read_incidents(left / STATE_FOLDER)
    assert (incident.is_over, len(incident.steps), incident.cut_off) == (True, 3, 1)
