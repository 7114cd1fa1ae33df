"""The proxies between test nodes forward, delay and reset connections."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from ledgerd.node.testnet.plan import new_keys, plan_of
from tests.node.testnet.wires import Wires
from tests.patience import PATIENCE


@pytest.fixture
def wires() -> Iterator[Wires]:
    with Wires() as wires:
        yield wires


@pytest.fixture
def ends(wires: Wires, tmp_path: Path) -> Iterator[tuple[socket.socket, socket.socket]]:
    """Of a connection that node 1 has made to node 2."""
    plan = plan_of(tmp_path, new_keys(2, 2))
    ports = wires.between(plan)
    with socket.create_server(("127.0.0.1", plan.members[1].p2p_port)) as server:
        server.settimeout(PATIENCE)
        with socket.create_connection(("127.0.0.1", ports[1, 2]), PATIENCE) as near:
            far, _ = server.accept()
            with far:
                far.settimeout(PATIENCE)
                yield near, far


def test_a_wire_forwards_bytes_in_both_directions(ends: tuple[socket.socket, socket.socket]) -> None:
    near, far = ends
    near.sendall(b"there")
    assert far.recv(5) == b"there"
    far.sendall(b"back")
    assert near.recv(4) == b"back"


def test_a_silent_cut_delays_bytes_and_loses_none(wires: Wires, ends: tuple[socket.socket, socket.socket]) -> None:
    near, far = ends
    wires.part((1,), (2,))
    near.sendall(b"late")
    far.setblocking(False)
    with pytest.raises(BlockingIOError):
        far.recv(1)
    far.settimeout(PATIENCE)

    wires.mend()

    assert far.recv(4) == b"late"


def test_a_hard_cut_resets_connections(wires: Wires, ends: tuple[socket.socket, socket.socket]) -> None:
    near, far = ends
    wires.part((1,), (2,), silently=False)

    assert [is_broken(end) for end in (near, far)] == [True, True]


def test_a_partition_leaves_connections_within_a_group(wires: Wires, ends: tuple[socket.socket, socket.socket]) -> None:
    near, far = ends
    wires.part((1, 2), silently=False)

    near.sendall(b"still")
    assert far.recv(5) == b"still"


def is_broken(end: socket.socket) -> bool:
    """Whether a connection has ended, in whichever way the system tells of it."""
    try:
        return end.recv(1) == b""
    except ConnectionError:
        return True
