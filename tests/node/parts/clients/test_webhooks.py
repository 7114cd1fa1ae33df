"""Webhooks of a running node: its receiver is told, and the operator hears of one that has ended."""

from __future__ import annotations

import http.client
import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, ClassVar
from unittest.mock import MagicMock

import pytest
from msgspec.structs import replace

from ledgerd.history.webhooks.position import HookPosition, position_file, write_position
from ledgerd.history.webhooks.settings import MOST_BEHIND
from ledgerd.metrics.table import webhooks as table
from ledgerd.node.config.configuration import read_configuration
from ledgerd.node.config.given import ConfigurationError
from ledgerd.node.parts.clients.beside import MANY_FAILURES, WebhooksPart
from ledgerd.supervision.part import Supervisor
from tests.metrics.memories import node_memory
from tests.node.contexts import context_of
from tests.node.processes import NodeProcess, words_of_testnet
from tests.patience import PATIENCE

HOOK = "http://127.0.0.1:{port}/viz secret={secret} start=1"


def secret_in(folder: Path) -> Path:
    secret = folder / "webhook.secret"
    secret.write_text("between us")
    secret.chmod(0o600)
    return secret


class ShopHandler(BaseHTTPRequestHandler):
    """Takes what comes."""

    bodies: ClassVar[list[Any]] = []
    taken = threading.Event()

    def do_POST(self) -> None:
        self.bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(200)
        self.end_headers()
        self.taken.set()

    def log_message(self, *_: object) -> None:
        """Nobody reads it."""


def test_a_node_tells_its_receiver_of_each_block(tmp_path: Path) -> None:
    server = HTTPServer(("127.0.0.1", 0), ShopHandler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    hook = HOOK.format(port=server.server_port, secret=secret_in(tmp_path))
    try:
        with NodeProcess(*words_of_testnet(tmp_path / "data", f"--history-webhook={hook}")) as node:
            assert ShopHandler.taken.wait(PATIENCE), node.log
            [first, *_] = ShopHandler.bodies[0]["events"]
            number = first["operation"]["block"]
            assert first["operation"] in node.call("operation_history", "get_ops_in_block", number, False)
            connection = http.client.HTTPConnection("127.0.0.1", node.port(), timeout=PATIENCE)
            connection.request("GET", "/ready")
            assert connection.getresponse().status == 200
            connection.close()
            assert node.stop() == 0
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def part_in(folder: Path, more: dict[str, list[str]] | None = None) -> tuple[WebhooksPart, Path]:
    hook = HOOK.format(port=9, secret=secret_in(folder))
    configuration = read_configuration(
        {"data-dir": [str(folder)], "plugin": ["operation_history"], "history-webhook": [hook], **(more or {})}, folder
    )
    (folder / "webhooks").mkdir()
    part = WebhooksPart(context_of(WebhooksPart, configuration), MagicMock())
    return part, position_file(folder / "webhooks", configuration.webhooks.hooks[0])


def test_one_that_has_ended_makes_the_node_not_ready_and_one_that_fails_is_a_warning(tmp_path: Path) -> None:
    part, file = part_in(tmp_path)
    supervisor = Supervisor()
    supervisor.add(part)
    position = HookPosition(next_block=7, behind=12, failures=MANY_FAILURES)
    write_position(file, position)
    part.report_all()
    assert supervisor.health.down == {}
    assert supervisor.health.warnings == ("the webhook http://127.0.0.1:9/viz does not answer: 12 blocks wait",)

    write_position(file, replace(position, ended="12 blocks wait for it, and at most 10 may"))
    part.report_all()
    assert len(supervisor.health.warnings) == 0
    assert supervisor.health.down == {"webhooks": "http://127.0.0.1:9/viz: 12 blocks wait for it, and at most 10 may"}
    with node_memory() as memory:
        part._sample(memory.main())  # noqa: SLF001 - as the metrics do
        values = memory.values()
        families = (table.WEBHOOK_BEHIND, table.WEBHOOK_MOST_BEHIND, table.WEBHOOK_FAILURES, table.WEBHOOK_ENDED)
        assert [values[each.name]["1",] for each in families] == [[12], [MOST_BEHIND], [MANY_FAILURES], [1]]

    file.unlink()
    part.report_all()
    assert supervisor.health.down == {}


def test_no_more_may_wait_than_the_history_keeps(tmp_path: Path) -> None:
    part, _ = part_in(tmp_path, {"history-count-blocks": ["700"]})
    with node_memory() as memory:
        part._sample(memory.main())  # noqa: SLF001 - as the metrics do
        assert memory.values()[table.WEBHOOK_MOST_BEHIND.name]["1",] == [700]


def test_without_a_history_a_webhook_is_refused(tmp_path: Path) -> None:
    given = {"data-dir": [str(tmp_path)], "plugin": ["webserver"], "history-webhook": ["http://a/ secret=/s"]}
    with pytest.raises(ConfigurationError, match="add plugin = operation_history"):
        read_configuration(given, tmp_path)
    nine = [f"http://a{number}/ secret=/s" for number in range(9)]
    with pytest.raises(ConfigurationError, match="8 are allowed"):
        read_configuration({**given, "plugin": ["operation_history"], "history-webhook": nine}, tmp_path)
