"""The examples of docs/developing-on-it.md do what they say, and the requests that the documents show are answered."""

from __future__ import annotations

import argparse
import http.client
import json
import re
import shutil
from pathlib import Path

import pytest

from ledgerd.cli.arguments.process_arguments import add_dev
from ledgerd.rpc.api.node.dev_api import DEV_API
from tests.clients.speaking import CLIENTS, development_node, is_left_out, speak

ROOT = Path(__file__).resolve().parents[2]
DOCUMENT = ROOT / "docs" / "developing-on-it.md"
BALANCE = "10001.000 VIZ"
"""What bob has after the transfer of the example."""


def example(language: str, addresses: dict[str, str]) -> str:
    """The block in this language, with the addresses of the running node for the usual ones."""
    blocks = re.findall(rf"^```{language}\n(.*?)^```", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert len(blocks) == 1
    text: str = blocks[0]
    for usual, running in addresses.items():
        text = text.replace(usual, running)
    return text


@pytest.mark.parametrize(
    ("language", "interpreter", "option"),
    [("python", str(CLIENTS / "python" / "bin" / "python"), "-c"), ("js", shutil.which("node"), "-e")],
)
def test_the_example_transfers_and_reads(language: str, interpreter: str | None, option: str, tmp_path: Path) -> None:
    installed = CLIENTS / language
    if interpreter is None or is_left_out(language):
        pytest.skip(f"the client library for {language} is not installed: run scripts/clients")
    with development_node(tmp_path / "chain") as node:
        addresses = {"127.0.0.1:8090": f"127.0.0.1:{node.port()}", "127.0.0.1:8091": f"127.0.0.1:{node.port('ws')}"}
        words = [interpreter, option, example(language, addresses)]

        assert speak(words, tmp_path, installed).strip() == BALANCE


REQUEST = re.compile(r"curl -s http://127\.0\.0\.1:8090 -d '([^']*)'")
SHOWING = ("README.md", "docs/api.md", "docs/developing-on-it.md")


def test_the_requests_that_the_documents_show_are_answered(tmp_path: Path) -> None:
    with development_node(tmp_path / "chain") as node:
        for name in SHOWING:
            requests = REQUEST.findall((ROOT / name).read_text(encoding="utf-8"))
            assert requests, name
            for request in requests:
                connection = http.client.HTTPConnection("127.0.0.1", node.port(), timeout=60)
                connection.request("POST", "/", request)
                answer = json.loads(connection.getresponse().read())
                connection.close()
                assert "result" in answer, (name, answer)


def test_the_methods_for_developers_are_those_that_the_document_lists() -> None:
    listed = re.findall(r"^\| `(\w+) \[", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE)

    assert sorted(listed) == sorted(method.name for method in DEV_API)


def test_the_command_that_the_document_starts_with_is_understood() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    command = re.search(r"^    \.venv/bin/ledgerd (.+)$", text, re.MULTILINE)
    assert command is not None
    parser = argparse.ArgumentParser()
    add_dev(parser.add_subparsers())

    chosen = parser.parse_args([*command[1].split(), "--fast-forward", "30d", "--fresh", "--data-dir", "x"])

    assert (chosen.block_time, chosen.fast_forward, chosen.fresh) == (0, 30 * 86_400, True)
