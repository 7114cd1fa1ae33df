"""The published viz-python-lib against a node of ours; `scripts/clients` installs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.clients.speaking import CLIENTS, development_node, is_left_out, operations_in, speak

INSTALLED = CLIENTS / "python"
PROGRAM = Path(__file__).with_name("speak_python.py")

pytestmark = pytest.mark.skipif(is_left_out("python"), reason="viz-python-lib is not installed: run scripts/clients")


@pytest.mark.parametrize("kind", ["http", "ws"])
def test_every_operation_it_offers_comes_into_a_block(kind: str, tmp_path: Path) -> None:
    with development_node(tmp_path / "chain") as node:
        first = node.head + 1
        url = f"{kind}://127.0.0.1:{node.port(kind)}"

        spoken = json.loads(speak([INSTALLED / "bin" / "python", "-W", "ignore", PROGRAM, url], tmp_path, tmp_path))

        assert operations_in(node, first) == spoken["sent"]
        answers = spoken["answers"]
        assert answers["get_active_validators"] == ["viz"]
        assert [each["name"] for each in answers["get_accounts"]] == ["alice", "bob"]
        assert answers["get_withdraw_routes"][0]["to_account"] == "bob"
        assert answers["get_validators_by_vote"][0]["owner"] == answers["get_validator_by_account"]["owner"] == "viz"
        made = spoken["made"]
        assert made["spent"] > 15
        assert made["history"] == ["award", "proposal_delete", "proposal_create"]
        assert made["stream"] == ["proposal_delete"]
        assert made["rewards"] == ["validator_reward"] * 2
        assert [each.partition(": ")[2] for each in made["wrong"]] == [
            "Cannot transfer a negative amount (aka: stealing)",
            "Account does not have sufficient funds for transfer.",
        ]
        assert made["info"]
