from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledgerd.node.config.ini import IniEntry, InvalidLine, parse_ini


def values(text: str) -> list[tuple[str, str]]:
    return [(entry.full_key, entry.value) for entry in parse_ini(text)]


@pytest.mark.parametrize(
    ("line", "key", "value"),
    [
        ("p2p-seed-node = a:1 # x", "p2p-seed-node", "a:1"),
        ("rpc-endpoint = a=b=c", "rpc-endpoint", "a=b=c"),
        ('rpc-endpoint="a b"', "rpc-endpoint", '"a b"'),
        ("snapshot-every-n-blocks = -1", "snapshot-every-n-blocks", "-1"),
        ("required-participation = 33%", "required-participation", "33%"),
        ("required-participation =", "required-participation", ""),
    ],
)
def test_the_vectors_of_the_specification(line: str, key: str, value: str) -> None:
    assert values(line) == [(key, value)]


def test_a_comment_begins_anywhere_and_inside_quotes_too() -> None:
    assert values('# all of it\n  # indented\na = "b # c"\nb=c#d') == [("a", '"b'), ("b", "c")]


def test_a_semicolon_begins_no_comment() -> None:
    assert values("a = b ; c") == [("a", "b ; c")]


def test_white_space_round_keys_and_values_is_dropped() -> None:
    assert values("\t a \t=\v b c \f\r\n") == [("a", "b c")]


def test_space_that_is_no_white_space_to_the_reference_stays() -> None:
    assert values("a = b\u00a0") == [("a", "b\u00a0")]


def test_lines_end_with_a_line_feed_alone() -> None:
    assert values("a = b\u2028c\x85d\re") == [("a", "b\u2028c\x85d\re")]


def test_a_section_prefixes_all_that_follows_until_the_next_one() -> None:
    assert values("a = 1\n[x.y]\nb = 2\n[z]\nc = 3") == [("a", "1"), ("x.y.b", "2"), ("z.c", "3")]


def test_a_section_that_ends_with_a_dot_is_the_same_section() -> None:
    assert values("[x.]\na = 1") == [("x.a", "1")]


def test_keys_may_repeat_and_keep_their_order_and_case() -> None:
    assert values("a = 1\nA = 2\na = 3") == [("a", "1"), ("A", "2"), ("a", "3")]


def test_every_entry_knows_its_line() -> None:
    assert parse_ini("\n# x\na = 1\n[s]\n\nb = 2") == [IniEntry(3, "", "a", "1"), IniEntry(6, "s", "b", "2")]


def test_the_mark_of_byte_order_does_not_spoil_the_first_key() -> None:
    assert values("\ufeffa = 1") == [("a", "1")]


@pytest.mark.parametrize("line", ["word", "[open", "open]", "two words", "[]", "[.]"])
def test_any_other_line_is_invalid_and_named(line: str) -> None:
    with pytest.raises(InvalidLine, match="the options configuration file contains an invalid line '") as error:
        parse_ini(f"a = 1\n  {line}  # why\n")

    assert error.value.number == 2
    assert str(error.value).endswith(f"'{line}'")


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        entries = parse_ini(text)
    except InvalidLine:
        return
    assert all("#" not in entry.value and "\n" not in entry.value for entry in entries)
