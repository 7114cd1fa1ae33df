"""The history of a running node: it is streamed to clients, and if it is damaged the node runs on without it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

from tests.node.processes import NodeProcess
from tests.patience import PATIENCE

HISTORY = Path("history") / "data.mdb"


def dev_words(folder: Path) -> tuple[str, ...]:
    return "dev", "--data-dir", str(folder), "--http=127.0.0.1:0", "--ws=127.0.0.1:0", "--block-time=0"


def told(client: ClientConnection) -> Any:
    return json.loads(client.recv(PATIENCE))["result"]


def asking(method: str, *arguments: object) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": f"history_api.{method}", "params": arguments})


def test_operations_are_streamed_as_blocks_become_irreversible(tmp_path: Path) -> None:
    with NodeProcess(*dev_words(tmp_path)) as node:
        node.port()
        head = node.head
        with connect(f"ws://127.0.0.1:{node.port('ws')}", compression=None) as client:
            client.send(asking("subscribe", 1))
            name, following = told(client)["subscription"], 1
            node.call("dev_api", "mine_blocks", 5)
            while following <= head + 5:
                message = told(client)
                assert message["first_block"] == following
                following = message["last_block"] + 1
                shown = [
                    operation
                    for number in range(message["first_block"], following)
                    for operation in node.call("operation_history", "get_ops_in_block", number, False)
                ]
                assert message["operations"] == shown
            client.send(asking("unsubscribe", name))
            assert told(client) is True
        assert node.stop() == 0


def test_a_damaged_history_is_put_aside_at_the_start_and_the_node_goes_on(tmp_path: Path) -> None:
    with NodeProcess(*dev_words(tmp_path)) as node:
        node.port()
        node.call("dev_api", "mine_blocks", 2)
        assert node.stop() == 0
    (tmp_path / HISTORY).write_bytes(b"\xff" * 20_000)

    with NodeProcess(*dev_words(tmp_path)) as node:
        node.port()
        head = node.call("dev_api", "mine_blocks", 1)["head_block_number"]
        assert node.call("operation_history", "get_ops_in_block", head, False)
        assert node.stop() == 0

    assert "the history is damaged" in node.log
    assert "ledgerd history rebuild" in node.log
    assert (tmp_path / "history.damaged" / "data.mdb").exists()
