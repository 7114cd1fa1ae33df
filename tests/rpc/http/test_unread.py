"""Bytes that wait to be parsed."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ledgerd.rpc.http.reader import Unread


@given(st.lists(st.binary(max_size=20), max_size=10), st.lists(st.integers(1, 30), max_size=40))
def test_what_is_taken_in_pieces_is_what_has_arrived(parts: list[bytes], pieces: list[int]) -> None:
    unread, whole, taken = Unread(), b"".join(parts), b""
    for part in parts:
        unread.add(part)
    for most in pieces:
        piece = unread.take(most)
        assert len(piece) <= most
        taken += piece
        assert len(unread) == len(whole) - len(taken)
    assert taken + unread.take_all() == whole
    assert not unread


def test_of_nothing_nothing_is_taken() -> None:
    unread = Unread()
    assert (unread.take(10), unread.take_all()) == (b"", b"")
    unread.add(b"abc")
    unread.clear()
    assert (len(unread), unread.take(1)) == (0, b"")
