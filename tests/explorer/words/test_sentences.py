"""Every operation of the protocol has words in every language, and they say what its fields hold."""

from __future__ import annotations

import json
import re

import pytest

from ledgerd.codec import codec_of
from ledgerd.explorer.words.language import language
from ledgerd.explorer.words.sentences import note_of, sentence, table_of
from ledgerd.protocol.crypto.keys import NULL_KEY, PublicKey
from ledgerd.protocol.operations import Operation
from ledgerd.protocol.operations.accounts.accounts import AccountUpdate
from ledgerd.protocol.operations.accounts.agents import SetAgentPermission
from ledgerd.protocol.operations.accounts.content import Content
from ledgerd.protocol.operations.markets.disputes import PmDisputeCreate
from ledgerd.protocol.operations.money.transfers import TransferToVesting, WithdrawVesting
from ledgerd.protocol.operations.validators import AccountValidatorVote, ValidatorUpdate
from ledgerd.protocol.types.assets import shares, tokens
from ledgerd.protocol.types.names import AccountName

A, B, BOT, NONE = (AccountName(name) for name in ("alice", "bob", "bot", ""))
KEY = PublicKey(b"\2" + bytes(32))
TAG = re.compile(r"<[^>]+>")
HOSTILE = '<img src=x onerror="alert(1)">\u202e'


def said(code: str, operation: str, **fields: object) -> str:
    return TAG.sub("", sentence(language(code), operation, fields)).replace("\u202f", " ")


@pytest.mark.parametrize(
    ("operation", "fields", "english", "russian"),
    [
        (
            "transfer",
            {"from": "alice", "to": "bob", "amount": "12345.600 VIZ", "memo": "x"},
            "alice sent 12 345.600 VIZ to bob",
            "alice переводит 12 345.600 VIZ аккаунту bob",
        ),
        (
            "account_validator_vote",
            {"account": "alice", "validator": "bob", "approve": False},
            "alice took back its vote for the validator bob",
            "alice отзывает голос за валидатора bob",
        ),
        (
            "award",
            {"initiator": "alice", "receiver": "bob", "energy": 1250, "custom_sequence": 0, "memo": ""},
            "alice awarded bob with 12.5 % of energy",
            "alice награждает bob, тратя 12.5 % энергии",
        ),
        (
            "pm_place_bet",
            {"account": "alice", "market_id": 7, "side": -1, "outcome_index": 3, "amount": "1.000 VIZ"},
            "alice bet 1.000 VIZ on outcome 3 of market #7",
            "alice ставит 1.000 VIZ на исход 3 рынка #7",
        ),
        (
            "withdraw_vesting",
            {"account": "alice", "vesting_shares": "0.000000 SHARES"},
            "alice stopped withdrawing shares",
            "alice прекращает вывод доли",
        ),
        ("hardfork", {"hardfork_id": 14}, "Hardfork 14 came into force", "Вступил в силу хардфорк 14"),
    ],
)
def test_operations_are_told_as_sentences(
    operation: str, fields: dict[str, object], english: str, russian: str
) -> None:
    assert said("en", operation, **fields) == english
    assert said("ru", operation, **fields) == russian


@pytest.mark.parametrize(
    ("operation", "told"),
    [
        (AccountValidatorVote(A, B, True), "alice voted for the validator bob"),
        (AccountValidatorVote(A, B, False), "alice took back its vote for the validator bob"),
        (WithdrawVesting(A, shares(1)), "alice started to withdraw 0.000001 SHARES"),
        (WithdrawVesting(A, shares(0)), "alice stopped withdrawing shares"),
        (ValidatorUpdate(A, "", KEY), "alice updated its validator"),
        (ValidatorUpdate(A, "", NULL_KEY), "alice retired its validator"),
        (PmDisputeCreate(A, 1, 0, "", ()), "alice disputed market #1: it should be outcome 0"),
        (PmDisputeCreate(A, 1, -1, "", ()), "alice disputed market #1: it cannot be decided"),
        (TransferToVesting(A, B, tokens(1)), "alice turned 0.001 VIZ into shares of bob"),
        (TransferToVesting(A, A, tokens(1)), "alice turned 0.001 VIZ into shares"),
        (TransferToVesting(A, NONE, tokens(1)), "alice turned 0.001 VIZ into shares"),
        (AccountUpdate(A, None, None, None, KEY, ""), "alice updated its profile and memo key"),
        (Content(NONE, "", A, "link", "title", "", 0, "", ()), "alice published “title”"),
        (Content(B, "", A, "link", "", "", 0, "", ()), "alice commented on a post of bob"),
        (SetAgentPermission(A, BOT, KEY, (), 0, (), ()), "alice removed the agent “bot”"),
        (
            SetAgentPermission(A, BOT, KEY, ("vote",), 0, (), ()),
            "alice lets the agent “bot” act for it, without an end",
        ),
    ],
)
def test_the_sentence_is_that_of_the_case(operation: Operation, told: str) -> None:
    name, fields = json.loads(codec_of(Operation).to_json(operation))
    assert said("en", name, **fields) == told


def test_texts_of_strangers_are_escaped_and_cannot_turn_the_line() -> None:
    shown = str(sentence(language("en"), "custom", {
        "required_active_auths": [], "required_regular_auths": ["alice"], "id": HOSTILE, "json": "{}",
    }))  # fmt: skip
    assert "<img" not in shown
    assert "\u202e" not in shown
    assert "&lt;img" in shown
    table = dict(table_of(language("en"), "transfer", {"from": HOSTILE, "memo": HOSTILE, "unknown": {"a": HOSTILE}}))
    assert all("<img" not in each for each in table.values())


def test_an_operation_that_this_program_does_not_know_is_named() -> None:
    assert said("ru", "from_the_future", a=1) == "from_the_future"
    assert dict(table_of(language("en"), "from_the_future", {"a": [1, 2]}))["a"].startswith("<pre")


def test_an_operation_whose_fields_the_node_cannot_print_is_named() -> None:
    assert sentence(language("en"), "set_paid_subscription", {}) == "<code>set_paid_subscription</code>"
    assert table_of(language("en"), "set_paid_subscription", {}) == []


def test_percents_are_counted_as_their_operation_counts_them() -> None:
    (shown,) = [value for _, value in table_of(language("en"), "set_reward_sharing", {"sharing_rate": 1250})]
    assert TAG.sub("", shown) == "12.5\u202f%"
    for operation, field in (
        ("pm_leverage_convert", "conversion_profit_cost"),
        ("pm_leverage_open", "max_slippage_percent"),
    ):
        (shown,) = [value for _, value in table_of(language("en"), operation, {field: 50})]
        assert TAG.sub("", shown) == "50\u202f%", operation


def test_memos_and_reasons_stand_beside_the_sentence() -> None:
    assert note_of("transfer", {"memo": "thanks"}) == "thanks"
    assert note_of("custom", {"json": '{"a":1}'}) == '{"a":1}'
    assert note_of("pm_leverage_liquidate", {"reason": 3}) == ""
