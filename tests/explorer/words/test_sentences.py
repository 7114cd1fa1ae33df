"""Every operation of the protocol has words in every language, and they say what its fields hold."""

from __future__ import annotations

import re

import pytest

from ledgerd.explorer.words.language import CODES, language
from ledgerd.explorer.words.sentences import MADE, VARIANTS, forms_of, note_of, sentence, table_of
from ledgerd.protocol.operations import OPERATIONS
from ledgerd.protocol.operations.base import name_of

NAMES = [name_of(each) for each in OPERATIONS]
VARIANT_NAMES = ("profile", "ends", "comment", "void", "all", "lost", "own", "ever")
PLACEHOLDER = re.compile(r"\{([a-z_]+)\}")
TAG = re.compile(r"<[^>]+>")
HOSTILE = '<img src=x onerror="alert(1)">\u202e'


def said(code: str, operation: str, **fields: object) -> str:
    return TAG.sub("", sentence(language(code), operation, fields)).replace("\u202f", " ")


@pytest.mark.parametrize("code", CODES)
def test_no_operation_lacks_words(code: str) -> None:
    spoken = language(code)
    assert sorted({each.partition(".")[0] for each in spoken.operations}) == sorted(NAMES)
    assert sorted(spoken.titles) == sorted(NAMES)
    assert all(name in spoken.operations for name in NAMES)


@pytest.mark.parametrize("code", CODES)
def test_each_language_has_the_same_variants_and_each_is_chosen_by_something(code: str) -> None:
    variants = {each for each in language(code).operations if "." in each}
    assert variants == {each for each in language(CODES[0]).operations if "." in each}
    assert {each.partition(".")[0] for each in variants} == set(VARIANTS)
    assert {each.partition(".")[2] for each in variants} == set(VARIANT_NAMES)


@pytest.mark.parametrize("code", CODES)
def test_what_stands_in_a_sentence_is_a_field_of_the_declaration(code: str) -> None:
    for key, text in language(code).operations.items():
        name = key.partition(".")[0]
        for place in PLACEHOLDER.findall(text):
            assert place in forms_of(name) or f"{name}.{place}" in MADE, key


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


def test_memos_and_reasons_stand_beside_the_sentence() -> None:
    assert note_of("transfer", {"memo": "thanks"}) == "thanks"
    assert note_of("custom", {"json": '{"a":1}'}) == '{"a":1}'
    assert note_of("pm_leverage_liquidate", {"reason": 3}) == ""
