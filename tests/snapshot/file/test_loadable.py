"""Which texts a reference node would refuse, and which ones it takes."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.snapshot.file.loadable import MOST_LISTED, MOST_OPEN, Loadability


def obstacles(*records: str) -> list[str]:
    loadability = Loadability()
    loadability.frame('{"account_metadata":[')
    for number, record in enumerate(records):
        loadability.record("account_metadata", number, record)
    loadability.frame("]}")
    return [str(each) for each in loadability.obstacles]


@given(st.text())
def test_a_control_character_that_must_be_escaped_is_found(text: str) -> None:
    is_lossy = any(each < " " and each not in "\n\r\t" for each in text)

    assert any("control character" in each for each in obstacles(json.dumps(text, ensure_ascii=False))) == is_lossy


@pytest.mark.parametrize("text", [r'"a\\u0041"', r'"\\b"', r'"\n\t\r\"\\"', '"plain"', r'"\\\\f"'])
def test_other_escapes_are_no_obstacle(text: str) -> None:
    assert obstacles(text) == []


@pytest.mark.parametrize("text", [r'"\\\u0001"', r'"\b"', r'"x\f"', r'"\u001f"'])
def test_an_escape_behind_a_backslash_is_found(text: str) -> None:
    assert len(obstacles(text)) == 1


def test_brackets_are_counted_inside_strings_and_over_all_records() -> None:
    assert obstacles("{" * (MOST_OPEN - 3)) == []
    assert obstacles("{" * (MOST_OPEN - 2)) == [
        "account_metadata 0: with it, 100 brackets { are open, which they refuse"
    ]
    assert [each[:18] for each in obstacles("[" * 50, "[" * 48, "[")] == ["account_metadata 2"]
    assert obstacles("[" * 50 + "]" * 50, "{}" * 1000, "[" * 50 + "]" * 50) == []


def test_brackets_that_close_first_leave_room() -> None:
    assert obstacles("}" * 50 + "{" * 120) == []


def test_only_the_first_are_told_and_all_are_counted() -> None:
    loadability = Loadability()
    for number in range(50):
        loadability.record("content_type", number, r'"\b"')

    assert (len(loadability.obstacles), loadability.count) == (MOST_LISTED, 50)


@given(
    st.lists(
        st.dictionaries(st.sampled_from("ab{}[]\\"), st.text("a{}[]\\\b\n", max_size=60) | st.lists(st.just("{"))),
        max_size=6,
    ),
    st.sampled_from(["{", "[", "{" * 98, "[" * 99, "[" * 100]),
)
def test_records_that_are_checked_at_once_are_as_if_each_was(records: list[dict[str, Any]], before: str) -> None:
    texts = [json.dumps(each, ensure_ascii=False) for each in records]
    together, alone = Loadability(), Loadability()
    together.frame(before)
    alone.frame(before)

    together.records("content", list(enumerate(texts)), ",".join(texts))
    for number, text in enumerate(texts):
        alone.record("content", number, text)
    for each in (together, alone):
        each.record("content", 99, "{" + "[" * 60)

    assert (together.obstacles, together.count) == (alone.obstacles, alone.count)
