"""Required signatures of a transaction, and their verification (spec 05, sections 9.19 to 9.23)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from ledgerd.codec import codec_of
from ledgerd.protocol.blocks.transaction import Transaction, unsigned_transaction
from ledgerd.protocol.crypto.hashing import sha256
from ledgerd.protocol.crypto.keys import PrivateKey, public_key_text
from ledgerd.protocol.networks.parameters import MAINNET
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.accounts.custom import Custom
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.authority import Authority, authority_of
from ledgerd.protocol.types.identifiers import NO_BLOCK
from ledgerd.rpc.api.database_api.authorities import TOO_MANY
from tests.chain.ledgers import ALICE, BOB, CAROL, authority_for, change, create_account, fresh_ledger
from tests.chain.webs import everybody
from tests.rpc.api.serving import answers_of

Ask = Callable[..., Any]


def secret(name: str) -> PrivateKey:
    return PrivateKey(sha256(name.encode()))


def text(name: str) -> str:
    return public_key_text(secret(name).public)


@pytest.fixture
def ask(tmp_path: Path) -> Iterator[Ask]:
    """Alice needs two of three: a key, Bob, or Carol. Carol needs no key at all."""
    ledger = fresh_ledger(tmp_path)
    for name in (ALICE, BOB, CAROL):
        create_account(ledger, name)
    active = Authority(2, {BOB: 1, CAROL: 1}, {secret("spare").public: 1})
    regular = authority_of(secret("regular").public)
    change(ledger, authority_for(ledger, ALICE), active=active, regular=regular)
    change(ledger, authority_for(ledger, CAROL), active=Authority(0, {}, {}))
    with answers_of(ledger, tmp_path) as answers:
        yield partial(answers, "database_api")


def transaction(*operations: Operation, signers: tuple[str, ...] = ()) -> dict[str, Any]:
    made = unsigned_transaction(NO_BLOCK, 1_800_000_100, operations)
    signed = made.signed(MAINNET.chain_id, [secret(name) for name in signers])
    return dict(json.loads(codec_of(Transaction).to_json(signed)))


def transfer(sender: Any = ALICE) -> Transfer:
    return Transfer(sender, BOB, tokens(1), "")


def custom() -> Custom:
    return Custom(required_active_auths=(), required_regular_auths=(ALICE,), id="V", json="{}")


def test_the_bytes_of_a_transaction_hold_its_signatures(ask: Ask) -> None:
    sent = transaction(transfer(), signers=("bob",))
    expected = codec_of(Transaction).from_json(sent).packed.hex()
    assert ask("get_transaction_hex", sent)["result"] == expected


def test_of_the_keys_that_there_are_those_are_required_that_are_counted(ask: Ask) -> None:
    available = [text("spare"), text("bob"), text("nobody")]
    required = ask("get_required_signatures", transaction(transfer()), available)["result"]
    # Both are counted before Carol, who needs no key, is looked at: one of them would have done.
    assert sorted(required) == sorted([text("spare"), text("bob")])


def test_signatures_that_are_there_are_not_asked_for(ask: Ask) -> None:
    sent = transaction(transfer(), signers=("spare",))
    assert ask("get_required_signatures", sent, [text("bob")])["result"] == [text("bob")]


def test_potential_signers_are_all_keys_that_are_met_on_the_way(ask: Ask) -> None:
    potential = ask("get_potential_signatures", transaction(transfer()))["result"]
    assert sorted(potential) == sorted([text("spare"), text("bob")])
    assert potential == sorted(potential, key=lambda key: bytes(secret_of(key)))


def secret_of(key: str) -> bytes:
    return next(secret(name).public for name in ("spare", "bob", "regular") if text(name) == key)


def test_for_regular_operations_only_regular_keys_are_potential(ask: Ask) -> None:
    assert ask("get_potential_signatures", transaction(custom()))["result"] == [text("regular")]


def test_regular_and_active_operations_do_not_mix(ask: Ask) -> None:
    error = ask("get_potential_signatures", transaction(custom(), transfer()))["error"]
    assert (error["code"], error["message"]) == (-32003, "Assert Exception (10)\n!required_active.size(): \n")


def test_an_account_that_does_not_exist_has_no_keys(ask: Ask) -> None:
    error = ask("get_potential_signatures", transaction(transfer("nobody")))["error"]
    assert error == {"code": -32000, "message": "unknown key"}


def test_a_transaction_with_just_the_right_signatures_is_verified(ask: Ask) -> None:
    assert ask("verify_authority", transaction(transfer(), signers=("spare",)))["result"] is True


def test_a_missing_signature_is_named_by_the_account(ask: Ask) -> None:
    error = ask("verify_authority", transaction(transfer(BOB)))["error"]
    message = 'missing required active authority (3010000)\nMissing Active Authority ["bob"]\n\n\n'
    assert (error["code"], error["message"]) == (-32000, message)
    assert error["data"]["name"] == "tx_missing_active_auth"


def test_a_signature_too_many_is_refused(ask: Ask) -> None:
    error = ask("verify_authority", transaction(transfer(BOB), signers=("bob", "spare")))["error"]
    assert (error["code"], error["data"]["code"]) == (-32000, 3050000)


def test_an_unknown_account_is_refused_in_the_reference_s_words(ask: Ask) -> None:
    error = ask("verify_authority", transaction(transfer("nobody")))["error"]
    assert (error["code"], error["message"]) == (-32000, "unknown key (13)\nunknown key: \n\n")


def test_a_signature_given_twice_is_refused(ask: Ask) -> None:
    error = ask("verify_authority", transaction(transfer(), signers=("spare", "spare")))["error"]
    assert (error["code"], error["data"]["code"]) == (-32000, 3060000)


def test_only_an_account_that_needs_no_signature_is_verified_by_name(ask: Ask) -> None:
    assert ask("verify_account_authority", CAROL, [])["result"] is True
    assert ask("verify_account_authority", BOB, [text("bob")])["error"]["data"]["code"] == 3010000


def test_accounts_to_verify_must_exist(ask: Ask) -> None:
    assert ask("verify_account_authority", "", [])["error"]["message"] == "Assert Exception (10)\nname.size() > 0: \n"
    missing = ask("verify_account_authority", "nobody", [])["error"]["message"]
    assert missing == "Assert Exception (10)\naccount: no such account\n"


# -- authorities of very many members


@pytest.fixture
def ask_about_web(tmp_path: Path) -> Iterator[Ask]:
    """Accounts that list each other, with more members in all than are looked at."""
    ledger, shape = fresh_ledger(tmp_path), everybody(75)
    for name in shape.names:
        create_account(ledger, name)
    for name in shape.names:
        authority = shape.authority(name)
        change(ledger, authority_for(ledger, name), active=authority, regular=authority)
    with answers_of(ledger, tmp_path) as answers:
        yield partial(answers, "database_api")


@pytest.mark.parametrize(
    ("method", "further"),
    [("get_potential_signatures", ()), ("get_required_signatures", ([],)), ("verify_authority", ())],
)
def test_of_accounts_that_list_each_other_so_many_members_are_looked_at(
    ask_about_web: Ask, method: str, further: tuple[Any, ...]
) -> None:
    regular = Custom(required_active_auths=(), required_regular_auths=everybody(75).names[:1], id="V", json="{}")
    for operation in (transfer("m0000"), regular):
        error = ask_about_web(method, transaction(operation, signers=("spare",)), *further)["error"]
        assert error == {"code": -32600, "message": TOO_MANY}


def test_the_authority_of_an_account_of_very_many_members_is_not_verified(ask_about_web: Ask) -> None:
    error = ask_about_web("verify_account_authority", "m0000", [])["error"]
    assert error == {"code": -32600, "message": TOO_MANY}
