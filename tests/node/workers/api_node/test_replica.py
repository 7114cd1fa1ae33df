"""An API node that follows a node: what it answers before, while and after, over kills, TLS, and with another chain."""

from __future__ import annotations

import http.client
import json
import os
import re
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ledgerd.chain.log.files import STATE_FOLDER
from ledgerd.node.workers.api_node.source import REFUSED
from ledgerd.replica.process import NO_STATE
from tests.node.parts.clients.test_replicas import children_of
from tests.node.processes import NodeProcess, words_of_testnet
from tests.patience import PATIENCE
from tests.ports import free_port
from tests.replica.nodes import assert_equal
from tests.signer.certificates import Certificates

METRICS = re.compile(r"metrics are served on 127\.0\.0\.1:(\d+)")
UP_TO_DATE = (
    re.compile(r"^ledgerd_replica_blocks_behind [01](\.0)?$", re.MULTILINE),
    re.compile(r"^ledgerd_replica_served 1(\.0)?$", re.MULTILINE),
)
FOLLOWER = b"replica_follower"
SILENT = ("--enable-stale-production=false", "--required-participation=10000")
"""A node of these makes no block: nobody else has made one lately."""


def api_words(folder: Path, place: str, *more: str, chain: str = "testnet") -> tuple[str, ...]:
    words = ("api", "--data-dir", str(folder), "--http", "127.0.0.1:0", "--workers", "1", "--chain", chain)
    return (*words, "--follow", place, *more)


def page(port: int, path: str) -> tuple[int, str]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def ready(port: int) -> tuple[int, Any]:
    status, text = page(port, "/ready")
    return status, json.loads(text)


def wait_until(is_so: Callable[[], bool], *processes: NodeProcess) -> None:
    until = time.monotonic() + PATIENCE
    while not is_so():
        assert time.monotonic() < until, "\n\n".join(each.log for each in processes)
        time.sleep(0.05)


def are_equal(node: Path, replica: Path) -> bool:
    try:
        assert_equal(node, replica)
    except AssertionError:
        return False
    return True


def test_it_answers_once_the_state_is_there_and_goes_on_after_a_kill_of_what_follows(tmp_path: Path) -> None:
    place = f"unix:{tmp_path / 'socket'}"
    more = ("--metrics-endpoint", "127.0.0.1:0")
    with NodeProcess(*api_words(tmp_path / "api", place, *more)) as api:
        port = api.port()
        wait_until(lambda: ready(port) == (503, {"ready": False, "reason": NO_STATE}))
        status, text = page(port, "/health")
        assert (status, json.loads(text)["healthy"]) == (503, False)
        assert api.status({}) == 503
        with NodeProcess(*words_of_testnet(tmp_path / "node", f"--state-stream-endpoint={place}")) as node:
            wait_until(lambda: ready(port)[0] == 200, api, node)
            first = api.head
            (follower,) = children_of(api.process.pid, FOLLOWER)
            os.kill(follower, signal.SIGKILL)
            wait_until(lambda: api.head > first + 1, api, node)
            assert [follower] != children_of(api.process.pid, FOLLOWER)
            wait_until(lambda: ready(port)[0] == 200 and ready(port)[1]["blocks_behind"] <= 1, api, node)
            at = next(int(found[1]) for line in api.lines if (found := METRICS.search(line)))
            wait_until(lambda: all(told.search(page(at, "/metrics")[1]) for told in UP_TO_DATE), api, node)
            assert node.stop() == 0
        with NodeProcess(*words_of_testnet(tmp_path / "node", f"--state-stream-endpoint={place}", *SILENT)) as node:
            wait_until(lambda: are_equal(tmp_path / "node" / STATE_FOLDER, tmp_path / "api" / STATE_FOLDER), api, node)
        assert api.stop() == 0


def test_a_node_of_another_chain_is_refused_and_said(tmp_path: Path) -> None:
    place = f"unix:{tmp_path / 'socket'}"
    with NodeProcess(*words_of_testnet(tmp_path / "node", f"--state-stream-endpoint={place}")) as node:
        node.wait_for("changes of the state are sent at")
        with NodeProcess(*api_words(tmp_path / "api", place, chain="mainnet")) as api:
            api.wait_for("the replica is of another chain: give it the --chain of the node")
            port = api.port()
            wait_until(lambda: "the replica is of another chain" in page(port, "/health")[1])
            assert page(port, "/health")[0] == 503
            assert api.stop() == 0


def test_over_tls_both_sides_show_a_certificate(tmp_path: Path) -> None:
    made = Certificates(tmp_path)
    node_side, replica_side = made.signer, made.node
    words = {
        "certificate": node_side.certificate,
        "certificate-key": node_side.certificate_key,
        "authority": node_side.authority,
    }
    more = [f"--state-stream-{name}={path}" for name, path in words.items()]
    port = free_port()
    place = f"tcp://127.0.0.1:{port}"
    ours = (
        ("--follow-certificate", str(replica_side.certificate)),
        ("--follow-certificate-key", str(replica_side.certificate_key)),
        ("--follow-authority", str(replica_side.authority)),
    )
    given = [word for pair in ours for word in pair]
    with (
        NodeProcess(*words_of_testnet(tmp_path / "node", f"--state-stream-endpoint={place}", *more)),
        NodeProcess(*api_words(tmp_path / "api", place, *given)) as api,
    ):
        at = api.port()
        wait_until(lambda: ready(at)[0] == 200)
        assert api.head > 0
        assert REFUSED not in page(at, "/health")[1]
