"""Our own small client signs each operation of hardforks 14 and 15, and sees it in a block and in a stream."""

from __future__ import annotations

import json
from pathlib import Path

from websockets.sync.client import connect

from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.protocol.operations import OPERATIONS
from ledgerd.protocol.operations.base import VirtualOperation, name_of
from tests.node.dev.market_life import steps
from tests.node.dev.sending import broadcast
from tests.node.processes import NodeProcess
from tests.patience import PATIENCE

FIRST_NEW_TAG = 66
NEW = OPERATIONS[FIRST_NEW_TAG:]
SENT = {name_of(kind) for kind in NEW if not issubclass(kind, VirtualOperation)}


def test_each_new_operation_is_signed_taken_into_a_block_and_streamed(tmp_path: Path) -> None:
    words = ("--data-dir", str(tmp_path / "chain"), "--http=127.0.0.1:0", "--ws=127.0.0.1:0", "--block-time=0")
    with NodeProcess("dev", *words) as node:
        first = node.head + 1
        sent = []
        for step in steps(node):
            if step.after:
                node.call("dev_api", "move_time", step.after)
            answer = broadcast(node, step.operation, key=PrivateKey.from_wif(step.key))
            assert answer == {}, f"{step.operation}: {answer}"
            sent.append(step.operation[0])
        last = node.call("dev_api", "mine_blocks", 2)["head_block_number"]
        blocks = [node.call("database_api", "get_block", number) for number in range(first, last + 1)]
        streamed = []
        with connect(f"ws://127.0.0.1:{node.port('ws')}", compression=None) as client:
            given = {"types": sorted(map(name_of, NEW))}
            request = {"jsonrpc": "2.0", "id": 1, "method": "history_api.subscribe", "params": [first, given]}
            client.send(json.dumps(request))
            told = json.loads(client.recv(PATIENCE))["result"]
            while "last_block" not in told or told["last_block"] < last:
                told = json.loads(client.recv(PATIENCE))["result"]
                streamed += [each["op"][0] for each in told["operations"]]

    assert set(sent) == SENT
    assert [op[0] for block in blocks for each in block["transactions"] for op in each["operations"]] == sent
    assert [name for name in streamed if name in SENT] == sent
    assert {"pm_market_accepted", "pm_dispute_opened", "pm_leverage_resolve"} & set(streamed)
