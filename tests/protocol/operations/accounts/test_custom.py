"""Custom operations: bytes, JSON, rules, authorities."""

from __future__ import annotations

import pytest

from ledgerd.codec import codec_of
from ledgerd.protocol.errors import RuleViolation
from ledgerd.protocol.networks.parameters import MAINNET
from ledgerd.protocol.operations.accounts.custom import Custom
from ledgerd.protocol.operations.base import Authorities, active, regular
from ledgerd.protocol.types.names import AccountName
from tests.protocol.operations.expect import accepts, changed, refuses, round_trips

ALICE = AccountName("alice")
BOB = AccountName("bob")
REGULAR = Custom((), (ALICE,), "V", "{}")


def test_custom_of_the_regular_authority() -> None:
    round_trips(
        REGULAR,
        "0a000105616c6963650156027b7d",
        [
            "custom",
            {"required_active_auths": [], "required_regular_auths": ["alice"], "id": "V", "json": "{}"},
        ],
    )


def test_a_recorded_custom_of_several_accounts_in_the_order_of_words() -> None:
    names = ["dan", "alice", "chuck"]
    operation = Custom(tuple(map(AccountName, names)), (), "V", "[]")
    raw = "0a030364616e05616c69636505636875636b000156025b5d"
    round_trips(
        operation,
        raw,
        ["custom", {"required_active_auths": names, "required_regular_auths": [], "id": "V", "json": "[]"}],
    )
    alphabetical = changed(operation, required_active_auths=tuple(sorted(operation.required_active_auths)))
    assert codec_of(Custom).encode(alphabetical).hex() == raw[2:]


def test_a_shorter_name_comes_first_where_its_letters_are_the_smaller_number() -> None:
    operation = Custom((AccountName("b"), AccountName("a1")), (), "V", "{}")
    raw = "0a020162026131000156027b7d"
    assert codec_of(Custom).encode(operation).hex() == raw[2:]
    assert codec_of(Custom).decode_exactly(bytes.fromhex("0202613101620000" + "00")) == changed(
        operation, id="", json=""
    )


def test_missing_keys_are_empty() -> None:
    assert codec_of(Custom).from_json({}) == Custom((), (), "", "")


def test_somebody_has_to_sign() -> None:
    refuses(
        changed(REGULAR, required_regular_auths=()),
        "(required_active_auths.size() + required_regular_auths.size()) > 0: at least one account must be specified",
    )


def test_both_kinds_of_signers_are_let_through_here() -> None:
    accepts(changed(REGULAR, required_active_auths=(BOB,)))


def test_names_are_not_looked_at() -> None:
    accepts(changed(REGULAR, required_regular_auths=(AccountName("!"),)))


def test_an_id_has_at_most_32_bytes_of_any_kind() -> None:
    accepts(changed(REGULAR, id=""))
    accepts(changed(REGULAR, id="\udcff" * 32))
    refuses(changed(REGULAR, id="i" * 33), "id.size() <= 32: id is too long")
    refuses(changed(REGULAR, id="é" * 17), "id.size() <= 32: id is too long")


def test_its_json_is_valid_utf8_and_not_empty() -> None:
    accepts(changed(REGULAR, json='"é"'))
    refuses(changed(REGULAR, json='"\udcff"'), "fc::is_utf8(json): JSON Metadata not formatted in UTF8")
    for text in ("", "{} ", "{]"):
        refuses(changed(REGULAR, json=text), "fc::json::is_valid(json): JSON Metadata not valid JSON")


def test_json_that_ends_too_early_breaks_a_rule_with_the_code_of_the_reference() -> None:
    for text in ("[", '"', '"\\', "[[1]", "[" * 60_000):
        with pytest.raises(RuleViolation) as refusal:
            changed(REGULAR, json=text).check(MAINNET)
        violation = refusal.value
        assert (violation.code, violation.name, violation.message) == (11, "eof_exception", "stringstream")
        assert len(violation.layers) == 1


def test_everybody_named_has_to_agree() -> None:
    assert REGULAR.authorities() == regular(ALICE)
    assert Custom((ALICE, BOB), (), "V", "{}").authorities() == active(ALICE, BOB)
    assert Custom((ALICE,), (BOB,), "V", "{}").authorities() == Authorities(active=(ALICE,), regular=(BOB,))
