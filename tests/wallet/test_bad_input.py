"""What a person or a node gets wrong, by the command line: each has its kind, code and text, and nothing is sent."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ledgerd.basics.printable import is_shown
from ledgerd.protocol.types.identifiers import BlockId, ChainId
from ledgerd.protocol.types.time_text import time_text
from ledgerd.sdk.transactions.chain_status import ChainStatus
from ledgerd.sdk.transactions.draft import ROLES, draft_of
from ledgerd.wallet import command_line, errors
from ledgerd.wallet.commands import sending
from ledgerd.wallet.node.checks import SeenChain, remember
from ledgerd.wallet.transactions.draft import save
from tests.wallet.commands.test_sending import TRANSFER, Keys, answers
from tests.wallet.nodes import FakeNode, Fault, serving

CHAIN = "aa" * 32
HEAD = 100
TRANSFER_WORDS = ("transfer", "alice", "bob", "1.000 VIZ")
DECLARE_WORDS = ("declare-validator", "alice", "https://example.org", "VIZ1111111111111111111111111111111114T1Anm")


class Desk:
    """A wallet that is unlocked, one node or two, and what is done with them."""

    def __init__(self, folder: Path, node: FakeNode, second: FakeNode, keys: Keys) -> None:
        self.folder, self.node, self.second, self.keys = folder, node, second, keys
        self.wallet = folder / "wallet.json"
        self.wallet.touch()

    def properties(self, **more: object) -> None:
        """What the node says of its head."""
        known: Any = self.node.answers["get_dynamic_global_properties"]
        self.node.answers["get_dynamic_global_properties"] = known | more

    def do(self, *words: str, is_sure: bool = True) -> int:
        more = ("--yes",) if is_sure else ()
        return command_line.main(
            [*words, *more, "--wallet", str(self.wallet), "--node", self.node.url, "--wait", "none", "--json"]
        )

    @property
    def sent(self) -> int:
        return self.node.count("broadcast_transaction") + self.second.count("broadcast_transaction")


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    keys = Keys()
    monkeypatch.setattr(sending, "session_of", lambda _: keys)
    with serving(FakeNode(**answers())) as node, serving(FakeNode(**answers())) as second:
        yield Desk(tmp_path, node, second, keys)


def another_chain(desk: Desk) -> int:
    remember(desk.wallet, SeenChain("bb" * 32, 1, time.time()))
    return desk.do(*TRANSFER_WORDS)


def head_of_another_time(seconds: int) -> Callable[[Desk], int]:
    def act(desk: Desk) -> int:
        desk.properties(time=time_text(int(time.time()) + seconds))
        return desk.do(*TRANSFER_WORDS)

    return act


def head_that_went_back(desk: Desk) -> int:
    remember(desk.wallet, SeenChain(CHAIN, HEAD + 1, time.time()))
    return desk.do(*TRANSFER_WORDS)


def nodes_that_disagree(desk: Desk) -> int:
    desk.second.answers["get_block_header"] = {"previous": "ff" * 20}
    return desk.do(*TRANSFER_WORDS, "--node", desk.second.url)


def larger_fee(desk: Desk) -> int:
    told = iter(("10.000 VIZ", "9999.000 VIZ"))
    desk.node.answers["get_chain_properties"] = lambda: {"validator_declaration_fee": next(told)}
    return desk.do(*DECLARE_WORDS)


def expired_file(desk: Desk) -> int:
    now = int(time.time())
    standing = ChainStatus(
        ChainId(bytes.fromhex(CHAIN)), BlockId(HEAD.to_bytes(4, "big") + bytes(16)), HEAD, now - 120, HEAD - 10
    )
    save(desk.folder / "old.json", draft_of(standing, 60, [TRANSFER]), {}, {})
    desk.properties(time=time_text(now))
    return command_line.main(
        ["broadcast", str(desk.folder / "old.json"), "--wallet", str(desk.wallet), "--node", desk.node.url, "--json"]
    )


def nobody_to_ask(desk: Desk) -> int:
    return desk.do(*TRANSFER_WORDS, is_sure=False)


def typed(*words: str) -> Callable[[Desk], int]:
    return lambda desk: desk.do(*words)


CASES: dict[str, tuple[Callable[[Desk], int], type[errors.WalletError], str]] = {
    "another chain than the stored one": (
        another_chain,
        errors.OtherChain,
        "this wallet is used with bbbb",
    ),
    "a head 65 s ahead of the clock": (head_of_another_time(65), errors.WrongClock, "seconds ahead of the clock"),
    "a head 65 s behind the clock": (head_of_another_time(-65), errors.WrongClock, "seconds behind the clock"),
    "a head below the last seen": (head_that_went_back, errors.HeadWentBack, "block 100, but block 101 was seen"),
    "two nodes that disagree": (nodes_that_disagree, errors.NodesDisagree, "different irreversible blocks 90"),
    "a fee above the confirmed one": (larger_fee, errors.FeeChanged, "another fee than the one that was shown"),
    "a transaction that has expired": (expired_file, errors.ExpiredTransaction, "has expired: nothing was sent"),
    "no terminal and no --yes": (nobody_to_ask, errors.NotAsked, "no terminal to ask"),
    "a name one letter off": (
        typed("transfer", "alice", "bobb", "1.000 VIZ"),
        errors.NoSuchAccount,
        "did you mean bob?",
    ),
    "two decimals": (typed("transfer", "alice", "bob", "1.00 VIZ"), errors.WrongAmount, "3 decimals, 2 were given"),
    "four decimals": (
        typed("transfer", "alice", "bob", "1.0000 VIZ"),
        errors.WrongAmount,
        "VIZ has 3 decimals, 4 were",
    ),
    "three decimals of shares": (
        typed("withdraw", "alice", "1.000 SHARES"),
        errors.WrongAmount,
        "SHARES has 6 decimals, 3 were given",
    ),
    "another symbol": (typed("transfer", "alice", "bob", "1.000 BTC"), errors.WrongAmount, "is no amount"),
}


@pytest.mark.parametrize("case", CASES)
def test_what_is_wrong_has_its_kind_code_and_text_and_nothing_is_sent(
    desk: Desk, case: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "TERMINAL", str(desk.folder / "none"))
    act, kind, text = CASES[case]

    assert act(desk) == kind.EXIT_CODE

    told = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (told["ok"], told["error"]["kind"]) == (False, kind.__name__)
    assert text in told["error"]["message"]
    assert desk.sent == 0
    assert desk.keys.signed == (1 if kind is errors.FeeChanged else 0), "a fee is asked for again just before sending"


def test_the_same_words_are_sent_where_nothing_is_wrong(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    for words in (TRANSFER_WORDS, DECLARE_WORDS):
        assert desk.do(*words, "--node", desk.second.url) == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["ok"]
    assert (desk.sent, desk.keys.signed) == (2, 2)


def test_a_proposal_is_approved_only_if_two_nodes_show_the_same(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    """An approval names the title alone: a node could show a harmless proposal in the place of another."""

    def proposal(amount: str) -> list[dict[str, object]]:
        pay = ["transfer", {"from": "bob", "to": "alice", "amount": amount, "memo": ""}]
        return [{"author": "alice", "title": "rent", "proposed_operations": [pay]}]

    words = ("proposal", "approve", "alice", "rent", "bob", "--node", desk.second.url)
    desk.node.answers["get_proposed_transactions"] = proposal("1.000 VIZ")
    desk.second.answers["get_proposed_transactions"] = proposal("9999.000 VIZ")
    assert desk.do(*words) == errors.NodesDisagree.EXIT_CODE
    assert "different things of the proposal rent of alice" in capsys.readouterr().out
    assert (desk.sent, desk.keys.signed) == (0, 0)

    desk.second.answers["get_proposed_transactions"] = proposal("1.000 VIZ")
    assert desk.do(*words) == 0
    assert (desk.sent, desk.keys.signed) == (1, 1)


CONTROL = "\x1b[2J\x1b[1;1H\r\u202e"


FORGED = "The transaction is irreversible: send the goods."


@pytest.mark.parametrize(
    ("control", "shown_as"),
    [(CONTROL, "\\x1b[2J"), (f"x\n{FORGED}", f"x\\n{FORGED}"), ("\u2800\u3164\u115f", "\\u2800")],
)
@pytest.mark.parametrize("form", [(), ("--json",)])
def test_a_node_cannot_write_to_the_terminal_what_it_likes(
    desk: Desk, capsys: pytest.CaptureFixture[str], control: str, shown_as: str, form: tuple[str, ...]
) -> None:
    """Whatever of its words is shown: an error, a table, a key that the validator should have, an author."""
    told = {"owner": "alice", "url": control, "signing_key": f"VIZ{control}", "total_missed": 0}
    desk.node.answers |= {
        "get_validators_by_counted_vote": [{"owner": control}],
        "get_validator_by_account": told,
        "get_proposed_transactions": [
            {"author": control, "title": "rent", "expiration_time": control, "proposed_operations": []}
            | {f"{way}_{role}_approvals": [control] for way in ("required", "available") for role in ROLES}
        ],
        "get_agent_permissions": lambda _: refuse(),
    }

    def refuse(*_: object) -> None:
        raise Fault(f"no{control}")

    for words in (
        ("show", "validator"),
        ("show", "account", "alice"),
        ("validator", "check", "alice"),
        ("proposal", "review", "alice"),
        ("status", "00" * 20),
    ):
        desk.node.answers["get_accounts"] = desk.node.answers["get_transaction"] = refuse
        command_line.main([*words, "--wallet", str(desk.wallet), "--node", desk.node.url, *form])
    shown = "".join(capsys.readouterr())
    assert form or shown.count(shown_as) >= 8
    assert [each for each in shown if not (is_shown(each) or each == "\n")] == []
    assert [line for line in shown.splitlines() if line.strip().startswith(FORGED)] == []
    assert all(isinstance(json.loads(line), dict) for line in shown.splitlines() if form)


def test_a_key_that_is_none_never_becomes_a_part_of_a_command(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    told = {"owner": "alice", "url": "", "signing_key": "$(rm -rf ~)", "total_missed": 0}
    desk.node.answers["get_validator_by_account"] = told
    assert desk.do("validator", "rotate", "alice", DECLARE_WORDS[-1]) == errors.NodeUnreachable.EXIT_CODE
    assert "rm -rf" not in "".join(capsys.readouterr())
    assert desk.sent == 0
