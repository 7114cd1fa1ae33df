"""What docs/agents.md says of how agents end, and of how many there are, on a development chain."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ledgerd.protocol.crypto.keys import PrivateKey, public_key_text
from tests.docs.guides import DOCUMENTS
from tests.node.dev.sending import EVERYBODY, broadcast, in_seconds
from tests.node.processes import NodeProcess

DOCUMENT = (DOCUMENTS / "agents.md").read_text(encoding="utf-8")
BOT = PrivateKey(b"b" * 32)
PUBLIC = public_key_text(BOT.public)
SECONDS = 600
AWARD = {"receiver": "alice", "energy": 10, "custom_sequence": 0, "memo": "", "beneficiaries": []}


@pytest.fixture
def node(tmp_path: Path) -> Iterator[NodeProcess]:
    folder = str(tmp_path / "chain")
    with NodeProcess("dev", "--data-dir", folder, "--http=127.0.0.1:0", "--ws=127.0.0.1:0", "--block-time=0") as node:
        yield node


def granted(node: NodeProcess, name: str = "bot", **fields: object) -> Any:
    grant = {"account": "bob", "agent_name": name, "agent_key": PUBLIC, "operations": ["award"], **fields}
    return broadcast(node, ("set_agent_permission", grant))


def awarded(node: NodeProcess) -> Any:
    """What the node answers to an award that the bot signs for bob."""
    return broadcast(node, ("award", {"initiator": "bob", **AWARD}), key=BOT)


def assert_ended(node: NodeProcess) -> None:
    assert "Missing Regular Authority bob" in awarded(node)["message"]


def test_an_agent_ends_at_its_time(node: NodeProcess) -> None:
    assert granted(node, expiration=in_seconds(node, SECONDS)) == {}
    assert awarded(node) == {}
    node.call("dev_api", "move_time", SECONDS)

    assert_ended(node)
    assert "It ends by itself after 30 days" in DOCUMENT


def test_a_change_of_the_active_key_removes_all_agents(node: NodeProcess) -> None:
    same = {"weight_threshold": 1, "account_auths": [], "key_auths": [[public_key_text(EVERYBODY.public), 1]]}
    update = {"account": "bob", "active": same, "memo_key": public_key_text(EVERYBODY.public), "json_metadata": ""}
    assert granted(node) == {}
    assert broadcast(node, ("account_update", update)) == {}

    assert_ended(node)
    assert "A change of the active or master key of an account, and its sale, remove all its agents" in DOCUMENT


def test_granting_again_replaces_the_list_and_an_account_has_sixteen_agents(node: NodeProcess) -> None:
    assert [granted(node, f"bot-{number}") for number in range(16)] == [{}] * 16
    assert "already has 16 agents" in granted(node, "bot-16")["message"]
    assert [granted(node, f"bot-{number}", operations=["transfer"]) for number in range(16)] == [{}] * 16

    assert_ended(node)
    assert "Granting again under the same name replaces the key, the list and the end" in DOCUMENT
