"""The wallet and a node: what people send comes into blocks, from the command line to the ledger."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ledgerd.node.dev.founding import PUBLISHED_ACCOUNTS_KEY
from ledgerd.producer.testnet_start import PUBLISHED_INITIATOR_KEY
from ledgerd.protocol.crypto.keys import PrivateKey, public_key_text
from ledgerd.wallet.errors import (
    KeyNotFound,
    NodeRefused,
    NoSuchAccount,
    NotAsked,
    NotConfirmed,
    RuleBroken,
    WalletError,
    WrongAmount,
)
from ledgerd.wallet.shell.session import LineHistory
from tests.node.processes import PROGRAM, NodeProcess
from tests.wallet.memory import keeper_of, search, wait_for_end
from tests.wallet.test_command_line import Hands, typed

PUBLIC = public_key_text(PrivateKey.from_wif(PUBLISHED_ACCOUNTS_KEY).public)
FRIEND = PrivateKey(b"\x11" * 32)
"""A key that is in no wallet at first."""


class Person(Hands):
    """Somebody with a wallet and a node."""

    url = ""

    def at_node(self, *words: str) -> tuple[str, ...]:
        # Each block of this chain moves its clock by a slot.
        return (*words, "--node", self.url, "--clock-difference", "100000")

    def sends(self, *words: str) -> dict[str, Any]:
        """A command that makes a transaction; it has to come into a block."""
        result = self.json(*self.at_node(*words, "--yes"))
        assert result["state"] in ("in a block", "irreversible"), result
        return result

    def asks(self, *words: str) -> dict[str, Any]:
        return self.json(*self.at_node(*words))

    def fails(self, *words: str) -> tuple[int, str]:
        done = self.call(*self.at_node(*words, "--json"))
        return done.returncode, json.loads(done.stdout)["error"]["message"]

    def take(self, name: str, wif: str) -> None:
        self.write(name, wif)
        self.json("key", "import", "--secret-file", f"@{name}")


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NodeProcess]:
    folder = tmp_path_factory.mktemp("dev")
    words = ("dev", "--block-time", "0", "--fresh", "--data-dir", str(folder / "data"))
    with NodeProcess(*words, "--http", "127.0.0.1:0", "--ws", "127.0.0.1:0", program=PROGRAM) as node:
        node.port()
        yield node


@pytest.fixture(scope="module")
def person(tmp_path_factory: pytest.TempPathFactory, node: NodeProcess) -> Iterator[Person]:
    with tempfile.TemporaryDirectory(prefix="w", dir="/tmp") as runtime:
        person = Person(tmp_path_factory.mktemp("person"), Path(runtime))
        person.url = f"http://127.0.0.1:{node.port()}"
        person.unlocked()
        person.take("accounts", PUBLISHED_ACCOUNTS_KEY)
        yield person
        person.call("lock")


def balance(person: Person, name: str) -> str:
    shown = person.asks("show", "account", name)["record"]
    return str(shown["balance"])


def test_a_transfer_comes_into_a_block_and_moves_tokens(person: Person) -> None:
    before = float(balance(person, "bob").split()[0])
    sent = person.sends("transfer", "alice", "bob", "1.500", "VIZ", "--memo", "thank you")

    assert float(balance(person, "bob").split()[0]) == before + 1.5
    assert sent["operations"] == [
        ["transfer", {"from": "alice", "to": "bob", "amount": "1.500 VIZ", "memo": "thank you"}]
    ]
    assert sent["required"] == ["alice (active)"]
    assert sent["signing"] == [PUBLIC]
    found = person.asks("status", sent["id"])
    assert found["block"] == sent["block"]
    history = person.asks("show", "history", "bob", "--limit", "1")["rows"]
    assert history[0][2:4] == [sent["block"], "transfer"]


def test_without_a_terminal_nothing_is_sent_unless_yes_is_said(person: Person) -> None:
    before = balance(person, "bob")
    done = person.call_apart(*person.at_node("transfer", "alice", "bob", "1.000", "VIZ"))

    assert (done.returncode, "no terminal to ask" in done.stderr) == (NotAsked.EXIT_CODE, True)
    assert "amount  1.000 VIZ" in done.stdout
    assert balance(person, "bob") == before


def test_a_person_is_asked_and_may_say_no(person: Person) -> None:
    words = list(person.at_node("transfer", "alice", "bob", "1.000", "VIZ"))
    before = balance(person, "bob")
    code, shown = typed(person, words, ["n"])

    assert (code, "nothing was signed or sent" in shown) == (NotConfirmed.EXIT_CODE, True)
    assert balance(person, "bob") == before
    code, shown = typed(person, words, ["y"])
    assert (code, "from    alice" in shown) == (0, True)
    assert balance(person, "bob") != before


def test_a_name_that_is_one_letter_off_is_asked_about(person: Person) -> None:
    code, message = person.fails("transfer", "alice", "bobb", "1.000 VIZ", "--yes")
    assert (code, message) == (
        NoSuchAccount.EXIT_CODE,
        "there is no account bobb; did you mean bob? Nothing was sent",
    )
    code, shown = typed(person, list(person.at_node("transfer", "alice", "bobb", "1.000", "VIZ")), ["y", "y"])
    assert (code, "Did you mean bob?" in shown, "to      bob\r\n" in shown) == (0, True, True)


@pytest.mark.parametrize(
    ("words", "kind", "text"),
    [
        (("transfer", "alice", "bob", "1.00 VIZ"), WrongAmount, "VIZ has 3 decimals, 2 were given"),
        (("transfer", "alice", "nobody-at-all", "1.000 VIZ"), NoSuchAccount, "there is no account nobody-at-all"),
        (("transfer", "alice", "bob", "0.000 VIZ"), RuleBroken, "Cannot transfer a negative amount"),
        (("transfer", "alice", "bob", "99999999.000 VIZ"), NodeRefused, "does not have sufficient funds"),
        (("call", "vote", "{}"), RuleBroken, "vote is deprecated as of HF 4"),
        (("call", "receive_award", "{}"), RuleBroken, "This is a virtual operation"),
    ],
)
def test_what_is_wrong_has_its_own_text_and_code(person: Person, words: tuple[str, ...], kind: Any, text: str) -> None:
    code, message = person.fails(*words, "--yes")

    assert (code, text in message) == (kind.EXIT_CODE, True), message


def test_a_memo_that_begins_with_a_mark_is_encrypted_and_read(person: Person) -> None:
    sent = person.sends("transfer", "alice", "bob", "0.001 VIZ", "--memo", "#our secret")
    memo = sent["operations"][0][1]["memo"]

    assert memo.startswith("#")
    assert "secret" not in memo
    assert person.json("memo", "read", memo) == {"text": "our secret"}
    again = person.sends("call", "transfer", json.dumps(sent["operations"][0][1] | {"amount": "0.002 VIZ"}))
    assert again["operations"][0][1]["memo"] == memo


def test_a_transaction_goes_through_files_to_a_machine_without_a_node(person: Person) -> None:
    made = person.json(*person.at_node("transfer", "alice", "bob", "0.003", "VIZ", "--save", "@pay.json"))
    assert made["state"] == "unsigned"
    assert person.call(*person.at_node("broadcast", "@pay.json")).returncode == KeyNotFound.EXIT_CODE
    signed = person.json("sign", "@pay.json", "--yes")
    assert (signed["state"], signed["signing"]) == ("signed", [PUBLIC])
    sent = person.asks("broadcast", "@pay.json")
    assert sent["block"] == person.asks("status", "@pay.json")["block"] > 0
    assert sent["id"] == made["id"]


def test_the_key_is_chosen_where_the_file_does_not_say_who_signs(person: Person) -> None:
    person.json(*person.at_node("transfer", "alice", "bob", "0.004", "VIZ", "--save", "@bare.json"))
    path = person.folder / "bare.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "authorities": {}}))
    refused = person.call("sign", "@bare.json", "--yes")
    assert (refused.returncode, "choose the key with --key" in refused.stderr) == (WalletError.EXIT_CODE, True)
    assert person.json("sign", "@bare.json", "--key", PUBLIC, "--yes")["state"] == "partly signed"
    assert person.asks("broadcast", "@bare.json")["block"] > 0


def test_two_wallets_sign_one_transaction(person: Person, tmp_path: Path) -> None:
    shared = {
        "weight_threshold": 2,
        "account_auths": [],
        "key_auths": [[PUBLIC, 1], [public_key_text(FRIEND.public), 1]],
    }
    person.sends("account-update", "frank", PUBLIC, "--active", json.dumps(shared), "--master", json.dumps(shared))
    person.json(*person.at_node("transfer", "frank", "bob", "0.001", "VIZ", "--save", "@both.json"))
    first = person.json("sign", "@both.json", "--yes")
    assert (first["state"], first["signing"]) == ("partly signed", [PUBLIC])
    assert person.call(*person.at_node("broadcast", "@both.json")).returncode == KeyNotFound.EXIT_CODE
    with tempfile.TemporaryDirectory(prefix="w", dir="/tmp") as runtime:
        (tmp_path / "friend").mkdir()
        friend = Person(tmp_path / "friend", Path(runtime))
        friend.unlocked()
        friend.take("own", FRIEND.wif)
        second = friend.json("sign", str(person.folder / "both.json"), "--yes")
        friend.call("lock")
    assert (second["state"], len(second["signed"])) == ("signed", 1)
    assert person.asks("broadcast", "@both.json")["block"] > 0


def test_a_proposal_is_made_of_files_read_approved_and_carried_out(person: Person) -> None:
    person.json(*person.at_node("transfer", "charlie", "bob", "0.500", "VIZ", "--save", "@one.json"))
    person.sends("proposal", "create", "alice", "rent", "@one.json", "--expires", "+1h")
    shown = person.asks("proposal", "review", "charlie", "rent")["proposals"][0]
    assert "    amount  0.500 VIZ" in shown["words"]
    assert shown["required_active_approvals"] == ["charlie"]
    before = balance(person, "bob")
    person.sends("proposal", "approve", "alice", "rent", "charlie")
    assert balance(person, "bob") != before


def test_a_proposal_is_withdrawn(person: Person) -> None:
    person.json(*person.at_node("transfer", "charlie", "bob", "0.500", "VIZ", "--save", "@two.json"))
    person.sends("proposal", "create", "alice", "more rent", "@two.json")
    person.sends("proposal", "withdraw", "alice", "more rent", "alice")
    assert person.fails("proposal", "review", "alice", "more rent")[1].startswith("alice has no proposal more rent")


def test_an_agent_is_granted_acts_and_is_revoked(person: Person, tmp_path: Path) -> None:
    bot_key = PrivateKey(b"\x22" * 32)
    person.sends("agent", "grant", "alice", "bot", public_key_text(bot_key.public), "award", "--expires", "+1d")
    listed = {each["name"]: each for each in person.asks("agent", "list", "alice")["agents"]}
    assert listed["bot"]["operations"] == ["award"]
    with tempfile.TemporaryDirectory(prefix="w", dir="/tmp") as runtime:
        (tmp_path / "bot").mkdir()
        bot = Person(tmp_path / "bot", Path(runtime))
        bot.url = person.url
        bot.unlocked()
        bot.take("own", bot_key.wif)
        sent = bot.sends("award", "alice", "bob", "100")
        assert sent["signing"] == [public_key_text(bot_key.public)]
        assert bot.fails("transfer", "alice", "bob", "1.000 VIZ", "--yes")[0] == KeyNotFound.EXIT_CODE
        person.sends("agent", "revoke", "alice", "bot")
        assert bot.fails("award", "alice", "bob", "100", "--yes")[0] == KeyNotFound.EXIT_CODE
        bot.call("lock")


def test_tables_show_what_a_node_says(person: Person) -> None:
    person.take("initiator", PUBLISHED_INITIATOR_KEY)
    person.sends("request-funds", "alice", "https://example.org", "bob", "1.000 VIZ", "2.000 VIZ", "432000")
    for words, text in (
        (("account", "alice"), "memo_key"),
        (("validator",), "viz"),
        (("validator", "viz"), "signing_key"),
        (("proposal", "alice"), "proposals of alice"),
        (("committee",), "https://example.org"),
        (("history", "alice"), "committee_worker_create_request"),
    ):
        done = person.call(*person.at_node("show", *words))
        assert (done.returncode, text in done.stdout) == (0, True), done.stdout + done.stderr
    assert person.fails("show", "account", "nobody")[0] == NoSuchAccount.EXIT_CODE


def processes_of(node: NodeProcess) -> list[int]:
    """The node and the processes that it has started."""
    main = node.process.pid
    return [main, *map(int, (Path("/proc") / str(main) / "task" / str(main) / "children").read_text().split())]


def test_a_key_that_has_signed_is_nowhere_but_in_its_keeper_and_after_lock_nowhere(
    person: Person, node: NodeProcess, tmp_path: Path
) -> None:
    """The search finds a planted key in this process, which is the client, and in a file; none of the wallet's."""
    planted = PrivateKey(os.urandom(32))
    with tempfile.TemporaryDirectory(prefix="w", dir="/tmp") as runtime:
        bot = Person(tmp_path, Path(runtime))
        bot.url = person.url
        bot.unlocked()
        made = bot.json("key", "new")["key"]
        person.sends("agent", "grant", "alice", "search-bot", made, "award", "--expires", "+1d")
        assert bot.sends("award", "alice", "bob", "100")["signing"] == [made]
        path = tmp_path / "ledgerd" / "wallet.json"
        history = LineHistory(path.with_name("wallet.json.history"))
        history.store_string(f"key list {planted.public.hex()}")
        (tmp_path / "log").write_text(f"{node.log}\n{planted.wif} {planted.secret.hex().upper()}")
        processes = [os.getpid(), *processes_of(node)]
        assert len(processes) > 2
        others = [f"{kind}:{each}" for each in processes for kind in ("memory", "words")]
        others += [f"files:{each}" for each in (tmp_path, runtime, person.folder)]
        words, keeper = ["search", str(path), planted.wif], keeper_of(path)
        *found, held, told = search(words, *others, f"memory:{keeper}", f"words:{keeper}")
        assert set(found[0]) >= {"planted.raw", "planted.WIF"}
        assert found[-3] == ["planted.HEX", "planted.WIF"]
        assert "made.raw" in held
        assert not [each for place in (*found, told) for each in place if each.startswith("made")]
        assert not [each for place in found[2:-3] for each in place], "nothing at all is in the node"
        bot.call("lock")
        wait_for_end(keeper)
        assert not [each for place in search(words, *others) for each in place if each.startswith("made")]
