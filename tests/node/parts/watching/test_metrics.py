"""A node with `metrics-endpoint`: what it serves there, whom it answers, and what a killed worker changes."""

from __future__ import annotations

import asyncio
import http.client
import os
import re
import signal
import socket
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from prometheus_client import Metric
from prometheus_client.openmetrics.parser import text_string_to_metric_families as read_openmetrics
from prometheus_client.parser import text_string_to_metric_families as read_plain

from ledgerd.metrics.table import FAMILIES
from ledgerd.node.config.configuration import read_configuration
from ledgerd.node.parts.watching.metrics import MOST_OF_ADDRESS
from ledgerd.node.runtime import Runtime
from scripts.chromium import Chromium
from tests.node.configurations import problems
from tests.node.processes import PROGRAM, NodeProcess, in_haste, words_of_testnet
from tests.node.test_supervision import until, workers_of
from tests.patience import PATIENCE

SERVED = re.compile(r"metrics are served on 127\.0\.0\.1:(\d+)")
REQUESTS = "ledgerd_rpc_requests_total"
METHOD = "database_api.get_dynamic_global_properties"

Values = dict[tuple[str, ...], float]


class MeteredNode:
    """A node, and its metrics."""

    def __init__(self, node: NodeProcess) -> None:
        self.node = node
        node.wait_for("metrics are served on")
        self.port = next(int(found[1]) for line in node.lines if (found := SERVED.search(line)))

    def get(self, path: str = "/metrics", **headers: str) -> tuple[int, str, str]:
        """Status, type and text of an answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request("GET", path, headers=headers)
            answer = connection.getresponse()
            return answer.status, answer.headers["Content-Type"], answer.read().decode()
        finally:
            connection.close()

    def values(self) -> Values:
        """The samples, by name and values of labels."""
        families: Iterable[Metric] = read_plain(self.get()[2])
        return {(each.name, *each.labels.values()): each.value for family in families for each in family.samples}


@contextmanager
def metered(folder: Path, *more: str, program: Sequence[str] | None = None) -> Iterator[MeteredNode]:
    words = [*words_of_testnet(folder, in_haste(folder)), "--metrics-endpoint=127.0.0.1:0", *more]
    with NodeProcess(*words, program=program) as node:
        yield MeteredNode(node)
        assert node.stop() == 0


def test_a_node_serves_every_family_in_both_formats_and_refuses_other_hosts(tmp_path: Path) -> None:
    with metered(tmp_path) as served:
        served.node.wait_for("Validated block #2 ")
        served.node.call("database_api", "get_dynamic_global_properties")
        until(lambda: (REQUESTS, METHOD, "ok") in served.values(), "the request is never counted")
        until(lambda: served.values()["ledgerd_chain_applied_blocks_total",] >= 2, "blocks are never counted")
        until(lambda: ("ledgerd_rpc_workers",) in served.values(), "workers are never counted")
        status, kind, text = served.get(Accept="application/openmetrics-text;version=1.0.0")
        parse: Callable[[str], Iterable[Metric]] = read_openmetrics
        names = {each.name for each in parse(text)}
        refused, _, why = served.get(Host="evil.example")
        missing = served.get("/nothing")[0]
        shadow = served.get("/shadow")
        strange = served.get("/shadow", Host="evil.example")[0]
        values = served.values()

    assert (status, kind.partition(";")[0]) == (200, "application/openmetrics-text")
    assert names == {family.name.removesuffix("_total") for family in FAMILIES}
    assert (refused, missing) == (403, 400)
    assert "webserver-allowed-origins" in why
    assert (shadow[0], strange) == (200, 403)
    assert "This node has no shadow" in shadow[2]
    assert values["ledgerd_rpc_workers",] == 1.0
    assert values["ledgerd_process_resident_memory_bytes", "main"] > 1e6
    assert values["ledgerd_storage_bytes", "state"] > 0
    assert values["ledgerd_chain_commit_seconds_count",] >= 2


def test_the_operator_s_page_is_served_there_and_followed(tmp_path: Path) -> None:
    with metered(tmp_path) as served, Chromium() as browser:
        tab = browser.open(f"http://127.0.0.1:{served.port}/")
        tab.wait_for("/[0-9]/.test(document.getElementById('head').textContent)")
        tab.wait_for("document.getElementById('lines').textContent.includes('Validated block #')")
        assert tab.text("#connection") == "live"
        before = int(tab.text("#head"))
        tab.wait_for(f"Number(document.getElementById('head').textContent) > {before}")
        assert not tab.evaluate("document.getElementById('operator').hidden")
        assert served.get(Host="evil.example", path="/")[0] == 403
        assert served.get(Origin="https://evil.example", path="/")[0] == 403
        answer = served.node.call("operator_api", "follow", 0)
        assert "message" in answer, "the endpoint for everybody has it"


def test_a_worker_that_is_killed_takes_no_count_along(tmp_path: Path) -> None:
    with metered(tmp_path, program=PROGRAM) as served:
        served.node.call("database_api", "get_config")
        [worker] = [each for each in workers_of(served.node) if serves_clients(served.node, each)]
        asked = ("ledgerd_rpc_bytes_total", "sent")
        before = served.values()
        served.node.call("database_api", "get_config")
        until(lambda: served.values()[asked] > before[asked], "the bytes are never counted")
        before = served.values()
        os.kill(worker, signal.SIGKILL)
        until(lambda: served.values()["ledgerd_rpc_worker_starts_total",] == 2.0, "no other worker is started")
        counted = {name for name in before if name[0].startswith("ledgerd_rpc_")}
        until(lambda: counted <= set(served.values()), "the other worker does not report all")
        after = served.values()

    went_back = {
        name
        for name, value in before.items()
        if name[0].endswith(("_total", "_count", "_bucket")) and after.get(name, value) < value
    }
    assert went_back - {("ledgerd_process_cpu_seconds_total", "api-0")} == set()
    assert before[asked] > 0


def serves_clients(node: NodeProcess, process: int) -> bool:
    """Whether a worker process has the sockets of JSON-RPC."""
    inodes = {
        words[9]
        for line in Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:]
        if (words := line.split())[1].endswith(f":{node.port():04X}") and words[3] == "0A"
    }
    held = {str(each.readlink()) for each in Path(f"/proc/{process}/fd").iterdir()}
    return any(f"socket:[{inode}]" in held for inode in inodes)


def test_an_address_has_no_more_connections_than_the_bound(tmp_path: Path) -> None:
    plugs: list[socket.socket] = []
    with metered(tmp_path) as served:
        try:
            for _ in range(MOST_OF_ADDRESS + 4):
                plugs.append(socket.create_connection(("127.0.0.1", served.port), timeout=PATIENCE))
                plugs[-1].sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
                assert plugs[-1].recv(1 << 16)
            until(lambda: sum(not is_closed(each) for each in plugs) <= MOST_OF_ADDRESS, "too many stay open")
            assert not is_closed(plugs[-1])
            assert served.get()[0] == 200
        finally:
            for plug in plugs:
                plug.close()


def is_closed(plug: socket.socket) -> bool:
    plug.setblocking(False)
    try:
        return plug.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionError:
        return True


def test_without_the_option_nothing_is_served_and_no_process_is_started(tmp_path: Path) -> None:
    with NodeProcess(*words_of_testnet(tmp_path), program=PROGRAM) as node:
        node.port()
        assert len(workers_of(node)) == 1
        assert node.stop() == 0

    assert "metrics are served" not in node.log


@pytest.mark.parametrize("wrong", ["nothing", "127.0.0.1", "127.0.0.1:65536", "127.0.0.1:x"])
def test_a_wrong_endpoint_is_told_with_the_option(tmp_path: Path, wrong: str) -> None:
    (problem,) = problems(tmp_path, f"metrics-endpoint = {wrong}")

    assert problem.startswith("FILE:1: metrics-endpoint")


def test_a_port_that_is_taken_ends_the_node_with_the_reason(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as plug:
        port = plug.getsockname()[1]
        with NodeProcess(*words_of_testnet(tmp_path), f"--metrics-endpoint=127.0.0.1:{port}") as node:
            assert node.wait() != 0

    assert (
        f"cannot listen on 127.0.0.1:{port}: Address already in use: choose another address for metrics-endpoint"
        in node.log
    )


def test_a_node_that_is_stopped_twice_gives_its_memory_back_once(tmp_path: Path) -> None:
    given = {"data-dir": [str(tmp_path)], "chain": ["testnet"], "metrics-endpoint": ["127.0.0.1:0"]}

    async def scene() -> None:
        runtime = Runtime(read_configuration(given, tmp_path))
        starting = asyncio.ensure_future(runtime.start())
        await asyncio.sleep(0)
        starting.cancel()
        await asyncio.wait([starting])
        await runtime.stop()

    asyncio.run(scene())
