"""docs/api-nodes.md: its table has every method that a main process answers, and its nginx serves two API nodes."""

from __future__ import annotations

import http.client
import json
import re
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from websockets.sync.client import connect

from ledgerd.node.workers.known_methods import EVERY_API
from ledgerd.rpc.call.declarations import Answering
from tests.house.source_tree import ROOT
from tests.node.dev.sending import broadcast, last_operations
from tests.node.processes import NodeProcess
from tests.proxies import haproxy_fault, running_nginx

DOCUMENT = (ROOT / "docs" / "api-nodes.md").read_text(encoding="utf-8")
PATIENCE = 30.0
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


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as plug:
        port: int = plug.getsockname()[1]
    return port


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
