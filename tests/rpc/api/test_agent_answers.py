"""Agents in answers: their list, and whom they sign for (spec 10, sections 10.1, 10.4, 10.5 and 12.3)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.codec import codec_of
from ledgerd.protocol.blocks.transaction import Transaction, unsigned_transaction
from ledgerd.protocol.crypto.hashing import sha256
from ledgerd.protocol.crypto.keys import NULL_KEY, PrivateKey, public_key_text
from ledgerd.protocol.networks.parameters import MAINNET
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.accounts.accounts import AccountMetadata
from ledgerd.protocol.operations.accounts.agents import SetAgentPermission
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import tokens
from ledgerd.protocol.types.authority import Authority, authority_of
from ledgerd.protocol.types.identifiers import NO_BLOCK
from ledgerd.protocol.types.names import AccountName
from ledgerd.state.objects.accounts.accounts import AGENT_PERMISSIONS, AgentPermission
from tests.chain.ledgers import ALICE, BOB, CAROL, NOW, authority_for, carry_out, change, create_account, fresh_ledger
from tests.chain.ledgers import key_of as public
from tests.rpc.api.serving import answers_of

Ask = Callable[..., Any]

G, M = "key of the agent", "key of another agent"
KC = "regular key of carol"
DAN = AccountName("dan")


def text(name: str) -> str:
    return public_key_text(public(name))


def grant(name: str, key: str, *operations: str, expiration: int = 0) -> SetAgentPermission:
    return SetAgentPermission(ALICE, AccountName(name), public(key), operations, expiration, ("b", "vizhub"), ())


def revoke(name: str) -> SetAgentPermission:
    return SetAgentPermission(ALICE, AccountName(name), NULL_KEY, (), 0, (), ())


def pay(sender: AccountName = ALICE) -> Transfer:
    return Transfer(sender, CAROL, tokens(1), "")


def regular(name: AccountName) -> AccountMetadata:
    """An operation that takes a regular key, as an award does."""
    return AccountMetadata(name, "{}")


@pytest.fixture
def ask(tmp_path: Path) -> Iterator[Ask]:
    """Alice has agents; Bob's regular key is his own, his active authority Carol; Dan's active authority is Alice."""
    ledger = fresh_ledger(tmp_path, hardfork=15)
    for name in (ALICE, BOB, CAROL, DAN, AccountName("erin")):
        create_account(ledger, name)
    change(ledger, authority_for(ledger, BOB), active=Authority(1, {CAROL: 1}, {}))
    change(ledger, authority_for(ledger, CAROL), regular=authority_of(public(KC)))
    change(ledger, authority_for(ledger, DAN), active=Authority(1, {ALICE: 1}, {}))
    add_agents(ledger)
    with answers_of(ledger, tmp_path) as answers:
        yield partial(answers, "database_api")


def add_agents(ledger: Ledger) -> None:
    for operation in (
        grant("bot", G, "transfer"),
        grant("master", M, "set_agent_permission"),
        grant("later", "later", "transfer", expiration=NOW + 1),
    ):
        carry_out(ledger, operation)
    ended = AgentPermission(account=ALICE, agent_name=AccountName("ended"), agent_key=public("ended"), expiration=NOW)
    ended.operations = "transfer"
    ledger.store.create(AGENT_PERMISSIONS, ended)


def transaction(*operations: Operation, by: tuple[str, ...] = ()) -> dict[str, Any]:
    made = unsigned_transaction(NO_BLOCK, NOW + 100, operations)
    signed = made.signed(MAINNET.chain_id, [PrivateKey(sha256(name.encode())) for name in by])
    return dict(json.loads(codec_of(Transaction).to_json(signed)))


ERIN = AccountName("erin")

ROWS: tuple[tuple[tuple[Operation, ...], tuple[str, ...], str], ...] = (
    ((pay(),), (G,), ""),
    ((pay(),), (ALICE, G), "Unnecessary signature detected"),
    ((regular(ALICE),), (G,), "Missing Regular Authority alice"),
    ((pay(), pay(ERIN)), (G, ERIN), ""),
    ((pay(), pay(ERIN)), (G,), "Missing Active Authority erin"),
    ((revoke("bot"), pay()), (ALICE,), ""),
    ((revoke("bot"), pay()), (M, G), ""),
    ((pay(DAN),), (G,), "Missing Active Authority dan"),
    ((regular(BOB),), (KC,), ""),
    ((pay(), regular(ALICE)), (ALICE,), "all_active.empty() && all_master.empty() && all_other.empty(): "),
    ((pay(),), ("ended",), "Missing Active Authority alice"),
    ((pay(),), ("later",), ""),
)
"""The rows of spec 10, section 12.3, and both sides of an expiration: operations, signers, what is missing.

Rows 7 and 9 pass this check and fail the one before their operations, which an answer does not know.
"""


@pytest.mark.parametrize(("operations", "signers", "missing"), ROWS)
def test_a_transaction_is_verified_as_it_is_when_it_arrives(
    operations: tuple[Operation, ...], signers: tuple[str, ...], missing: str, ask: Ask
) -> None:
    answer = ask("verify_authority", transaction(*operations, by=signers))

    if missing:
        assert missing in answer["error"]["message"]
    else:
        assert answer["result"] is True


def test_of_the_keys_of_agents_those_are_required_that_sign(ask: Ask) -> None:
    keys = [text(each) for each in (G, M, ALICE, "ended")]

    assert ask("get_required_signatures", transaction(pay()), [text(G), text(M)])["result"] == [text(G)]
    assert ask("get_required_signatures", transaction(revoke("bot"), pay()), keys)["result"] == [text(ALICE)]
    both = ask("get_required_signatures", transaction(revoke("bot"), pay()), [text(G), text(M)])["result"]
    assert sorted(both) == sorted([text(G), text(M)])


def test_agents_that_may_sign_are_potential_signers(ask: Ask) -> None:
    found = ask("get_potential_signatures", transaction(pay()))["result"]

    assert {text(ALICE), text(G), text("later")} <= set(found)
    assert not {text(M), text("ended")} & set(found)


def test_agents_stand_in_the_order_of_their_names_with_those_that_ended(ask: Ask) -> None:
    rows = ask("get_agent_permissions", "alice")["result"]

    assert [(row["agent_name"], row["operations"], row["expired"]) for row in rows] == [
        ("bot", ["transfer"], False),
        ("ended", ["transfer"], True),
        ("later", ["transfer"], False),
        ("master", ["set_agent_permission"], False),
    ]
    assert list(rows[0].items()) == [
        ("account", "alice"),
        ("agent_name", "bot"),
        ("agent_key", text(G)),
        ("operations", ["transfer"]),
        ("expiration", "1970-01-01T00:00:00"),
        ("addons", ["b", "vizhub"]),
        ("expired", False),
    ]


def test_an_account_without_agents_has_an_empty_list(ask: Ask) -> None:
    assert ask("get_agent_permissions", "bob")["result"] == []
    assert ask("get_agent_permissions", "nobody")["result"] == []
    for arguments in ((), ("alice", 1)):
        refused = ask("get_agent_permissions", *arguments)["error"]["message"]
        assert refused == (
            f"Assert Exception (10)\nargs.args->size() == 1: Expected #s argument(s), was {len(arguments)}\n"
        )
