"""The published viz-python-lib against a node of ours; `scripts/clients` installs it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.node.processes import NodeProcess

ROOT = Path(__file__).resolve().parents[2]
INTERPRETER = ROOT / ".venv" / "clients" / "python" / "bin" / "python"
PROGRAM = Path(__file__).with_name("speak_python.py")
PATIENCE = 60.0
"""Seconds after which the client has failed; it takes three."""

pytestmark = pytest.mark.skipif(
    not (INTERPRETER.parents[1] / "made-from").exists(), reason="viz-python-lib is not installed: run scripts/clients"
)


def speak(node: NodeProcess, kind: str, home: Path) -> dict[str, Any]:

    done = subprocess.run(  # noqa: S603 - our own program
        [INTERPRETER, "-W", "ignore", PROGRAM, f"{kind}://127.0.0.1:{node.port(kind)}"],
        env={"HOME": str(home), "NO_PROXY": "127.0.0.1", "LC_ALL": "C.UTF-8"},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def operations_in(node: NodeProcess, first: int) -> list[str]:
    """The names of what was signed, in the order of the chain."""
    blocks = (node.call("database_api", "get_block", number) for number in range(first, node.head + 1))
    return [name for block in blocks for each in block["transactions"] for name, _ in each["operations"]]


@pytest.mark.parametrize("kind", ["http", "ws"])
def test_every_operation_it_offers_comes_into_a_block(kind: str, tmp_path: Path) -> None:
    chain = str(tmp_path / "chain")
    with NodeProcess("dev", "--data-dir", chain, "--http=127.0.0.1:0", "--ws=127.0.0.1:0", "--block-time=0") as node:
        first = node.head + 1

        spoken = speak(node, kind, tmp_path)

        assert operations_in(node, first) == spoken["sent"]
        assert spoken["answers"]["get_active_validators"] == ["viz"]
        assert [each["name"] for each in spoken["answers"]["get_accounts"]] == ["alice", "bob"]
        assert spoken["answers"]["get_withdraw_routes"][0]["to_account"] == "bob"
