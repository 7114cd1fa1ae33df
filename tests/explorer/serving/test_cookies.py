"""The choices in a cookie: read as browsers send them, in as many steps as there are few bytes."""

from __future__ import annotations

import sys
from types import FrameType

import pytest

from ledgerd.explorer.serving.connection import READ_BYTES, choices_in


@pytest.mark.parametrize(
    ("header", "choices"),
    [
        (b"", {}),
        (b"theme=dark; lang=en", {"theme": "dark", "lang": "en"}),
        (b'other="a;b\\"c"; lang="ru";theme=light', {"lang": "ru", "theme": "light"}),
        (b"lang=ru; lang=en", {"lang": "ru"}),
        (b";;=;[]; theme", {"theme": ""}),
        (b"lang=\xff", {"lang": "\xff"}),
    ],
)
def test_two_choices_are_read_and_nothing_else(header: bytes, choices: dict[str, str]) -> None:
    assert choices_in(header) == choices


def test_what_stands_behind_a_kilobyte_is_not_read() -> None:
    assert choices_in(b"a=%b; theme=dark" % (b"b" * READ_BYTES)) == {}


@pytest.mark.parametrize("piece", [b"\\\\", b'\\"', b"\\101", b"; ", b"a=b;", b";lang", b" "])
def test_a_cookie_of_any_form_takes_few_steps(piece: bytes) -> None:
    assert calls_of(b'a="%b"' % (piece * (16_000 // len(piece)))) < 3 * READ_BYTES


def calls_of(header: bytes) -> int:
    """Functions that are called to read a header, those of libraries included."""
    calls = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        choices_in(header)
    finally:
        sys.setprofile(None)
    return calls
