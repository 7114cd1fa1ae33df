"""A node that feeds PostgreSQL: its APIs answer from there, and it goes on whatever becomes of feeder and server."""

from __future__ import annotations

import http.client
import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from ledgerd.history.settings import ALL_BLOCKS
from ledgerd.node.config.configuration import read_configuration
from ledgerd.node.config.given import ConfigurationError
from tests.node.processes import NodeProcess
from tests.node.test_history import dev_words
from tests.patience import PATIENCE
from tests.postgres import SharedServer, address_of, sql

FEEDER = "ledgerd.node.workers.beside.history_feeder"
LOOK = 0.05


def wait_until(holds: Any) -> Any:
    """What something gives as soon as it gives anything."""
    ends = time.monotonic() + PATIENCE
    while not (found := holds()):
        assert time.monotonic() < ends
        time.sleep(LOOK)
    return found


def fed_head(address: str) -> int:
    return int(str(sql(address, "SELECT coalesce(max(head), 0) FROM ledger.feed WHERE is_indexed")[0][0]))


def ready(node: NodeProcess) -> dict[str, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", node.port(), timeout=PATIENCE)
    try:
        connection.request("GET", "/ready")
        found: dict[str, Any] = json.loads(connection.getresponse().read())
        return found
    finally:
        connection.close()


def feeder_of(node: NodeProcess) -> int:
    """The process that feeds for a node."""
    children = Path(f"/proc/{node.process.pid}/task/{node.process.pid}/children").read_text().split()
    return next(
        (int(child) for child in children if FEEDER in Path(f"/proc/{child}/cmdline").read_text(errors="replace")), 0
    )


def test_a_node_goes_on_whatever_becomes_of_feeder_and_server(
    tmp_path: Path, postgres: str, postgres_server: SharedServer
) -> None:
    others, name = address_of(postgres_server.folder, "postgres"), postgres.partition("@/")[2].partition("?")[0]
    with NodeProcess(*dev_words(tmp_path), f"--history-store={postgres}") as node:
        node.port()
        head = node.call("dev_api", "mine_blocks", 3)["head_block_number"]
        wait_until(lambda: fed_head(postgres) == head)
        recorded = [operation["op"][0] for operation in node.call("operation_history", "get_ops_in_block", head, False)]
        wanted = f"SELECT type FROM ledger.operations_all WHERE block = {head} ORDER BY place"
        assert [(each,) for each in recorded] == sql(postgres, wanted) != []

        os.kill(wait_until(lambda: feeder_of(node)), signal.SIGKILL)
        head = node.call("dev_api", "mine_blocks", 3)["head_block_number"]
        wait_until(lambda: fed_head(postgres) == head)

        sql(others, f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
        sql(others, f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'")
        head = node.call("dev_api", "mine_blocks", 3)["head_block_number"]
        wait_until(lambda: "not currently accepting connections" in ready(node).get("warning", ""))
        assert node.call("operation_history", "get_ops_in_block", head, False)["message"].startswith("Internal error")
        assert node.head == head

        sql(others, f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
        wait_until(lambda: fed_head(postgres) == head)
        wait_until(lambda: "warning" not in ready(node))
        assert wait_until(lambda: isinstance(node.call("operation_history", "get_ops_in_block", head, False), list))
        assert node.stop() == 0
    assert "nothing is fed to PostgreSQL" in node.log


def test_a_store_without_the_history_of_the_node_is_refused(tmp_path: Path) -> None:
    words = ("--data-dir", str(tmp_path), "--plugin=chain", "--history-store=postgresql:///ledger")
    with NodeProcess(*words) as node:
        assert node.wait() != 0
    assert "add plugin = operation_history" in node.log


def test_nothing_is_deleted_before_it_was_fed(tmp_path: Path) -> None:
    store = {"history-store": ["postgresql:///ledger"], "history-count-blocks": ["10"]}
    configuration = read_configuration({"data-dir": [str(tmp_path)], **store}, tmp_path)
    assert configuration.history.count_blocks == ALL_BLOCKS
    assert configuration.history.balances
    assert any("history-count-blocks has no effect" in each for each in configuration.remarks)


def test_an_address_of_something_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="begins with postgresql://"):
        read_configuration({"data-dir": [str(tmp_path)], "history-store": ["mysql://ledger"]}, tmp_path)
