"""Texts of strangers on a terminal: each in its line, nothing in them is obeyed, and none looks like another."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledgerd.basics.printable import is_shown, printable, printable_lines, shown_text


@settings(max_examples=100)
@given(st.text(), st.text())
def test_two_texts_are_never_shown_alike(one: str, other: str) -> None:
    assert all(map(is_shown, shown_text(one)))
    assert (shown_text(one) == shown_text(other)) == (one == other)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("привет, 世界 🙂", "привет, 世界 🙂"),
        ("", '""'),
        (" x", '" x"'),
        ("a\x1b[2Jb", r'"a\x1b[2Jb"'),
        ("two\nlines", r'"two\nlines"'),
        ("\u202eevil", r'"\u202eevil"'),
        ("\u061cevil", r'"\u061cevil"'),
        ('"quoted"', r'"\"quoted\""'),
        ("half of one \ud83d", r'"half of one \ud83d"'),
    ],
)
def test_a_text_cannot_move_the_cursor(text: str, shown: str) -> None:
    assert shown_text(text) == shown


@pytest.mark.parametrize("blank", ["\u2800", "\u3164", "\u115f", "\u1160", "\uffa0", "\u034f", "\ufe0f", "\U000e0120"])
def test_what_prints_nothing_is_written_out(blank: str) -> None:
    assert blank.isprintable(), "so that this alone would not find it"
    escape = f"\\u{ord(blank):04x}" if ord(blank) < 0x10000 else f"\\U{ord(blank):08x}"
    assert shown_text(blank * 3) == f'"{escape * 3}"'
    assert printable(f"a{blank}b") == f"a{escape}b"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a b", "a b"),
        ("a  b", '"a  b"'),
        (f"a{' ' * 8}b", f'"a{" " * 8}b"'),
        (f"a{' ' * 200}b", r'"a\{200 spaces}b"'),
        (r"a  \{200 spaces}b", r'"a  \\{200 spaces}b"'),
        ("\u3000\xa0", r'"\u3000\xa0"'),
    ],
)
def test_a_run_of_spaces_looks_like_no_end_and_no_column(text: str, shown: str) -> None:
    assert shown_text(text) == shown


def test_of_several_lines_each_is_made_safe() -> None:
    told = "one\n\x1b[2Jtwo\r\x07\u202e\x9b привет"
    assert printable_lines(told) == "one\n\\x1b[2Jtwo\\r\\x07\\u202e\\x9b привет"
    assert printable(told) == "one\\n\\x1b[2Jtwo\\r\\x07\\u202e\\x9b привет"
