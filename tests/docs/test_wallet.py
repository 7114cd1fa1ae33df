"""docs/wallet.md, done as it says; and its tables, compared with the program."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from ledgerd.protocol.operations import OPERATIONS
from ledgerd.protocol.operations.base import name_of
from ledgerd.sdk.transactions.operations.fields import OTHER_NAMES, UNSENDABLE, VIRTUAL_RULE
from ledgerd.wallet.transactions.review import Review
from tests.docs.guides import DOCUMENTS, Reader, Step, lessons_of
from tests.docs.tutorials import DevPorts, go_through

DOCUMENT = (DOCUMENTS / "wallet.md").read_text(encoding="utf-8")


@pytest.fixture
def ports(monkeypatch: pytest.MonkeyPatch) -> Iterator[DevPorts]:
    """A chain of its own, which the wallet of this reader asks."""
    ports = DevPorts()
    with tempfile.TemporaryDirectory(prefix="w", dir="/tmp") as runtime:
        monkeypatch.setenv("XDG_RUNTIME_DIR", runtime)
        monkeypatch.setenv("LEDGERD_NODE", f"http://{ports.http}")
        monkeypatch.delenv("XDG_DATA_HOME", raising=False)
        yield ports


def test_the_page_is_done_as_it_says(tmp_path: Path, ports: DevPorts) -> None:
    with Reader(tmp_path) as reader:
        go_through(reader, lessons_of("wallet.md", ports.running))
        balance = ports.ask("database_api.get_accounts", ["bob"])[0]["balance"]
        agents = {each["agent_name"] for each in ports.ask("database_api.get_agent_permissions", "alice")}
        head = ports.ask("database_api.get_dynamic_global_properties")
        waiting = ports.ask("database_api.get_proposed_transactions", "charlie", 0, 10)
        noted = ports.ask("account_history.get_account_history", "bob", 0xFFFFFFFF, 99)
        reader.take(Step("sh", "ledgerd wallet lock"))

    # 1 and 1 by transfers, 1 by call, 2 by a file, 3 by the proposal, 0.001 with the secret memo.
    assert balance == "10008.001 VIZ"
    assert "helper" in agents
    assert "thanks-bot" not in agents
    assert head["current_validator"] == "alice", "who was declared and voted for makes the blocks"
    assert waiting == []
    assert "custom" in {entry["op"][0] for _, entry in noted}, "what two have approved was carried out"


def test_ten_commands_lead_from_nothing_to_all_of_that() -> None:
    section = DOCUMENT.partition("## Ten commands")[2].partition("\n## ")[0]

    assert len(re.findall(r"^ledgerd wallet ", section, re.MULTILINE)) == 10


def test_the_page_has_every_plain_name() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| `([\w-]+)` \|$", DOCUMENT, re.MULTILINE))

    assert rows == OTHER_NAMES


def test_the_page_has_every_rule_that_refuses_operations() -> None:
    assert VIRTUAL_RULE in DOCUMENT
    for name, rule in UNSENDABLE.items():
        if rule != VIRTUAL_RULE:
            assert f"`{name}`" in DOCUMENT
            assert rule.removeprefix(f"{name} ") in DOCUMENT
    assert {name for name, rule in UNSENDABLE.items() if rule == VIRTUAL_RULE} == {
        name_of(each) for each in OPERATIONS if each.VIRTUAL
    }


def test_the_page_has_every_field_of_the_json() -> None:
    listed = set(re.findall(r"`(\w+)`", DOCUMENT[DOCUMENT.index("## JSON, and exit codes") :]))

    assert {*Review.__struct_fields__, "state", "block", "file"} <= listed
