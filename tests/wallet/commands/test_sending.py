"""Between the moment when a transaction is shown and the one when it is sent: what changes then stops it."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from ledgerd.codec import codec_of
from ledgerd.protocol.crypto.keys import PrivateKey, PublicKey, public_key_text
from ledgerd.protocol.crypto.signatures import Signature, sign
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.operations.validators import ValidatorUpdate
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.authority import Authority, authority_of
from ledgerd.protocol.types.names import AccountName
from ledgerd.protocol.types.time_text import time_text
from ledgerd.wallet.commands import sending
from ledgerd.wallet.commands.sending import Choices, send
from ledgerd.wallet.errors import ExpiredTransaction, FeeChanged, KeyNotFound, NotAsked, WalletError
from ledgerd.wallet.keys import messages
from ledgerd.wallet.transactions.sending import Until
from tests.wallet.nodes import FakeNode, serving

KEY, WRONG = PrivateKey(b"\5" * 32), PrivateKey(b"\6" * 32)
ALICE, BOB = AccountName("alice"), AccountName("bob")
TRANSFER = Transfer(ALICE, BOB, tokens(1), "")
DECLARATION = ValidatorUpdate(ALICE, "https://example.org", KEY.public)


class Keys:
    """A wallet that is unlocked, in this process."""

    def __init__(self, key: PrivateKey = KEY) -> None:
        self.key = key
        self.signed = 0

    def status(self) -> None:
        """It is there."""

    def keys(self) -> messages.Keys:
        return messages.Keys((messages.KnownKey(public_key_text(KEY.public), ""),), ())

    def sign(self, chain_id: bytes, unsigned: bytes, keys: list[PublicKey]) -> list[Signature]:
        self.signed += 1
        return [sign(self.key, hashlib.sha256(chain_id + unsigned).digest()) for _ in keys]


def account(name: str) -> dict[str, Any]:
    authority = json.loads(codec_of(Authority).to_json(authority_of(KEY.public)))
    roles = {f"{role}_authority": authority for role in ("regular", "active", "master")}
    return {"name": name, "memo_key": public_key_text(KEY.public), **roles}


def answers() -> dict[str, object]:
    """Of a node that tells the truth."""
    return {
        "get_config": {"CHAIN_ID": "aa" * 32},
        "get_dynamic_global_properties": {
            "head_block_id": (100).to_bytes(4, "big").hex() + "00" * 16,
            "head_block_number": 100,
            "time": time_text(int(time.time())),
            "last_irreversible_block_num": 90,
        },
        "get_block_header": {"previous": (90).to_bytes(4, "big").hex() + "00" * 16},
        "lookup_account_names": lambda names: [account(each) if each in ("alice", "bob") else None for each in names],
        "get_agent_permissions": [],
        "get_key_references": [["alice"]],
        "get_chain_properties": {"validator_declaration_fee": "10.000 VIZ"},
        "broadcast_transaction": {},
    }


@pytest.fixture
def node() -> Iterator[FakeNode]:
    with serving(FakeNode(**answers())) as fake:
        yield fake


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> Keys:
    held = Keys()
    monkeypatch.setattr(sending, "session_of", lambda _: held)
    return held


def choices(node: FakeNode, folder: Path, *, is_yes: bool = True, lifetime: float = 60) -> Choices:
    return Choices(
        folder / "wallet.json", (node.url,), is_yes=is_yes, until=Until.SENT, is_json=True, lifetime=lifetime
    )


def made(operation: Operation) -> Any:
    return lambda _: [operation]


def test_what_was_shown_is_sent(node: FakeNode, keys: Keys, tmp_path: Path) -> None:
    result = send(choices(node, tmp_path), made(TRANSFER))

    assert result["state"] == "pending"
    (sent,) = [words for method, words in node.asked if method == "broadcast_transaction"]
    assert sent[0]["operations"] == json.loads(json.dumps(result["operations"]))
    assert keys.signed == 1


@pytest.mark.usefixtures("keys")
def test_a_fee_that_changes_while_a_person_is_asked_stops_it(
    node: FakeNode, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert send(choices(node, tmp_path), made(DECLARATION))["fees"] == (
        "10.000 VIZ (the first time): validator_declaration_fee",
    )

    def say_yes(_question: str) -> bool:
        node.answers["get_chain_properties"] = {"validator_declaration_fee": "9999.000 VIZ"}
        return True

    monkeypatch.setattr("ledgerd.wallet.commands.sending.ask", say_yes)
    sent = node.count("broadcast_transaction")
    with pytest.raises(FeeChanged):
        send(choices(node, tmp_path, is_yes=False), made(DECLARATION))
    assert node.count("broadcast_transaction") == sent


@pytest.mark.usefixtures("keys")
def test_one_that_has_expired_meanwhile_is_not_sent(
    node: FakeNode, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [1_000.0]

    def ponder(_question: str) -> bool:
        clock[0] += 61
        return True

    monkeypatch.setattr("ledgerd.wallet.commands.sending.ask", ponder)
    with pytest.raises(ExpiredTransaction):
        send(msgspec.structs.replace(choices(node, tmp_path, is_yes=False), elapsed=lambda: clock[0]), made(TRANSFER))
    assert node.count("broadcast_transaction") == 0


def test_signatures_of_other_bytes_or_keys_are_not_sent(node: FakeNode, keys: Keys, tmp_path: Path) -> None:
    keys.key = WRONG
    with pytest.raises(WalletError, match="not of these bytes and keys"):
        send(choices(node, tmp_path), made(TRANSFER))
    assert node.count("broadcast_transaction") == 0


def test_nothing_is_signed_for_a_person_who_cannot_be_asked(
    node: FakeNode, keys: Keys, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ledgerd.wallet.commands.sending.TERMINAL", str(tmp_path / "none"))
    with pytest.raises(NotAsked):
        send(choices(node, tmp_path, is_yes=False), made(TRANSFER))
    assert (keys.signed, node.count("broadcast_transaction")) == (0, 0)


@pytest.mark.usefixtures("keys")
def test_without_the_keys_nothing_is_sent(node: FakeNode, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Keys, "keys", lambda _: messages.Keys((), ()))
    with pytest.raises(KeyNotFound, match="with --save others can sign too"):
        send(choices(node, tmp_path), made(TRANSFER))


def test_plain_http_beyond_this_machine_warns(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with pytest.raises(WalletError), Choices(tmp_path / "w", ("http://node.invalid:1",)).checked_node():
        pass
    assert "WARNING: what you ask http://node.invalid:1 can be read and changed" in capsys.readouterr().err
