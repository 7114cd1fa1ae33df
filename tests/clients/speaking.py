"""A published client library as a process that speaks with a node of ours, and what came into blocks of it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests.node.processes import NodeProcess
from tests.patience import PATIENCE

CLIENTS = Path(__file__).resolve().parents[2] / ".venv" / "clients"
"""Where `scripts/clients` installs the libraries."""


def is_left_out(language: str) -> bool:
    """Whether the library for a language was not installed; in CI it must have been."""
    return not (CLIENTS / language / "made-from").exists() and not os.environ.get("CI")


def development_node(folder: Path) -> NodeProcess:
    return NodeProcess("dev", "--data-dir", str(folder), "--http=127.0.0.1:0", "--ws=127.0.0.1:0", "--block-time=0")


def speak(command: Sequence[str | Path], home: Path, directory: Path) -> str:
    """What the client prints."""
    done = subprocess.run(  # noqa: S603 - our own programs
        command,
        env={"HOME": str(home), "NO_PROXY": "127.0.0.1", "LC_ALL": "C.UTF-8"},
        cwd=directory,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def operations_in(node: NodeProcess, first: int) -> list[str]:
    """The names of what was signed, in the order of the chain."""
    blocks = (node.call("database_api", "get_block", number) for number in range(first, node.head + 1))
    return [name for block in blocks for each in block["transactions"] for name, _ in each["operations"]]
