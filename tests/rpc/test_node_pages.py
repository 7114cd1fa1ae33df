"""The pages of a running node."""

from __future__ import annotations

import http.client
import json
from pathlib import Path

from tests.node.processes import NodeProcess
from tests.patience import PATIENCE

PAGES = ("/", "/health", "/ready", "/openrpc.json")


def test_a_node_shows_its_pages(tmp_path: Path) -> None:
    with NodeProcess("dev", "--data-dir", str(tmp_path / "chain"), "--http=127.0.0.1:0", "--ws=127.0.0.1:0") as node:
        connection = http.client.HTTPConnection("127.0.0.1", node.port(), timeout=PATIENCE)
        pages = {}
        for path in PAGES:
            connection.request("GET", path)
            answer = connection.getresponse()
            pages[path] = answer.read()
            assert answer.status == 200
        connection.close()
        status = node.call("node_api", "follow_status")

    assert b"Head block" in pages["/"]
    assert status["head"] >= 21
    assert status["slots"][-1] == {"validator": "viz", "block": status["head"], "delay": status["slots"][-1]["delay"]}
    assert json.loads(pages["/health"]) == {"healthy": True}
    assert json.loads(pages["/ready"])["ready"]
    offered = {method["tags"][0]["name"] for method in json.loads(pages["/openrpc.json"])["methods"]}
    assert {"database_api", "dev_api"} <= offered
