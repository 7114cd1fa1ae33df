"""The initial distributions: the two that everybody has, and what a file of one's own may be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ledgerd.protocol.constants import INIT_SUPPLY
from ledgerd.protocol.crypto.keys import public_key_text
from ledgerd.protocol.errors import OperatorError
from ledgerd.protocol.networks.genesis_accounts import embedded_genesis, genesis_of, read_genesis
from ledgerd.protocol.types.names import is_valid_name

KEY = "VIZ5zTAE2hiGcqYaDTQeEBqTtPeoWtSNjpznwmbvqJXesrK1Qn3e8"


def entry(**changes: object) -> dict[str, object]:
    return {"login": "alice", "public_key": KEY, "shares_amount": "100000000", **changes}


def test_the_mainnet_began_with_34_accounts_that_leave_two_thousandths() -> None:
    accounts = embedded_genesis("mainnet")

    assert len(accounts) == 34
    assert INIT_SUPPLY - sum(account.amount for account in accounts) == 2
    assert [accounts[0].name, accounts[0].amount] == ["in", 34_751_246_731]
    assert [accounts[-1].name, accounts[-1].amount] == ["lex", 500_000_000]
    assert all(is_valid_name(account.name) for account in accounts)


def test_the_testnet_began_with_six_accounts_and_one_key() -> None:
    accounts = embedded_genesis("testnet")

    assert [account.name for account in accounts] == ["alice", "bob", "charlie", "chuck", "dan", "frank"]
    assert {public_key_text(account.key) for account in accounts} == {KEY}
    assert {account.amount for account in accounts} == {100_000_000}


def test_a_file_may_have_commas_too_many_and_plain_numbers(tmp_path: Path) -> None:
    path = tmp_path / "snapshot.json"
    text = f'{{ "accounts": [ {{"login":"alice","public_key":"{KEY}","shares_amount":7,}}, ], }}'
    path.write_text(text, encoding="utf-8")

    assert [(account.name, account.amount) for account in read_genesis(path)] == [("alice", 7)]


def test_a_distribution_may_be_empty() -> None:
    assert genesis_of([], "here") == ()


def test_all_of_the_supply_may_be_distributed() -> None:
    assert genesis_of([entry(shares_amount=INIT_SUPPLY)], "here")[0].amount == INIT_SUPPLY


def test_more_than_the_supply_is_refused() -> None:
    with pytest.raises(OperatorError, match=r"^here: 50000000001 is distributed, and no more than 50000000000"):
        genesis_of([entry(shares_amount=INIT_SUPPLY + 1)], "here")


@pytest.mark.parametrize("name", ["alice", "committee", "viz"])
def test_an_account_stands_there_once(name: str) -> None:
    with pytest.raises(OperatorError, match=f"'{name}' stands there twice, or is built in"):
        genesis_of([entry(), entry(login=name)], "here")


@pytest.mark.parametrize("name", ["", "a" * 33, "a\0b"])
def test_a_name_that_would_be_cut_is_refused(name: str) -> None:
    with pytest.raises(OperatorError, match=r"^here: account 1: .* is no name of 1 to 32 bytes$"):
        genesis_of([entry(login=name)], "here")


def test_a_key_with_a_typing_error_is_refused() -> None:
    with pytest.raises(OperatorError, match=r"^here: account 2: fc::ripemd160"):
        genesis_of([entry(), entry(login="bob", public_key=KEY[:-1] + "9")], "here")


@pytest.mark.parametrize("key", ["login", "public_key", "shares_amount"])
def test_an_account_that_lacks_a_key_is_refused(key: str) -> None:
    fields = entry()
    del fields[key]

    with pytest.raises(OperatorError, match=f"^here: account 1: lacks '{key}'$"):
        genesis_of([fields], "here")


@pytest.mark.parametrize("amount", ["many", [], "18446744073709551616"])
def test_an_amount_that_is_no_number_is_refused(amount: object) -> None:
    with pytest.raises(OperatorError, match=r"^here: account 1: "):
        genesis_of([entry(shares_amount=amount)], "here")


def test_a_negative_amount_is_refused() -> None:
    with pytest.raises(OperatorError, match="is distributed"):
        genesis_of([entry(shares_amount=-1)], "here")


@pytest.mark.parametrize("listed", [None, {}, "alice"])
def test_accounts_that_are_no_list_are_refused(listed: object) -> None:
    with pytest.raises(OperatorError, match=r"^here: the accounts must be a list"):
        genesis_of(listed, "here")


def test_an_account_that_is_no_object_is_refused() -> None:
    with pytest.raises(OperatorError, match=r"^here: account 1: Invalid cast"):
        genesis_of(["alice"], "here")


@pytest.mark.parametrize("text", ["", "{", json.dumps([entry()])])
def test_a_file_that_is_not_the_right_json_is_refused_by_name(tmp_path: Path, text: str) -> None:
    path = tmp_path / "snapshot.json"
    path.write_text(text, encoding="utf-8")

    with pytest.raises(OperatorError, match=r"snapshot\.json: not JSON as the network reads it"):
        read_genesis(path)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(OperatorError, match=r"snapshot\.json: cannot be read: No such file"):
        read_genesis(tmp_path / "snapshot.json")
