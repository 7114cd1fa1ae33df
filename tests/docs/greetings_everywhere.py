"""What `test_contributing.py` runs in a copy of the source that has one operation more: `greet` of CONTRIBUTING.md.

Nothing here knows more of it than its name and its fields.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ledgerd.codec import codec_of
from ledgerd.explorer.words.language import language
from ledgerd.explorer.words.sentences import note_of, sentence, table_of
from ledgerd.history.columns.typed_columns import typed_columns
from ledgerd.node.dev.founding import PUBLISHED_ACCOUNTS_KEY
from ledgerd.protocol.operations import OPERATIONS, Operation
from ledgerd.protocol.operations.base import active, tag_of
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.names import AccountName
from ledgerd.sdk.transactions.operations.fields import SENDABLE
from tests.node.processes import NodeProcess
from tests.wallet.test_on_a_chain import Person

FIELDS = {"from": "alice", "to": "bob", "gift": "1.500 VIZ", "memo": "hello"}
GREETING: Operation = codec_of(Operation).from_json(["greet", FIELDS])


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NodeProcess]:
    folder = tmp_path_factory.mktemp("dev")
    words = ("dev", "--block-time", "0", "--fresh", "--data-dir", str(folder / "data"))
    with NodeProcess(*words, "--http", "127.0.0.1:0", "--ws", "127.0.0.1:0") as node:
        node.port()
        yield node


@pytest.fixture(scope="module")
def sent(tmp_path_factory: pytest.TempPathFactory, node: NodeProcess) -> Iterator[dict[str, Any]]:
    """A greeting that the wallet has sent, with a memo for the recipient's eyes alone."""
    with tempfile.TemporaryDirectory(prefix="w", dir="/tmp") as runtime:
        person = Person(tmp_path_factory.mktemp("person"), Path(runtime))
        person.url = f"http://127.0.0.1:{node.port()}"
        person.unlocked()
        person.take("accounts", PUBLISHED_ACCOUNTS_KEY)
        yield person.sends("greet", "alice", "bob", "1.500", "VIZ", "--memo", "#for bob alone")
        person.call("lock")


def test_its_bytes_and_its_json_are_those_of_its_fields() -> None:
    packed = codec_of(Operation).encode(GREETING)
    assert packed[0] == tag_of(type(GREETING)) == len(OPERATIONS) - 1
    assert packed[1:] == b"\5alice\3bob" + (1_500).to_bytes(8, "little") + b"\3VIZ\0\0\0\0" + b"\5hello"
    assert codec_of(Operation).decode(packed) == GREETING
    assert json.loads(codec_of(Operation).to_json(GREETING)) == ["greet", FIELDS]


def test_the_field_that_says_so_names_who_must_sign() -> None:
    assert GREETING.authorities() == active(AccountName("alice"))


def test_the_wallet_has_a_command_that_encrypts_the_memo(sent: dict[str, Any]) -> None:
    assert type(GREETING) in SENDABLE
    ((name, fields),) = sent["operations"]
    assert (name, fields["gift"], sent["required"]) == ("greet", "1.500 VIZ", ["alice (active)"])
    assert fields["memo"].startswith("#")
    assert "bob alone" not in fields["memo"]


@pytest.mark.parametrize(("account", "direction"), [("alice", "outgoing"), ("bob", "incoming")])
def test_the_histories_of_both_accounts_have_it(
    node: NodeProcess, sent: dict[str, Any], account: str, direction: str
) -> None:
    for way in (direction, "any"):
        wanted = {"types": ["greet"], "direction": way}
        page = node.call("history_api", "get_account_operations", account, wanted, "newest", 10)
        assert [each[1]["op"] for each in page["entries"]] == sent["operations"]
    other = {"types": ["greet"], "direction": {"outgoing": "incoming", "incoming": "outgoing"}[direction]}
    assert node.call("history_api", "get_account_operations", account, other, "newest", 10)["entries"] == []


def test_the_history_of_the_block_has_it(node: NodeProcess, sent: dict[str, Any]) -> None:
    found = node.call("operation_history", "get_ops_in_block", sent["block"], False)
    assert [each["op"] for each in found if each["op"][0] == "greet"] == sent["operations"]


def test_its_columns_in_sql_follow_from_its_fields() -> None:
    columns = typed_columns(GREETING)
    assert (columns.who, columns.sender, columns.recipient) == ("alice", "alice", "bob")
    assert (str(columns.amount), columns.symbol, columns.memo) == ("1.500", "VIZ", "hello")
    assert json.loads(columns.body) == FIELDS


@pytest.mark.parametrize(
    ("code", "gift", "words"),
    [
        ("en", tokens(1_500), ("greeted", "with")),
        ("en", tokens(0), ("greeted",)),
        ("ru", tokens(0), ("приветствует",)),
    ],
)
def test_the_explorer_tells_it(code: str, gift: object, words: tuple[str, ...]) -> None:
    spoken = language(code)
    told = str(sentence(spoken, "greet", {**FIELDS, "gift": str(gift)}))
    assert all(word in told for word in ("/account/alice", "/account/bob", *words))
    assert ("unit" in told) == ("with" in words)
    assert spoken.title_of("greet") == {"en": "Greeting", "ru": "Привет"}[code]
    assert note_of("greet", FIELDS) == "hello"
    assert [name for name, _ in table_of(spoken, "greet", FIELDS)] == [*FIELDS]
