"""Words and JSON to operations: recorded ones first, then whatever can be, then what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledgerd.codec import codec_of
from ledgerd.codec.kinds import Kind
from ledgerd.codec.types.containers import SortedSet, Vector
from ledgerd.codec.types.strings import FixedBytes, Text
from ledgerd.protocol.blocks.block import Block
from ledgerd.protocol.crypto.keys import public_key_text
from ledgerd.protocol.networks.parameters import MAINNET, chain_id_of
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.base import name_of
from ledgerd.protocol.types.assets import SHARES_SYMBOL, TOKEN_SYMBOL, Asset
from ledgerd.sdk.transactions.operations.fields import (
    SENDABLE,
    UNSENDABLE,
    fields_of_operation,
    inner_of,
    operation_named,
)
from ledgerd.sdk.transactions.operations.parameters import network_of
from ledgerd.wallet.errors import RuleBroken, WalletError, WrongAmount
from ledgerd.wallet.operations.reading import (
    from_json,
    from_words,
    joined_amounts,
    json_from_text,
    require_valid,
    time_of,
)
from tests.recorded import recorded_blocks

NOW = 1_700_000_000
CHAINS = ("open-main15", "open-pm")


def kind_named(name: str) -> type[Operation]:
    found = operation_named(name)
    assert found is not None
    return found


def words_for(operation: Operation) -> dict[str, str | bool]:
    """What a person would type for each field of an operation."""
    printed = json.loads(codec_of(Operation).to_json(operation))[1]
    given: dict[str, str | bool] = {}
    for field in fields_of_operation(type(operation)):
        if field.name in printed:
            given[field.name] = word_for(inner_of(field.kind), printed[field.name])
    return given


def word_for(kind: Kind, value: Any) -> str | bool:
    if isinstance(value, bool | str):
        return value
    plain = isinstance(kind, Vector | SortedSet) and isinstance(kind.element, Text | FixedBytes)
    if plain and value and all("," not in each and each == each.strip() and each for each in value):
        return ",".join(value) if not value[0].startswith("[") else json.dumps(value)
    return json.dumps(value)


@pytest.mark.parametrize("chain", CHAINS)
def test_recorded_operations_are_read_from_words_and_json_to_the_same_bytes(chain: str) -> None:
    seen: set[str] = set()
    for raw in recorded_blocks(chain):
        for transaction in codec_of(Block).decode(raw).transactions:
            for operation in transaction.operations:
                kind = type(operation)
                if kind not in SENDABLE or not is_usual(operation):
                    continue
                printed = json.loads(codec_of(Operation).to_json(operation))[1]
                packed = codec_of(Operation).encode(operation)
                assert codec_of(Operation).encode(from_words(kind, words_for(operation), lambda: NOW)) == packed
                assert codec_of(Operation).encode(from_json(kind, printed)) == packed
                seen.add(name_of(kind))
    assert len(seen) > 15


def is_usual(value: object) -> bool:
    """Whether a person could mean it: amounts of the two symbols that are not below zero."""
    if isinstance(value, Asset):
        return value.symbol in (TOKEN_SYMBOL, SHARES_SYMBOL) and 0 <= value.amount < 10**15
    if isinstance(value, tuple):
        return all(is_usual(each) for each in value)
    return all(is_usual(getattr(value, each)) for each in getattr(value, "__struct_fields__", ()))


names = st.from_regex(r"[a-z]{2,8}", fullmatch=True)
memos = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=30)


@settings(max_examples=100)
@given(names, names, st.integers(0, 10**15), memos)
def test_a_transfer_of_words_has_what_the_words_say(sender: str, to: str, amount: int, memo: str) -> None:
    whole, part = divmod(amount, 1000)
    given_words: dict[str, str | bool] = {"from": sender, "to": to, "amount": f"{whole}.{part:03} VIZ", "memo": memo}
    if whole >= 10**13:
        return

    made = from_words(kind_named("transfer"), given_words, lambda: NOW)

    printed = json.loads(codec_of(Operation).to_json(made).encode("utf-8", "surrogateescape"))[1]
    assert printed == given_words


def test_an_amount_stands_in_one_word_or_two() -> None:
    assert joined_amounts(["transfer", "a", "b", "1.000", "VIZ", "--memo", "x"]) == [
        "transfer",
        "a",
        "b",
        "1.000 VIZ",
        "--memo",
        "x",
    ]
    assert joined_amounts(["VIZ", "alice", "5", "bob"]) == ["VIZ", "alice", "5", "bob"]


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        ("1.00 VIZ", "VIZ has 3 decimals, 2 were given"),
        ("1 VIZ", "VIZ has 3 decimals, 0 were given"),
        ("1.0000 VIZ", "VIZ has 3 decimals, 4 were given"),
        ("1.000 SHARES", "SHARES has 6 decimals, 3 were given"),
        ("1.000 GOLD", "write it as 1.000 VIZ"),
        ("1.000", "write it as 1.000 VIZ"),
        ("-1.000 VIZ", "write it as 1.000 VIZ"),
        ("1. VIZ", "write it as 1.000 VIZ"),
        ("1,000 VIZ", "write it as 1.000 VIZ"),
        ("99999999999999.000 VIZ", "write it as 1.000 VIZ"),
    ],
)
def test_an_amount_of_another_form_is_refused(amount: str, text: str) -> None:
    fields = {"from": "alice", "to": "bob", "amount": amount, "memo": ""}
    with pytest.raises(WrongAmount, match=text):
        from_words(kind_named("transfer"), dict(fields), lambda: NOW)
    with pytest.raises(WrongAmount, match=text):
        from_json(kind_named("transfer"), dict(fields))


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({"initiator": "a", "receiver": "b", "energy": 70_000}, "70000 is not between 0 and 65535"),
        ({"initiator": "a", "receiver": "b", "energy": 1.5}, "1.5 is no whole number"),
        ({"initiator": "a", "receiver": "b", "energy": -1}, "-1 is not between 0 and 65535"),
        ({"initiator": "a", "receiver": "b", "energy": 1, "memmo": ""}, "has no field memmo"),
        ({"initiator": "a", "receiver": "b"}, "needs energy"),
        ({"initiator": "a", "receiver": "b", "energy": 1, "beneficiaries": [{"acount": "c"}]}, "no field acount"),
        ([], "are a JSON object"),
    ],
)
def test_what_the_protocol_would_cut_or_ignore_is_refused(fields: object, text: str) -> None:
    with pytest.raises(WalletError, match=text):
        from_json(kind_named("award"), fields)


def test_operations_within_a_proposal_are_read_as_strictly() -> None:
    def proposal(amount: str, **more: object) -> dict[str, object]:
        inner = ["transfer", {"from": "a", "to": "b", "amount": amount, "memo": "", **more}]
        return {
            "author": "alice",
            "title": "t",
            "expiration_time": "2030-01-01T00:00:00",
            "proposed_operations": [{"op": inner}],
        }

    assert from_json(kind_named("proposal_create"), proposal("1.000 VIZ"))
    with pytest.raises(WrongAmount):
        from_json(kind_named("proposal_create"), proposal("1.0 VIZ"))
    with pytest.raises(WalletError, match="has no field too"):
        from_json(kind_named("proposal_create"), proposal("1.000 VIZ", too="much"))


@pytest.mark.parametrize("name", sorted(UNSENDABLE))
def test_what_cannot_be_sent_is_refused_with_the_rule(name: str) -> None:
    with pytest.raises(RuleBroken) as refused:
        from_json(kind_named(name), {})

    assert UNSENDABLE[name] in str(refused.value)


def test_the_protocols_own_text_is_given() -> None:
    with pytest.raises(WalletError, match=r"new_master_authority: .*over by"):
        from_words(kind_named("request-account-recovery"), {"new_master_authority": "VIZno"}, lambda: NOW)
    transfer = from_words(kind_named("transfer"), {"from": "a", "to": "bob", "amount": "1.000 VIZ"}, lambda: NOW)
    with pytest.raises(RuleBroken, match="Account name a is invalid"):
        require_valid(transfer, MAINNET.chain_id)


def test_rules_with_parameters_are_left_to_the_node_on_a_network_that_is_not_known() -> None:
    transfer = from_words(kind_named("transfer"), {"from": "a", "to": "bob", "amount": "1.000 VIZ"}, lambda: NOW)

    assert network_of(chain_id_of("somewhere")) is None
    require_valid(transfer, chain_id_of("somewhere"))


def test_a_key_alone_is_an_authority() -> None:
    key = public_key_text(MAINNET.initiator_key)
    fields: dict[str, str | bool] = {
        "recovery_account": "alice",
        "account_to_recover": "bob",
        "new_master_authority": key,
    }
    made = from_words(kind_named("request-account-recovery"), fields, lambda: NOW)

    printed = json.loads(codec_of(Operation).to_json(made))[1]
    assert printed["new_master_authority"] == {"weight_threshold": 1, "account_auths": [], "key_auths": [[key, 1]]}


def test_a_time_is_a_date_or_so_long_from_now() -> None:
    assert time_of("+90", lambda: NOW) == NOW + 90
    assert time_of("+2d", lambda: NOW) == NOW + 172_800
    assert time_of("2023-11-14T22:13:20", lambda: 0) == NOW
    with pytest.raises(WalletError, match=r"write 2030-01-31T12:00:00, or \+30d"):
        time_of("tomorrow", lambda: NOW)


def test_json_that_is_none_is_refused() -> None:
    with pytest.raises(WalletError, match="the fields is no JSON"):
        json_from_text("{", "the fields")
