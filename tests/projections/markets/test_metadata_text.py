"""What is read of the metadata of a market: the worked cases of the specification, and odd texts."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.projections.markets.metadata_text import metadata_of
from ledgerd.projections.tables.market_records import PmMarketMeta


def said(text: str) -> dict[str, Any]:
    """The fields that are not empty."""
    return {name: value for name, value in msgspec.structs.asdict(metadata_of(text)).items() if value}


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        (
            '{"category":"sport","tags":["Dota 2","esports"],"banned_jurisdictions":"US,UK","child":1}',
            {"category": "sport", "tags": "Dota 2,esports", "banned_jurisdictions": "US,UK", "child": True},
        ),
        ('{"tags":["","a","","b"]}', {"tags": "a,,b"}),
        ('{"category":"c","title":{"a":1},"event":"e"}', {"category": "c"}),
        ('{"category":7,"title":null,"child":"yes"}', {"category": "7"}),
        ('{"jurisdictions_banned":["US"],"child":"true"}', {"banned_jurisdictions": "US", "child": True}),
        ('{"jurisdictions_banned":["US"],"banned_jurisdictions":"UK"}', {"banned_jurisdictions": "UK"}),
        ('{"category":true,"tags":{"a":1},"event":"e"}', {"category": "true", "event": "e"}),
        ('{"tags":["a",[1]],"event":"e"}', {}),
        ('{"child":"2"}', {"child": True}),
        ('{"child":"0"}', {}),
        ('{"child":[]}', {}),
        ("[1]", {}),
        ("not json", {}),
        ("", {}),
    ],
)
def test_metadata_is_read_as_by_the_reference(text: str, fields: dict[str, Any]) -> None:
    assert said(text) == fields


@given(st.text(max_size=200))
def test_any_text_is_read(text: str) -> None:
    assert isinstance(metadata_of(text), PmMarketMeta)
