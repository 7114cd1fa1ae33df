"""Choices by word and by number, with the reference's words for what is none."""

from __future__ import annotations

import pytest

from ledgerd.codec import codec_of
from ledgerd.codec.json.errors import JsonError
from ledgerd.rpc.api.database_api.vesting import Routes, RouteType

LIST = "graphene::plugins::database_api::withdraw_route_type"


@pytest.mark.parametrize("value", ["all", "2", 2, 2.0])
def test_a_choice_is_its_word_or_its_number(value: object) -> None:
    assert codec_of(Routes).from_json(value) is RouteType.ALL


def test_null_is_the_first_choice_and_true_the_second() -> None:
    assert codec_of(Routes).from_json(None) is RouteType.INCOMING
    assert codec_of(Routes).from_json(value=True) is RouteType.OUTGOING


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("nonsense", f"invalid name 'nonsense' in enum '{LIST}'"),
        ("ALL", f"invalid name 'ALL' in enum '{LIST}'"),
        ("3", f"invalid index '3' in enum '{LIST}'"),
        (-1, f"invalid index '-1' in enum '{LIST}'"),
    ],
)
def test_what_is_none_of_the_choices_is_refused_in_the_reference_s_words(value: object, text: str) -> None:
    with pytest.raises(JsonError) as refusal:
        codec_of(Routes).from_json(value)
    assert (refusal.value.code, refusal.value.text) == (7, text)


def test_a_choice_is_printed_as_its_word() -> None:
    assert codec_of(Routes).to_json(RouteType.OUTGOING) == '"outgoing"'
