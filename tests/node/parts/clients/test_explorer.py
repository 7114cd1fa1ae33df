"""The explorer of a running node, by one line of its configuration: its pages, its restarts, and its end."""

from __future__ import annotations

import os
import re
import signal
import time
from http.client import HTTPConnection
from pathlib import Path
from unittest.mock import MagicMock

import pytest

from ledgerd.node.config.configuration import read_configuration
from ledgerd.node.config.given import ConfigurationError
from ledgerd.node.parts.clients.beside import EXPLORER, ExplorerProcessPart
from ledgerd.node.parts.clients.webserver import WebserverPart
from ledgerd.rpc.http.listeners import listen
from tests.node.contexts import context_of
from tests.node.processes import NodeProcess, words_of_testnet
from tests.patience import PATIENCE

LISTENS = re.compile(r"the explorer of (\S+) listens on http://127\.0\.0\.1:([0-9]+)/")
METRICS = re.compile(r"metrics are served on 127\.0\.0\.1:([0-9]+)")
APIS = "webserver database_api validator_api"


def process_of(node: NodeProcess) -> int:
    """The process of its explorer."""
    children = Path(f"/proc/{node.process.pid}/task/{node.process.pid}/children").read_text(encoding="ascii").split()
    (found,) = [int(each) for each in children if EXPLORER.encode() in Path(f"/proc/{each}/cmdline").read_bytes()]
    return found


def got(port: str, path: str) -> tuple[int, str]:
    connection = HTTPConnection("127.0.0.1", int(port), timeout=PATIENCE)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    finally:
        connection.close()


def counted(port: str, starts: int) -> None:
    """Return when the metrics count one process and so many starts: they are sampled once a second."""
    wanted = {"ledgerd_explorer_process 1.0", f"ledgerd_explorer_process_starts_total {starts}.0"}
    deadline = time.monotonic() + PATIENCE
    while not wanted <= set(got(port, "/metrics")[1].splitlines()):
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_one_line_gives_a_node_pages_that_come_back_and_end_with_it(tmp_path: Path) -> None:
    options = ("--explorer-endpoint=127.0.0.1:0", "--metrics-endpoint=127.0.0.1:0")
    with NodeProcess(*words_of_testnet(tmp_path, *options)) as node:
        node.wait_for("its head block")
        found, metrics = LISTENS.search(node.log), METRICS.search(node.log)
        assert found is not None
        assert metrics is not None
        assert found[1] == f"http://127.0.0.1:{node.port('http')}"
        assert got(found[2], "/account/viz")[0] == 200
        os.kill(process_of(node), signal.SIGKILL)
        node.wait_for("the process that serves it ended")
        assert got(found[2], "/health")[0] == 200  # the node listens, so a visitor waits
        node.wait_for("its head block", 2)
        assert got(found[2], "/validators")[0] == 200
        counted(metrics[1], starts=2)
        assert node.stop() == 0
        with pytest.raises(ConnectionRefusedError):
            got(found[2], "/")


@pytest.mark.parametrize(
    ("given", "fault"),
    [
        ({"plugin": ["webserver database_api"]}, "add plugin = validator_api"),
        ({"plugin": [APIS]}, "add webserver-http-endpoint"),
        ({"plugin": [APIS], "explorer-trusted-proxies": ["a"]}, "neither an IP address nor a network"),
    ],
)
def test_what_the_pages_need_is_asked_for(tmp_path: Path, given: dict[str, list[str]], fault: str) -> None:
    with pytest.raises(ConfigurationError, match=fault):
        read_configuration({"data-dir": [str(tmp_path)], "explorer-endpoint": ["127.0.0.1:8093"], **given}, tmp_path)


@pytest.mark.parametrize(
    ("endpoints", "addresses", "node", "live"),
    [
        ({"http": "0.0.0.0:1", "ws": "0.0.0.0:2"}, [("0.0.0.0", 1), ("0.0.0.0", 2)], "127.0.0.1:1", "ws://127.0.0.1:2"),  # noqa: S104
        ({"http": "[::]:1", "ws": "[::]:1"}, [("::", 1)], "[::1]:1", "ws://[::1]:1"),
        ({"http": "127.0.0.1:1"}, [("127.0.0.1", 1)], "127.0.0.1:1", ""),
        (
            {"http": "10.0.0.1:1", "ws": "10.0.0.1:2"},
            [("10.0.0.1", 1), ("10.0.0.1", 2)],
            "10.0.0.1:1",
            "ws://10.0.0.1:2",
        ),
    ],
)
def test_the_process_is_told_where_its_node_is_reached(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    endpoints: dict[str, str],
    addresses: list[tuple[str, int]],
    node: str,
    live: str,
) -> None:
    given = {f"webserver-{kind}-endpoint": [place] for kind, place in endpoints.items()}
    configuration = read_configuration(
        {"data-dir": [str(tmp_path)], "plugin": [APIS], "explorer-endpoint": ["127.0.0.1:0"], **given}, tmp_path
    )
    monkeypatch.setattr(WebserverPart, "addresses", addresses)
    context = context_of(ExplorerProcessPart, configuration)
    part = ExplorerProcessPart(context, WebserverPart.__new__(WebserverPart), MagicMock())
    (plug,) = listen("127.0.0.1", 0, 1)
    with plug:
        settings = part.settings(plug)
        assert (settings.node, settings.live) == (f"http://{node}", live)
        assert (settings.inherited, settings.listen.port) == (plug.fileno(), plug.getsockname()[1])
