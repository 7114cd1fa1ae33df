"""`ledgerd explorer` as a process, and within `ledgerd dev`: pages of a chain, also while the node is away."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from http.client import HTTPConnection
from pathlib import Path

import pytest

from ledgerd.cli.arguments.node_arguments import WRONG_CONFIGURATION
from ledgerd.cli.main import main
from tests.node.processes import NodeProcess

LISTENS = re.compile(r"listens on http://127\.0\.0\.1:([0-9]+)/")


def test_it_shows_the_chain_of_a_node_and_says_when_that_is_away(tmp_path: Path) -> None:
    words = ("dev", "--block-time", "0", "--data-dir", str(tmp_path / "chain"), "--explorer", "127.0.0.1:0")
    with NodeProcess(*words, "--http", "127.0.0.1:0", "--ws", "127.0.0.1:0") as node:
        command = [sys.executable, "-m", "ledgerd.cli", "explorer", "--listen", "127.0.0.1:0"]
        command += ["--node", f"http://127.0.0.1:{node.port('http')}", "--live", f"ws://127.0.0.1:{node.port('ws')}"]
        with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as explorer:  # noqa: S603 - our own program
            assert explorer.stderr is not None
            port = wait_for(explorer.stderr, LISTENS)
            head = int(wait_for(explorer.stderr, re.compile("its head block: ([0-9]+)")))
            status, page = get(port, "/account/alice")
            assert (status, "alice" in page) == (200, True)
            node.call("dev_api", "mine_blocks", 1)
            assert get(port, f"/block/{head + 1}")[0] == 200
            node.wait_for("  explorer   http://")
            within = re.search(r"explorer   http://127.0.0.1:([0-9]+)/", node.log)
            assert within is not None
            assert get(within[1], "/account/alice")[0] == 200
            node.stop()
            wait_for(explorer.stderr, re.compile("is away"))
            assert get(port, "/account/bob")[0] == 503
            assert get(port, "/")[0] == 200
            explorer.send_signal(signal.SIGTERM)
            assert explorer.wait(30) == 0


def wait_for(stream: object, wanted: re.Pattern[str]) -> str:
    """What a line of a log says."""
    for line in stream:  # type: ignore[attr-defined]  # a text stream
        found = wanted.search(line)
        if found:
            return found[1] if found.groups() else found[0]
    raise AssertionError(f"it has ended, and never said {wanted.pattern}")


def get(port: str, path: str) -> tuple[int, str]:
    connection = HTTPConnection("127.0.0.1", int(port), timeout=30)
    connection.request("GET", path)
    response = connection.getresponse()
    text = response.read().decode()
    connection.close()
    return response.status, text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--node", "nowhere"], "nowhere is no address of a node"),
        (["--live", "http://127.0.0.1:1"], "ws://localhost:8091 is one"),
        (["--listen", "here"], "argument --listen: Missing required port number"),
        (["--trusted-proxy", "a"], "argument --trusted-proxy: is neither an IP address nor a network"),
    ],
)
def test_what_it_is_told_wrongly_is_said(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match=f"^{WRONG_CONFIGURATION}$"):
        main(["explorer", *words])
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--http", "--ws", "--metrics", "--explorer"])
def test_a_wrong_address_of_a_chain_to_develop_on_is_told_under_the_name_that_was_typed(
    option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match=f"^{WRONG_CONFIGURATION}$"):
        main(["dev", option, "8090"])
    assert f"argument {option}: Missing required port number" in capsys.readouterr().err
