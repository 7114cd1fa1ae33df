"""docs/api-nodes.md: its table has every method that a main process answers, and its nginx serves two API nodes."""

from __future__ import annotations

import http.client
import json
import re
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

from websockets.sync.client import connect

from ledgerd.node.workers.known_methods import EVERY_API
from ledgerd.rpc.call.declarations import Answering
from tests.house.source_tree import ROOT
from tests.node.dev.sending import broadcast, last_operations
from tests.node.processes import NodeProcess, words_of_testnet
from tests.patience import PATIENCE
from tests.ports import free_port
from tests.proxies import haproxy_fault, running_nginx

DOCUMENT = (ROOT / "docs" / "api-nodes.md").read_text(encoding="utf-8")
ADDRESSES = re.compile(r"127\.0\.0\.1:(8080|8190|8191)\b")
HEAD = ("database_api", "get_dynamic_global_properties")
RATE = 100
TRANSFER = {"from": "alice", "to": "bob", "amount": "1.000 VIZ", "memo": ""}


def block(language: str) -> str:
    """The code of a language in the document."""
    (found,) = re.findall(rf"```{language}\n(.*?)```", DOCUMENT, re.DOTALL)
    return str(found)


def test_every_method_of_the_main_process_is_in_the_table() -> None:
    wanted = {method.full_name for api in EVERY_API for method in api if method.answering is not Answering.AT_ONCE}
    table = DOCUMENT.partition("## What only a node can answer")[2].partition("\n## ")[0]

    assert re.findall(r"^\| `([a-z_]+\.[a-z_]+)` \|", table, re.MULTILINE) == sorted(wanted)


def test_the_configuration_of_haproxy_is_sound(tmp_path: Path) -> None:
    assert haproxy_fault(block("haproxy"), tmp_path) == ""
    assert haproxy_fault(block("haproxy").replace("option httpchk", "option httpcheck"), tmp_path) != ""


def test_nginx_of_the_document_serves_two_api_nodes_of_one_node(tmp_path: Path) -> None:
    words = ("dev", "--block-time", "0", "--data-dir", str(tmp_path), "--http", "127.0.0.1:0", "--ws", "127.0.0.1:0")
    with NodeProcess(*words) as node, api_node(tmp_path, node) as first, api_node(tmp_path, node) as second:
        ports = {"8080": free_port(), "8190": first.port(), "8191": second.port()}
        inner = ADDRESSES.sub(lambda found: f"127.0.0.1:{ports[found[1]]}", block("nginx"))
        with running_nginx(inner, ports["8080"]):
            proxy = Proxy(ports["8080"])
            assert proxy.call(*HEAD) == node.call(*HEAD)
            told_of_blocks(proxy, node)
            transfers_reach_the_node(proxy, node)
            clients_are_counted_by_their_own_addresses(proxy)
            second.process.send_signal(signal.SIGKILL)
            second.wait()
            assert [proxy.call(*HEAD, source="127.0.0.9") for _ in range(4)] == [node.call(*HEAD)] * 4
            node.stop()
            assert proxy.call(*HEAD, source="127.0.0.9")["head_block_number"] > 0
            refused = proxy.call("network_broadcast_api", "broadcast_transaction", SOME, source="127.0.0.9")
            assert refused["message"].startswith("The node that takes broadcasts cannot be reached: ")
        assert first.stop() == 0


def test_nginx_of_the_document_serves_two_replicas_while_one_is_killed_and_comes_back(tmp_path: Path) -> None:
    place = f"unix:{tmp_path / 'socket'}"
    ports = {"8080": free_port(), "8190": free_port(), "8191": free_port()}
    inner = ADDRESSES.sub(lambda found: f"127.0.0.1:{ports[found[1]]}", block("nginx"))
    with (
        NodeProcess(*words_of_testnet(tmp_path / "node", f"--state-stream-endpoint={place}")) as node,
        replica(tmp_path / "first", place, ports["8190"]) as first,
        replica(tmp_path / "second", place, ports["8191"]) as second,
        running_nginx(inner, ports["8080"]),
    ):
        proxy = Proxy(ports["8080"])
        for each in (first, second):
            wait_until_ready(each.port())
        reader = Reader(proxy)
        with ExitStack() as again, reader:
            reader.wait_for(RATE // 2)
            second.stop(signal.SIGKILL)
            reader.wait_for(RATE // 2)
            third = again.enter_context(replica(tmp_path / "second", place, ports["8191"]))
            wait_until_ready(third.port())
            reader.wait_for(READS_UNTIL_TRIED_AGAIN)
            first.stop(signal.SIGKILL)
            reader.wait_for(RATE // 2)
        assert reader.failed == []
        assert all(later >= earlier - 1 for earlier, later in pairwise(reader.heads)), "two replicas, a block apart"
        assert node.stop() == 0


@contextmanager
def replica(data_dir: Path, place: str, port: int) -> Iterator[NodeProcess]:
    words = ("--http", f"127.0.0.1:{port}", "--ws", f"127.0.0.1:{port}", "--workers", "1", "--chain", "testnet")
    more = ("--webserver-trusted-proxies", "127.0.0.1", "--webserver-allowed-origins", "*", "--follow", place)
    with NodeProcess("api", "--data-dir", str(data_dir), *words, *more) as made:
        yield made


def wait_until_ready(port: int) -> None:
    until = time.monotonic() + PATIENCE
    while True:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        try:
            connection.request("GET", "/ready")
            if connection.getresponse().status == 200:
                return
        except OSError:  # it does not listen yet
            pass
        finally:
            connection.close()
        assert time.monotonic() < until
        time.sleep(0.05)


READ_SECONDS = 0.01
READS_UNTIL_TRIED_AGAIN = 300
"""They take longer than the `fail_timeout` of the document, after which nginx asks a server again that was down."""


class Reader:
    """A client that reads without a pause, and notes every head and every failure."""

    def __init__(self, proxy: Proxy) -> None:
        self.heads: list[int] = []
        self.failed: list[object] = []
        self._proxy = proxy
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._read)

    def _read(self) -> None:
        while not self._is_over.wait(READ_SECONDS):
            try:
                status, raw = self._proxy.post(request(*HEAD), "127.0.0.7")
            except (OSError, http.client.HTTPException) as problem:
                self.failed.append(problem)
                continue
            if status == 200:
                self.heads.append(json.loads(raw)["result"]["head_block_number"])
            else:
                self.failed.append((status, raw))

    def wait_for(self, more: int) -> None:
        """Wait until so many more reads were answered."""
        wanted, until = len(self.heads) + more, time.monotonic() + PATIENCE
        while len(self.heads) < wanted:
            assert time.monotonic() < until, self.failed
            time.sleep(0.01)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join(PATIENCE)


SOME = {
    "ref_block_num": 1,
    "ref_block_prefix": 1,
    "expiration": "2030-01-01T00:00:00",
    "operations": [],
    "extensions": [],
    "signatures": [],
}


@contextmanager
def api_node(data_dir: Path, node: NodeProcess) -> Iterator[NodeProcess]:
    place = f"http://127.0.0.1:{node.port()}"
    words = ("--http", "127.0.0.1:0", "--ws", "127.0.0.1:0", "--workers", "1", "--node", place)
    more: tuple[str, ...] = ("--webserver-trusted-proxies", "127.0.0.1", "--webserver-allowed-origins", "*")
    more += ("--webserver-max-requests-per-second", str(RATE))
    with NodeProcess("api", "--data-dir", str(data_dir), *words, *more) as made:
        yield made


class Proxy:
    """What clients of nginx do."""

    def __init__(self, port: int) -> None:
        self.port = port

    def post(self, body: object, source: str = "127.0.0.1") -> tuple[int, bytes]:
        """Status and body of an answer to a client with this address."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE, source_address=(source, 0))
        try:
            connection.request("POST", "/", json.dumps(body), {"Host": "api.example.org"})
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def call(self, api: str, method: str, *arguments: object, source: str = "127.0.0.1") -> Any:
        """The result, or the error."""
        status, raw = self.post(request(api, method, *arguments), source)
        assert status == 200, raw
        answer = json.loads(raw)
        return answer.get("result", answer.get("error"))


def request(api: str, method: str, *arguments: object) -> dict[str, object]:
    return {"jsonrpc": "2.0", "method": "call", "params": [api, method, arguments], "id": 1}


def told_of_blocks(proxy: Proxy, node: NodeProcess) -> None:
    with connect(f"ws://127.0.0.1:{proxy.port}", open_timeout=PATIENCE) as client:
        client.send(json.dumps(request("database_api", "set_block_applied_callback", 0)))
        client.send(json.dumps(request(*HEAD)))
        head = json.loads(client.recv(PATIENCE))["result"]["head_block_number"]
        node.call("dev_api", "mine_blocks", 3)
        told = [json.loads(client.recv(PATIENCE))["result"] for _ in range(3)]
        assert [each["previous"][:8] for each in told] == [f"{head + more:08x}" for more in range(3)]


def transfers_reach_the_node(proxy: Proxy, node: NodeProcess) -> None:
    """A good one is in the next block, and of a bad one the client hears what the node says."""

    class Through(NodeProcess):
        def __init__(self) -> None:
            pass

        def call(self, api: str, method: str, *arguments: object) -> Any:
            asked = proxy if api == "network_broadcast_api" else node
            return asked.call(api, method, *arguments)

    assert broadcast(Through(), ("transfer", TRANSFER)) == {}
    node.call("dev_api", "mine_blocks", 1)
    assert ("transfer", TRANSFER) in last_operations(node, "bob")
    too_much = ("transfer", {**TRANSFER, "amount": "1000000000.000 VIZ"})
    refused = broadcast(Through(), too_much)
    assert "Account does not have sufficient funds" in refused["message"]
    assert refused == broadcast(node, too_much) or without_times(refused) == without_times(broadcast(node, too_much))


def without_times(error: Any) -> Any:
    return json.loads(re.sub(r'"timestamp": "[^"]*"', '"timestamp": ""', json.dumps(error)))


def clients_are_counted_by_their_own_addresses(proxy: Proxy) -> None:
    batch = [request(*HEAD)] * (3 * RATE)
    statuses = [proxy.post(batch, "127.0.0.2")[0] for _ in range(3)]
    assert 429 in statuses
    assert proxy.post(request(*HEAD), "127.0.0.3")[0] == 200
