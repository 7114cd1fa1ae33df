"""The published viz-js-lib against a node of ours; `scripts/clients` installs it where there is Node.js.

It signs and sends everything over WebSocket, and a part of it over HTTP, where the same bytes are in another envelope;
`EVERY_WAY=1 scripts/test tests/clients/test_viz_js_lib.py` sends everything both ways.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.clients.speaking import CLIENTS, development_node, is_left_out, operations_in, speak

INSTALLED = CLIENTS / "js"
PROGRAM = Path(__file__).with_name("speak_js.js")
NODE_JS = shutil.which("node")
RENAMED = {
    "witness_update": "validator_update",
    "account_witness_proxy": "account_validator_proxy",
    "account_witness_vote": "account_validator_vote",
}
"""Operations that the library knows by the names they had, and the node accepts by both."""
SOME = ("transfer", "witnessUpdate", "accountWitnessVote", "accountCreate", "setPaidSubscription")
"""What is asked about afterwards, and a transfer."""

pytestmark = pytest.mark.skipif(
    is_left_out("js"), reason="viz-js-lib is not installed: run scripts/clients where there is Node.js"
)


@pytest.mark.parametrize("kind", ["http", "ws"])
def test_what_it_broadcasts_comes_into_blocks(kind: str, tmp_path: Path) -> None:
    with development_node(tmp_path / "chain") as node:
        first = node.head + 1
        url = f"{kind}://127.0.0.1:{node.port(kind)}"
        some = SOME if kind == "http" and "EVERY_WAY" not in os.environ else ()

        spoken = json.loads(speak([str(NODE_JS), "--no-deprecation", PROGRAM, url, *some], tmp_path, INSTALLED))

        assert operations_in(node, first) == [RENAMED.get(name, name) for name in spoken["sent"]]
        answers = spoken["answers"]
        assert [each["name"] for each in answers["getAccounts"]] == ["dan", "newcomer"]
        assert "newcomer" in answers["getKeyReferences"][0]
        assert answers["getWitnessByAccount"]["props"]["inflation_validator_percent"] == 2_000
        assert answers["getActiveWitnesses"] == ["viz"]
        assert answers["getPaidSubscriptions"][0]["creator"] == "charlie"
