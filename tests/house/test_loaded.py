"""What a process loads at its start. Each module costs every start of every process, so what few need is loaded where
it is needed; the times are in docs/performance.md.
"""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HELP = (
    "import contextlib, io; from ledgerd.cli.main import main\n"
    "with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit): main({words})"
)
CONFIGURATION = (
    "from pathlib import Path; from ledgerd.node.config.configuration import read_configuration\n"
    "read_configuration({}, Path('.'))"
)
RULES = ["ledgerd.chain.chain", "ledgerd.chain.evaluators", "ledgerd.chain.forks.trunk", "ledgerd.chain.steps"]
NOT_NEEDED: dict[str, list[str]] = {
    # an API worker of a node: it applies no blocks, follows no other node, and has read no configuration
    "import ledgerd.node.workers.api_worker": [
        *RULES,
        "ledgerd.client.pool",
        "ledgerd.node.config.options.sections",
        "ledgerd.node.workers.api_node",
    ],
    # a process that precomputes reads a socket, and has no loop
    "import ledgerd.node.workers.precompute_worker": [*RULES, "asyncio", "ledgerd.state", "lmdb", "ssl"],
    # the main process does nothing of what other processes do, and answers no WebSocket
    "import ledgerd.node.lifecycle": [
        "importlib.metadata",
        "jinja2",
        "ledgerd.explorer.pages",
        "ledgerd.history.postgres.feeder",
        "ledgerd.history.webhooks.following",
        "ledgerd.wallet",
        "psycopg",
        "pyarrow",
        "websockets",
    ],
    # reading a configuration needs neither keys nor networks
    CONFIGURATION: [
        "asyncio",
        "coincurve",
        "ledgerd.chain",
        "ledgerd.protocol.crypto.keys",
        "ledgerd.protocol.networks.parameters",
        "lmdb",
        "ssl",
    ],
    # the doctor reads a state, and applies nothing to it
    "import ledgerd.cli.directory.doctor": [
        *RULES,
        "ledgerd.history.embedded",
        "ledgerd.rpc.api",
        "ledgerd.snapshot.importing",
    ],
    HELP.format(words=["--version"]): ["asyncio", "ledgerd.node.config", "ssl"],
    HELP.format(words=["--help"]): ["asyncio", "coincurve", "importlib.metadata", "lmdb", "ssl"],
    HELP.format(words=["wallet", "--help"]): ["asyncio", "cryptography", "ledgerd.chain", "lmdb", "websockets"],
}


@pytest.mark.parametrize("program", NOT_NEEDED)
def test_a_process_loads_nothing_at_its_start_that_it_does_not_need(program: str) -> None:
    names = NOT_NEEDED[program]

    assert loaded(program, names) == []


def test_what_is_loaded_is_found() -> None:
    assert loaded("import asyncio", ["asyncio", "ssl", "lmdb"]) == ["asyncio", "ssl"]


def loaded(program: str, names: list[str]) -> list[str]:
    """Which of some modules a program has loaded when it ends."""
    text = f"{program}\nimport json, sys\nprint(json.dumps([each for each in {names} if each in sys.modules]))"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60, check=True)  # noqa: S603 - ours
    found: list[str] = json.loads(done.stdout)
    return found
