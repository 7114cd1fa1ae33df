"""What programs write for the fields of operations: taken exactly, or refused by the name of the field."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from ledgerd.protocol.crypto.keys import PrivateKey, public_key_text
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.money.transfers import Transfer
from ledgerd.protocol.types.assets import shares, tokens
from ledgerd.protocol.types.authority import authority_of
from ledgerd.protocol.types.beneficiary import Beneficiary
from ledgerd.protocol.types.names import AccountName
from ledgerd.sdk.amounts import Shares, Viz
from ledgerd.sdk.transactions.errors import WrongParameter
from tests.sdk.transactions.operations.test_methods import Everything

KEY = PrivateKey(b"\5" * 32).public
TEXT = public_key_text(KEY)


def made(add: Callable[[Everything], object]) -> Operation:
    methods = Everything()
    add(methods)
    (operation,) = methods.operations
    return operation


def test_amounts_are_exact_types_or_texts_that_name_their_symbol() -> None:
    wanted = Transfer(AccountName("alice"), AccountName("bob"), tokens(1_500), "hello")

    assert made(lambda t: t.transfer("alice", "bob", Viz("1.5"), memo="hello")) == wanted
    assert made(lambda t: t.transfer("alice", "bob", "1.5 VIZ", memo="hello")) == wanted
    assert made(lambda t: t.withdraw_vesting("alice", Shares("1"))).vesting_shares == shares(1_000_000)  # type: ignore[attr-defined]


def test_times_keys_authorities_and_lists_are_taken_in_the_forms_that_programs_have() -> None:
    until = datetime(2030, 1, 1, tzinfo=UTC)
    operation: Any = made(
        lambda t: t.set_agent_permission("alice", "phone", TEXT, operations=["award"], expiration=until)
    )
    assert (operation.agent_key, operation.expiration) == (KEY, int(until.timestamp()))
    assert operation.operations == ("award",)
    changed: Any = made(lambda t: t.account_update("alice", KEY, active=TEXT, regular=authority_of(KEY)))
    assert changed.active == changed.regular == authority_of(KEY)
    assert changed.master is None
    hidden: Any = made(lambda t: t.pm_commit_bet("alice", 1, "aa" * 32, "1.000 VIZ", 100))
    assert hidden.commitment == b"\xaa" * 32


REFUSED: list[tuple[Callable[[Any], object], str]] = [
    (
        lambda t: t.transfer("alice", "bob", Shares("1")),
        "transfer.amount: an amount of VIZ or its text is wanted, not Shares",
    ),
    (
        lambda t: t.transfer("alice", "bob", "1.000000 SHARES"),
        "transfer.amount: the amount is in VIZ, and its text has",
    ),
    (
        lambda t: t.transfer("alice", "bob", "1.000"),
        "transfer.amount: the amount is in VIZ, and its text has to say so",
    ),
    (lambda t: t.transfer("alice", "bob", "1.0000 VIZ"), "transfer.amount: 1.0000 VIZ has 4 decimals, VIZ has 3"),
    (lambda t: t.transfer("alice", "bob", 1.5), "transfer.amount: an amount of VIZ or its text is wanted, not float"),
    (lambda t: t.transfer("alice", "bob", shares(1)), "transfer.amount: SHARES with 6 decimals is not VIZ"),
    (lambda t: t.withdraw_vesting("alice", Viz("1")), "withdraw_vesting.vesting_shares: an amount of SHARES"),
    (lambda t: t.transfer("Alice", "bob", "1.000 VIZ"), "transfer.sender: this is no name that an account can have"),
    (lambda t: t.transfer("alice", 7, "1.000 VIZ"), "transfer.recipient: the name of an account is wanted, not int"),
    (lambda t: t.transfer("alice", "bob", "1.000 VIZ", memo=b"x"), "transfer.memo: str is wanted, not bytes"),
    (
        lambda t: t.transfer("alice", "bob", "1.000 VIZ", memo="\ud800"),
        "transfer.memo: the text has characters that UTF-8",
    ),
    (lambda t: t.award("alice", "bob", 70_000), "award.energy: it is not between 0 and 65535"),
    (lambda t: t.award("alice", "bob", -1), "award.energy: it is not between 0 and 65535"),
    (lambda t: t.award("alice", "bob", 1.0), "award.energy: a whole number is wanted, not float"),
    (lambda t: t.award("alice", "bob", True), "award.energy: a whole number is wanted, not bool"),
    (
        lambda t: t.award("alice", "bob", 1, beneficiaries="bob"),
        "award.beneficiaries: several are wanted, as in a list",
    ),
    (
        lambda t: t.award("alice", "bob", 1, beneficiaries=["bob"]),
        "award.beneficiaries: Beneficiary is wanted, not str",
    ),
    (lambda t: t.account_validator_vote("alice", "dan", approve=1), "account_validator_vote.approve: bool is wanted"),
    (lambda t: t.validator_update("dan", "https://a.example", "VIZ1"), "block_signing_key: a public key is wanted"),
    (lambda t: t.pm_commit_bet("alice", 1, "aa", "1.000 VIZ", 1), "pm_commit_bet.commitment: 32 bytes are wanted"),
    (lambda t: t.pm_commit_bet("alice", 1, "zz", "1.000 VIZ", 1), "pm_commit_bet.commitment: 32 bytes are wanted"),
    (
        lambda t: t.set_agent_permission("alice", "a", TEXT, expiration=datetime(2030, 1, 1)),  # noqa: DTZ001 - the point
        "set_agent_permission.expiration: a time without its zone could be any",
    ),
    (lambda t: t.set_agent_permission("alice", "a", TEXT, expiration=1 << 32), "is between 1970 and 2106"),
    (
        lambda t: t.chain_properties_update("dan", {}),
        "chain_properties_update.props: ChainPropertiesInit is wanted, not dict",
    ),
    (lambda t: t.custom("a", "{}", required_regular_auths=["Alice"]), "custom.required_regular_auths: this is no name"),
]


@pytest.mark.parametrize(("add", "said"), REFUSED, ids=[said[:40] for _, said in REFUSED])
def test_what_is_not_exactly_the_fields_is_refused_by_its_name(add: Callable[[Any], object], said: str) -> None:
    methods = Everything()
    with pytest.raises(WrongParameter) as refused:
        add(methods)
    assert said in str(refused.value)
    assert methods.operations == []


def test_no_error_repeats_a_secret() -> None:
    secret = PrivateKey(b"\5" * 32).wif
    with pytest.raises(WrongParameter) as refused:
        Everything().set_account_price("alice", secret, "1.000 VIZ", account_on_sale=True)
    assert secret[:8] not in str(refused.value)


def test_a_beneficiary_is_one_of_the_protocol() -> None:
    some = Beneficiary(AccountName("bob"), 5_000)
    assert made(lambda t: t.award("alice", "bob", 1, beneficiaries=[some])).beneficiaries == (some,)  # type: ignore[attr-defined]
