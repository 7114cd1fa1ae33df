"""`ledgerd dev` as a process: blocks on demand, a movable clock, snapshots."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from ledgerd.cli.arguments.process_arguments import duration
from ledgerd.codec import codec_of
from ledgerd.node.config.configuration import read_configuration
from ledgerd.node.dev.development import Development, DevOptions
from ledgerd.protocol.blocks.transaction import Transaction, unsigned_transaction
from ledgerd.protocol.crypto.keys import PrivateKey
from ledgerd.protocol.networks.parameters import TESTNET
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.identifiers import BlockId
from ledgerd.protocol.types.names import AccountName
from ledgerd.rpc.api.node.dev_api import Head
from tests.node.processes import NodeProcess

ALICE_KEY = PrivateKey.from_wif("5J9DBCRX5D2ZUUuy9qV2ef9p5sfA3ydHsDs2G531bob7wbEigDJ")
ALICE, BOB = AccountName("alice"), AccountName("bob")


def dev(folder: Path, *words: str) -> NodeProcess:
    return NodeProcess("dev", "--data-dir", str(folder), "--http=127.0.0.1:0", "--ws=127.0.0.1:0", *words)


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("dev") / "chain"


@pytest.fixture(scope="module")
def one_node(chain: Path) -> Iterator[NodeProcess]:
    """One process for all tests of this file that do not need another one."""
    with dev(chain, "--block-time=0") as node:
        yield node


@pytest.fixture
def node(one_node: NodeProcess) -> Iterator[NodeProcess]:
    """The node; each test finds the state with which it began, by what `ledgerd dev` has for that."""
    began = one_node.call("dev_api", "snapshot")
    yield one_node
    assert one_node.call("dev_api", "revert", began["snapshot"])["head_block_number"] == began["head_block_number"]


def send(node: NodeProcess, memo: str, lifetime: int = 600) -> Any:
    """A transfer by one of the accounts whose keys are known."""
    head = node.call("database_api", "get_dynamic_global_properties")
    expiration = node.call("dev_api", "head")["time"] + lifetime
    draft = unsigned_transaction(
        BlockId(bytes.fromhex(head["head_block_id"])), expiration, (Transfer(ALICE, BOB, tokens(1_000), memo),)
    )
    signed = draft.signed(TESTNET.chain_id, [ALICE_KEY])
    return node.call(
        "network_broadcast_api", "broadcast_transaction", json.loads(codec_of(Transaction).to_json(signed))
    )


def balance(node: NodeProcess, name: str = "bob") -> str:
    text: str = node.call("database_api", "get_accounts", [name])[0]["balance"]
    return text


def test_it_is_past_all_hardforks_when_it_is_first_asked(node: NodeProcess) -> None:
    assert node.call("database_api", "get_hardfork_version") == "4.1.0"
    assert node.head == 21


def test_accounts_are_funded_and_their_keys_are_printed(node: NodeProcess) -> None:
    node.wait_for("Try it:")

    assert balance(node, "alice") == "10000.000 VIZ"
    assert f"alice      {ALICE_KEY.wif}" in node.log


def test_without_a_block_time_each_transaction_has_its_block(node: NodeProcess) -> None:
    before = node.head

    assert send(node, "one") == {}
    assert send(node, "two") == {}

    assert node.head == before + 2
    assert balance(node) == "10002.000 VIZ"


def test_a_transaction_that_breaks_a_rule_makes_no_block(node: NodeProcess) -> None:
    before = node.head

    assert send(node, "x" * 3_000) != {}
    assert node.head == before


def test_a_transaction_that_expires_before_its_block_is_refused(node: NodeProcess) -> None:
    assert "the chain's clock is ahead of yours" in send(node, "one", lifetime=2)["message"]
    assert send(node, "one", lifetime=10) == {}


class IdleDevelopment(Development):
    """A chain whose head is from long ago; it only notes for when blocks are wanted."""

    def __init__(self, block: object) -> None:
        self._options = DevOptions(block_time=0)
        self._chain = cast("Any", SimpleNamespace(chain=SimpleNamespace(head_number=1, block_at=lambda _number: block)))
        self.made: list[int] = []

    def _now(self) -> int:
        return 5_000

    def _make(self, second: int) -> None:
        self.made.append(second)

    def _head(self) -> Head:
        return Head(1, 1_000)


def test_a_transaction_that_was_to_expire_a_minute_after_an_old_head_has_its_block_behind_that() -> None:
    transfer = Transfer(ALICE, BOB, tokens(1), "")
    transaction = unsigned_transaction(BlockId(bytes(20)), 1_060, (transfer,)).signed(TESTNET.chain_id, [])
    development = IdleDevelopment(SimpleNamespace(transactions=[transaction]))

    development.mine_at_once(transaction)

    assert development.made == [1_000]


def test_blocks_are_made_when_asked_for(node: NodeProcess) -> None:
    before = node.head

    assert node.call("dev_api", "mine_blocks", 7)["head_block_number"] == before + 7
    assert node.head == before + 7


def test_the_clock_can_be_moved_by_a_month(tmp_path: Path) -> None:
    with dev(tmp_path / "chain", "--block-time=0") as node:
        before = node.call("dev_api", "mine_blocks", 1)["time"]

        after = node.call("dev_api", "move_time", 30 * 86_400)["time"]

        assert 30 * 86_400 - 3 <= after - before <= 30 * 86_400 + 60
        assert not node.call("database_api", "get_dynamic_global_properties")["emergency_consensus_active"]
        assert send(node, "much later") == {}


def test_a_snapshot_can_be_gone_back_to_again_and_again(node: NodeProcess) -> None:
    kept = node.call("dev_api", "snapshot")
    for memo in ("one", "another"):
        send(node, memo)
        node.call("dev_api", "mine_blocks", 3)
        assert balance(node) == "10001.000 VIZ"

        assert node.call("dev_api", "revert", kept["snapshot"])["head_block_number"] == kept["head_block_number"]

        assert balance(node) == "10000.000 VIZ"
        assert node.call("database_api", "get_block", kept["head_block_number"] + 1) is None
        assert node.call("operation_history", "get_ops_in_block", kept["head_block_number"] + 1, False) == []

    assert "there is no snapshot 99" in node.call("dev_api", "revert", 99)["message"]


def test_a_chain_is_gone_on_with_and_can_begin_anew(tmp_path: Path) -> None:
    folder = tmp_path / "chain"
    with dev(folder, "--block-time=0", "--fast-forward=1h") as node:
        head = node.head
        assert node.stop() == 0
    with dev(folder, "--block-time=0") as node:
        assert node.head == head
        assert node.stop() == 0
    with dev(folder, "--fresh", "--block-time=0") as node:
        assert node.head == 21


def test_its_network_is_told_to_other_commands(chain: Path, node: NodeProcess) -> None:
    assert node.process.poll() is None
    given = {"data-dir": [str(chain)]}

    assert read_configuration(given, chain).application.chain == "testnet"


def test_a_chain_that_runs_is_not_taken_away(chain: Path, node: NodeProcess) -> None:
    head = node.head
    with dev(chain, "--fresh") as second:
        assert second.wait() == 1

    assert "is in use by another node" in second.log
    assert node.call("dev_api", "mine_blocks", 1)["head_block_number"] == head + 1


def test_in_real_time_blocks_come_by_themselves(tmp_path: Path) -> None:
    with dev(tmp_path / "chain") as node:
        node.wait_for("  block 2")  # the first may have come before the greeting, where the machine is busy
        assert node.stop() == 0


def test_a_directory_that_holds_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letters.txt").write_text("dear")

    with dev(tmp_path, "--fresh") as node:
        assert node.wait() == 1

    assert "holds something else" in node.log
    assert (tmp_path / "letters.txt").exists()


@pytest.mark.parametrize(("text", "seconds"), [("90", 90), ("5m", 300), ("12h", 43_200), ("30d", 2_592_000)])
def test_a_duration_is_a_number_and_a_unit(text: str, seconds: int) -> None:
    assert duration(text) == seconds


def test_what_waits_for_a_block_is_seen_at_once_and_gone_when_it_is_forgotten(tmp_path: Path) -> None:
    with dev(tmp_path / "chain", "--block-time=3600") as node:
        before = node.head
        assert balance(node) == "10000.000 VIZ"

        assert send(node, "one") == {}
        assert balance(node) == "10001.000 VIZ"
        assert send(node, "two") == {}
        assert balance(node) == "10002.000 VIZ"
        assert node.head == before

        node.call("dev_api", "forget_pending")
        assert balance(node) == "10000.000 VIZ"

        kept = node.call("dev_api", "snapshot")
        assert send(node, "three") == {}
        assert balance(node) == "10001.000 VIZ"
        node.call("dev_api", "revert", kept["snapshot"])
        assert balance(node) == "10000.000 VIZ"

        assert send(node, "four") == {}
        node.call("dev_api", "mine_blocks", 1)
        assert balance(node) == "10001.000 VIZ"


def test_the_clock_moves_by_ten_years_of_slots_at_most(node: NodeProcess) -> None:
    before = node.head

    for seconds in (10 * 365 * 86_400 + 1, 4_294_967_295):
        assert "ten years of slots" in node.call("dev_api", "move_time", seconds)["message"]
    assert node.head == before


def test_pages_of_the_web_cannot_drive_the_chain(node: NodeProcess) -> None:
    assert node.status({"Origin": "https://evil.example", "Content-Type": "text/plain"}) == 403
    assert node.status({"Host": "evil.example"}) == 403
    assert node.status({}) == 200


def test_pages_that_the_developer_names_may(tmp_path: Path) -> None:
    with dev(tmp_path / "chain", "--allow-origin=http://localhost:3000") as node:
        assert node.status({"Origin": "http://localhost:3000"}) == 200
        assert node.status({"Origin": "http://localhost:3001"}) == 403
