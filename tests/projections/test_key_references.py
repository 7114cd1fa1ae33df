"""The accounts of a key: what is noted, what is dropped, and what never was known (spec 05, section 14)."""

from __future__ import annotations

from pathlib import Path

import pytest

from ledgerd.chain.ledger.evaluation import apply_operation
from ledgerd.chain.ledger.ledger import Ledger
from ledgerd.projections.key_references import KeyReferences
from ledgerd.projections.tables.key_references import REFERENCE_BY_KEY
from ledgerd.protocol.crypto.keys import NULL_KEY
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.accounts.accounts import AccountCreate, AccountUpdate
from ledgerd.protocol.types.assets import shares, tokens
from ledgerd.protocol.types.authority import Authority, authority_of
from ledgerd.protocol.types.names import AccountName
from tests.chain.ledgers import ALICE, BOB, carry_out, create_account, fresh_ledger, kept_beside, key_of, project

DAVE = AccountName("dave")


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """Alice has tokens, and keys that nobody has noted."""
    ledger = fresh_ledger(tmp_path)
    create_account(ledger, "alice", balance=1_000_000, shares=1_000_000_000)
    ledger.samplers = KeyReferences.samplers
    return ledger


def accounts_of(ledger: Ledger, key: str) -> list[AccountName]:
    wanted = (key_of(key),)
    return [each.account for each in kept_beside(ledger).scan(REFERENCE_BY_KEY, lower=wanted, upper=wanted)]


def note(ledger: Ledger, operation: Operation) -> None:
    carry_out(ledger, operation)
    project(ledger, KeyReferences())


def creation(name: AccountName, *keys: str) -> AccountCreate:
    master, active, regular = (authority_of(key_of(key)) for key in keys)
    return AccountCreate(
        fee=tokens(10_000),
        delegation=shares(0),
        creator=ALICE,
        new_account_name=name,
        master=master,
        active=active,
        regular=regular,
        memo_key=key_of("memo"),
        json_metadata="",
        referrer=AccountName(""),
        extensions=(),
    )


def update(name: AccountName, *, active: Authority | None = None, regular: Authority | None = None) -> AccountUpdate:
    return AccountUpdate(account=name, master=None, active=active, regular=regular, memo_key=NULL_KEY, json_metadata="")


def test_the_keys_of_a_new_account_lead_to_it_and_its_memo_key_does_not(ledger: Ledger) -> None:
    note(ledger, creation(DAVE, "m", "a", "r"))
    assert [accounts_of(ledger, key) for key in ("m", "a", "r", "memo")] == [[DAVE], [DAVE], [DAVE], []]


def test_accounts_of_one_key_stand_in_word_order(ledger: Ledger) -> None:
    for name in ("cc", "bb", "aa", "abc"):
        note(ledger, creation(AccountName(f"{name}x"), "m", "m", "m"))
    assert accounts_of(ledger, "m") == ["aax", "bbx", "ccx", "abcx"]


def test_an_update_adds_what_has_come_and_drops_what_has_gone(ledger: Ledger) -> None:
    note(ledger, creation(DAVE, "m", "a", "r"))
    note(ledger, update(DAVE, active=authority_of(key_of("new")), regular=authority_of(key_of("a"))))
    assert [accounts_of(ledger, key) for key in ("m", "a", "r", "new")] == [[DAVE], [DAVE], [], [DAVE]]


def test_a_key_that_was_there_before_anybody_noted_it_stays_unknown(ledger: Ledger) -> None:
    note(ledger, update(ALICE, active=authority_of(key_of("new"))))
    assert [accounts_of(ledger, key) for key in ("alice", "new")] == [[], [ALICE]]


def test_what_is_undone_was_never_noted(ledger: Ledger) -> None:
    with kept_beside(ledger).begin():
        note(ledger, creation(BOB, "m", "a", "r"))
        assert accounts_of(ledger, "m") == [BOB]
    assert accounts_of(ledger, "m") == []


def test_waiting_transactions_are_not_followed(ledger: Ledger) -> None:
    ledger.is_reporting = False
    apply_operation(ledger, creation(DAVE, "m", "a", "r"))
    project(ledger, KeyReferences())
    assert accounts_of(ledger, "m") == []
