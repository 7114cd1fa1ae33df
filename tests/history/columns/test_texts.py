"""Texts for PostgreSQL: whatever is in them, they can be stored, and what was changed is told."""

from __future__ import annotations

import json

from hypothesis import example, given
from hypothesis import strategies as st

from ledgerd.codec.json.text import quote
from ledgerd.history.columns.typed_columns import mended, mended_json, name_text

ANY_TEXT = st.binary(max_size=40).map(lambda raw: raw.decode("utf-8", "surrogateescape"))


def holdable(text: str) -> bool:
    try:
        return "\0" not in text and text.encode() is not None
    except UnicodeEncodeError:
        return False


@given(ANY_TEXT)
@example("\0")
@example("a\udcffb")
def test_a_mended_text_can_be_stored_and_others_stay(text: str) -> None:
    found, is_mended = mended(text)
    assert holdable(found)
    assert len(found) == len(text)
    assert is_mended != holdable(text)
    assert holdable(text) == (found == text)


@given(ANY_TEXT)
@example("\\u0000")
@example("\\\0\\\\u0000\0")
def test_a_text_within_json_is_mended_like_a_text(text: str) -> None:
    found, is_mended = mended_json(quote(text))
    assert (json.loads(found), is_mended) == mended(text)


@given(st.lists(ANY_TEXT, max_size=20, unique=True))
@example(["\udcff", "%FF", "\ufffd"])
def test_different_names_stay_different(names: list[str]) -> None:
    keys = list(map(name_text, names))
    assert len(set(keys)) == len(names)
    assert all(map(holdable, keys))


def test_a_name_of_the_chain_is_its_own_key() -> None:
    assert name_text("alice.sub-1") == "alice.sub-1"
