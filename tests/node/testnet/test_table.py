"""The status table of a local network."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

from ledgerd.node.testnet.network import LocalNetwork
from ledgerd.node.testnet.plan import new_keys, plan_of
from ledgerd.node.testnet.table import COLUMNS, headline, line, rows, table
from tests.node.testnet.test_watch import sight
from tests.supervision.clocks import Clock


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def network(tmp_path: Path, clock: Clock) -> Iterator[LocalNetwork]:
    """Two nodes, of which one ends at once: its program is none."""
    plan = plan_of(tmp_path, new_keys(2, 3))
    for member in plan.members:
        member.folder.mkdir()
    with LocalNetwork(plan, (sys.executable, "-c", "raise SystemExit('no node')"), clock) as network:
        yield network


def test_a_network_that_nobody_has_seen_yet(network: LocalNetwork) -> None:
    assert headline(network) == "no node answers yet"
    assert [row[:2] for row in rows(network)] == [("node-1", "stopped"), ("node-2", "stopped")]


def test_a_row_tells_how_a_node_is(network: LocalNetwork) -> None:
    network.watch.statuses = [sight(9, 5), sight(9, 5)]

    port = network.plan.members[0].http_port
    assert rows(network)[0] == (
        "node-1",
        "stopped",
        "9",
        "5",
        "forward",
        "1",
        "2",
        "0",
        "0",
        str(port),
    )
    assert headline(network) == "block 9 by validator-01, irreversible 5, hardfork 3.2.0, all on one head"


def test_a_node_that_has_died_is_shown_with_its_last_words(network: LocalNetwork, clock: Clock) -> None:
    process = network.processes[0]
    process.start()
    process.wait()

    assert process.has_died
    assert rows(network)[0][1] == "died (1)"
    assert "died (1)" in line(network)
    assert process.last_words() == "no node"
    assert network.restart_dead() == []
    clock.now += 1
    assert network.restart_dead() == [process]
    assert process.restarts == 1


def test_heads_that_differ_and_faults_are_named(network: LocalNetwork) -> None:
    network.watch.statuses = [sight(9, 5), sight(9, 5, "ff")]
    network.watch.faults = ["something irreversible was lost"]

    assert "2 different heads; FAULT: something irreversible was lost" in line(network)


def test_the_table_fits_a_terminal_of_80_columns(network: LocalNetwork) -> None:
    network.watch.statuses = [sight(1_234_567, 1_234_550), None]
    network.processes[1].start()
    network.processes[1].wait()
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(table(network))
    shown = console.export_text()

    assert all(word in shown for word in COLUMNS)
    assert all(cell in shown for row in rows(network) for cell in row)
