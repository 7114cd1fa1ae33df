"""The examples of docs/developing-on-it.md do what they say."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.clients.speaking import CLIENTS, development_node, is_left_out, speak

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "developing-on-it.md"
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
