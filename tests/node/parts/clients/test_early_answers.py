"""Answers to clients while a node starts, and the handover of the sockets to its workers."""

from __future__ import annotations

import asyncio
import http.client
import json
import threading
from pathlib import Path
from typing import Any

import pytest

from ledgerd.node.config.configuration import Configuration, read_configuration
from ledgerd.node.parts.clients.webserver import EarlyAnswers
from ledgerd.node.parts.replaying import ReplayPart
from ledgerd.node.runtime import Runtime
from ledgerd.protocol.errors import OperatorError
from ledgerd.supervision.threads import in_thread
from tests.patience import PATIENCE

REQUEST = json.dumps(
    {"jsonrpc": "2.0", "method": "call", "params": ["database_api", "get_chain_properties", []], "id": 1}
)


def configured(folder: Path, endpoint: str = "127.0.0.1:0") -> Configuration:
    given = {"chain": "testnet", "plugin": "webserver database_api json_rpc", "webserver-thread-pool-size": "2"}
    words = {name: [text] for name, text in given.items()}
    return read_configuration({**words, "data-dir": [str(folder)], "webserver-http-endpoint": [endpoint]}, folder)


def asked(port: int, path: str = "/", body: str | None = None) -> tuple[int, dict[str, Any]]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    try:
        connection.request("POST" if body else "GET", path, body)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def test_while_a_node_replays_every_request_is_put_off_and_the_node_is_healthy_but_not_ready(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, may_end = threading.Event(), threading.Event()

    def replay(_: ReplayPart) -> None:
        begun.set()
        may_end.wait(PATIENCE)

    monkeypatch.setattr(ReplayPart, "_replay", replay)

    async def main() -> None:
        runtime = Runtime(configured(tmp_path))
        starting = asyncio.ensure_future(runtime.start())
        assert await in_thread(begun.wait, PATIENCE)
        port = runtime.part(EarlyAnswers).sockets[0][0].getsockname()[1]
        try:
            status, answer = await in_thread(asked, port, "/", REQUEST)
            assert (status, answer["error"]["code"]) == (503, -32003)
            assert await in_thread(asked, port, "/health") == (200, {"healthy": True})
            status, answer = await in_thread(asked, port, "/ready")
            assert status == 503
            assert answer == {
                "ready": False,
                "reason": "the node starts: its state is being opened, replayed or imported",
            }
        finally:
            may_end.set()
        await starting
        assert runtime.webserver.addresses == [("127.0.0.1", port)]
        for _ in range(16):
            status, answer = await in_thread(asked, port, "/", REQUEST)
            assert (status, "result" in answer) == (200, True)
        await runtime.stop()
        with pytest.raises(ConnectionRefusedError):
            await in_thread(asked, port, "/health")

    asyncio.run(asyncio.wait_for(main(), PATIENCE))


def test_a_port_that_is_taken_ends_the_start_before_anything_is_replayed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ReplayPart, "_replay", lambda _: pytest.fail("it replays"))

    async def main() -> None:
        first = Runtime(configured(tmp_path / "first"))
        await first.part(EarlyAnswers).start()
        port = first.part(EarlyAnswers).sockets[0][0].getsockname()[1]
        second = Runtime(configured(tmp_path / "second", f"127.0.0.1:{port}"))
        with pytest.raises(OperatorError, match=f"cannot listen on 127.0.0.1:{port}"):
            await second.start()
        await first.stop()
        await first.part(EarlyAnswers).stop()

    asyncio.run(asyncio.wait_for(main(), PATIENCE))
