"""Processes that are started just as their node is killed: they end without a word."""

from __future__ import annotations

import socket
import subprocess
import sys

import msgspec
import pytest

from ledgerd.supervision.orders import order_of

WORKERS = (
    "ledgerd.rpc.worker",
    "ledgerd.snapshot.job",
    "ledgerd.node.workers.precompute_worker",
    "ledgerd.node.workers.beside.explorer_worker",
    "ledgerd.node.workers.beside.history_feeder",
    "ledgerd.node.workers.beside.replica_follower",
    "ledgerd.node.workers.beside.replica_server",
    "ledgerd.node.workers.beside.webhook_worker",
)


class Order(msgspec.Struct):
    name: str


@pytest.mark.parametrize("said", [b"", b'{"'])
@pytest.mark.parametrize("module", WORKERS)
def test_a_process_that_is_told_nothing_or_a_part_ends_without_a_word(module: str, said: bytes) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.sendall(said)
        ours.shutdown(socket.SHUT_WR)
        ended = subprocess.run(  # noqa: S603 - ourselves
            [sys.executable, "-m", module],
            stdin=theirs.fileno(),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert (ended.stdout, ended.stderr) == ("", "")
    assert ended.returncode in {0, 1}


def test_an_order_is_read_and_a_wrong_one_is_a_fault_of_ours() -> None:
    assert order_of(b'{"name": "alice"}', Order) == Order("alice")
    with pytest.raises(msgspec.ValidationError):
        order_of(b'{"name": 1}', Order)
    with pytest.raises(SystemExit):
        order_of(b'{"name": "al', Order)
