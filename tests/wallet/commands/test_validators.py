"""Validators: what is wrong with one, what is declared, and the wait for the first block by a new signing key."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from itertools import repeat
from pathlib import Path
from typing import Any

import pytest

from ledgerd.codec import codec_of
from ledgerd.protocol.blocks.block import Block, BlockHeader, merkle_root, sign_block
from ledgerd.protocol.crypto.keys import NULL_KEY, PrivateKey, PublicKey, public_key_text
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.validators import AccountValidatorVote, ValidatorUpdate
from ledgerd.protocol.types.identifiers import BlockId
from ledgerd.protocol.types.names import AccountName
from ledgerd.protocol.types.time_text import time_text
from ledgerd.wallet.commands import validators
from ledgerd.wallet.commands.sending import Choices
from ledgerd.wallet.errors import NodeUnreachable, NoSuchAccount, UnknownOutcome, WalletError
from tests.wallet.nodes import FakeNode, serving

ALICE, BOB = AccountName("alice"), AccountName("bob")
OLD, NEW = PrivateKey(b"\1" * 32), PrivateKey(b"\2" * 32)
DECLARED_AT, HEAD = 100, 104

Ask = Callable[[Choices], Mapping[str, object]]


def block(number: int, validator: AccountName, key: PrivateKey) -> Any:
    previous = BlockId((number - 1).to_bytes(4, "big") + bytes(16))
    made = sign_block(BlockHeader(previous, 3 * number, validator, merkle_root([]), ()), (), key)
    return json.loads(codec_of(Block).to_json(made))


def record(**more: object) -> dict[str, object]:
    return {
        "owner": "alice",
        "url": "https://example.org",
        "signing_key": public_key_text(OLD.public),
        "counted_votes": 5,
        "total_missed": 2,
        "last_confirmed_block_num": HEAD - 1,
        **more,
    }


def declared(**more: object) -> list[dict[str, object]]:
    """What the node says before and after the new key is declared."""
    return [record(), *[record(signing_key=public_key_text(NEW.public)) | more] * 9]


def node_with(found: object, blocks: Mapping[int, Any] | None = None) -> FakeNode:
    """A list is what it says of the validator, one time after the other."""
    told = iter(found if isinstance(found, list) and found else repeat(found))
    return FakeNode(
        get_config={"CHAIN_ID": "00" * 32},
        get_dynamic_global_properties=lambda: {
            "head_block_id": "00" * 20,
            "head_block_number": HEAD,
            "time": time_text(int(time.time())),
            "last_irreversible_block_num": HEAD,
        },
        get_validator_by_account=lambda _: next(told),
        get_validators_by_counted_vote=[{"owner": "bob"}, {"owner": "alice"}],
        get_block=(blocks or {}).get,
    )


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[Operation]:
    """The operations that would be sent."""
    told: list[Operation] = []

    def send(_choices: Choices, make: Callable[[object], Sequence[Operation]]) -> dict[str, object]:
        told.extend(make(None))
        return {"id": "00", "state": "in a block", "block": DECLARED_AT}

    monkeypatch.setattr(validators, "send", send)
    return told


def asked(node: FakeNode, folder: Path, ask: Ask) -> Mapping[str, object]:
    with serving(node):
        return ask(Choices(folder / "wallet.json", (node.url,), is_json=True))


@pytest.mark.parametrize(
    ("found", "key", "problems"),
    [
        ({}, None, []),
        ({}, OLD.public, []),
        ({}, NEW.public, ["the chain knows another signing key"]),
        ({"signing_key": public_key_text(NULL_KEY)}, OLD.public, ["it has no signing key"]),
        ({"counted_votes": 0}, None, ["it has no votes"]),
        ({"last_confirmed_block_num": HEAD - 1_000}, None, ["it has made none of the last 210 blocks"]),
    ],
)
def test_what_is_wrong_with_a_validator_is_said(
    tmp_path: Path, found: dict[str, object], key: PublicKey | None, problems: list[str]
) -> None:
    told = asked(node_with(record(**found)), tmp_path, lambda choices: validators.check(choices, "alice", key))

    shown: Any = told
    assert [each.startswith(text) for each, text in zip(shown["problems"], problems, strict=True)] == [True] * len(
        problems
    )
    assert shown["record"]["place by votes"] == 2


def test_who_is_no_validator_is_told_so(tmp_path: Path) -> None:
    with pytest.raises(NoSuchAccount, match="alice is no validator"):
        asked(node_with(None), tmp_path, lambda choices: validators.check(choices, "alice", None))
    with pytest.raises(NodeUnreachable, match="does not answer as a node does"):
        asked(node_with([]), tmp_path, lambda choices: validators.check(choices, "alice", None))


def test_a_declaration_keeps_its_text_and_a_pause_declares_no_key(tmp_path: Path, sent: list[Operation]) -> None:
    node = node_with(record())
    asked(node, tmp_path, lambda choices: validators.declare(choices, "alice", NEW.public, None))
    asked(node, tmp_path, lambda choices: validators.declare(choices, "alice", NEW.public, "https://new.example"))
    asked(node, tmp_path, lambda choices: validators.pause(choices, "alice"))
    asked(node, tmp_path, lambda choices: validators.vote(choices, "bob", "alice", is_for=False))

    assert sent == [
        ValidatorUpdate(ALICE, "https://example.org", NEW.public),
        ValidatorUpdate(ALICE, "https://new.example", NEW.public),
        ValidatorUpdate(ALICE, "https://example.org", NULL_KEY),
        AccountValidatorVote(BOB, ALICE, approve=False),
    ]


def rotated(node: FakeNode, folder: Path, seconds: float = 1.0) -> Mapping[str, object]:
    """Each pause takes so long that the patience is over after a few."""
    now = [0.0]

    def pause(_seconds: float) -> None:
        now[0] += validators.ROTATION_SECONDS / 3 * seconds

    return asked(node, folder, lambda choices: validators.rotate(choices, "alice", NEW.public, lambda: now[0], pause))


def test_a_rotation_ends_with_the_first_block_by_the_new_key(tmp_path: Path, sent: list[Operation]) -> None:
    blocks = {101: block(101, BOB, NEW), 102: block(102, ALICE, OLD), 103: block(103, ALICE, NEW)}
    told = rotated(node_with(declared(), blocks), tmp_path)

    assert sent == [ValidatorUpdate(ALICE, "https://example.org", NEW.public)]
    assert (told["signed"], told["missed"]) == (103, 0)
    assert (told["old_key"], told["new_key"]) == (public_key_text(OLD.public), public_key_text(NEW.public))


@pytest.mark.usefixtures("sent")
def test_a_node_that_has_not_loaded_the_new_key_is_told_of(tmp_path: Path) -> None:
    blocks = {number: block(number, BOB, OLD) for number in range(101, HEAD + 1)}
    with pytest.raises(UnknownOutcome, match="alice has made no block with it so far"):
        rotated(node_with(declared(), blocks), tmp_path)


@pytest.mark.usefixtures("sent")
def test_a_slot_that_is_missed_with_the_new_key_ends_the_wait_at_once(tmp_path: Path) -> None:
    """Each further round would cost another slot; the old key is in the text, to be declared again."""
    blocks = {number: block(number, BOB, OLD) for number in range(101, HEAD + 1)}
    again = f"ledgerd wallet validator declare alice {public_key_text(OLD.public)}"
    told = [*declared()[:3], *declared(total_missed=3)[1:]]
    with pytest.raises(UnknownOutcome, match=f"has missed 1 slots since, and made no block.*{again}"):
        rotated(node_with(told, blocks), tmp_path, seconds=0)


@pytest.mark.usefixtures("sent")
def test_what_the_node_can_confirm_is_asked(tmp_path: Path) -> None:
    blocks = {number: block(number, BOB, OLD) for number in range(101, HEAD + 1)}
    with pytest.raises(UnknownOutcome, match="the chain has another signing key of alice now"):
        rotated(node_with(declared(signing_key=public_key_text(OLD.public)), blocks), tmp_path)

    told = rotated(node_with(declared(last_confirmed_block_num=0), {101: block(101, ALICE, NEW)}), tmp_path)
    assert told["problems"] == []
    idle = [record(counted_votes=0), *[record(signing_key=public_key_text(NEW.public))] * 9]
    told = rotated(node_with(idle, {101: block(101, ALICE, NEW)}), tmp_path)
    assert told["problems"] == ["it has no votes, so it has no slots"]


def test_the_key_that_is_declared_already_is_not_declared_again(tmp_path: Path, sent: list[Operation]) -> None:
    with pytest.raises(WalletError, match="has this signing key already"):
        rotated(node_with(record(signing_key=public_key_text(NEW.public))), tmp_path)
    assert sent == []
